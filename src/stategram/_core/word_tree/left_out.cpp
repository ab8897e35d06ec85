#include "word_tree/left_out.hpp"

#include <algorithm>
#include <tuple>

namespace stategram {

LeftOut::LeftOut(const TreeEvidence& evidence, const std::uint32_t* words,
                 const std::uint32_t* const* streams, std::size_t begin, std::size_t end)
    : begin_(begin),
      size_(end - begin),
      hashes_(evidence.n_slots(), std::vector<std::uint64_t>(end - begin)),
      groups_(evidence.n_slots(), std::vector<std::uint32_t>(end - begin)),
      list_begins_(evidence.n_slots()),
      followers_(evidence.n_slots()) {
    EventContexts contexts(evidence.n_slots());
    std::vector<std::vector<FoundList>> lists(evidence.n_slots(), std::vector<FoundList>(size_));
    for (std::size_t i = 0; i < size_; ++i) {
        evidence.hash(streams, begin + i, evidence.chains().size(), contexts);
        evidence.find(contexts);
        for (std::size_t slot = 0; slot < hashes_.size(); ++slot) {
            hashes_[slot][i] = contexts.hashes[slot];
            lists[slot][i] = contexts.lists[slot];
        }
    }
    for (const ChainView& chain : evidence.chains()) {
        std::vector<std::uint8_t> is_gone(size_);
        for (std::size_t j = chain.depth(); j-- > 0;) {
            const bool has_longer = j + 1 < chain.depth() && chain.uses_continuation;
            const std::size_t slot = chain.first_slot + j;
            count_level(evidence, slot, lists[slot], words,
                        has_longer ? streams[chain.streams[j + 1]] : nullptr, is_gone);
        }
    }
}

// `lists`: the context of each event. `next`: null if longer contexts are not counted. `is_gone`: for each
// event, whether its word no longer follows its context on the level below; on return, the same for this
// level.
void LeftOut::count_level(const TreeEvidence& evidence, std::size_t slot, const std::vector<FoundList>& lists,
                          const std::uint32_t* words, const std::uint32_t* next,
                          std::vector<std::uint8_t>& is_gone) {
    const bool has_longer = next != nullptr;
    const std::vector<std::uint64_t>& hashes = hashes_[slot];
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < size_; ++i)
        if (hashes[i] != 0) order.push_back(i);
    const auto key = [&](std::uint32_t i) {
        return std::tuple(hashes[i], words[begin_ + i], has_longer ? next[begin_ + i] : 0U, i);
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<LeftFollower>& followers = followers_[slot];
    std::vector<std::uint32_t>& list_begins = list_begins_[slot];
    std::vector<std::uint8_t> gone_here(size_);
    std::fill(groups_[slot].begin(), groups_[slot].end(), no_value);
    for (std::size_t at = 0; at < order.size();) {
        const std::uint64_t hash = hashes[order[at]];
        const FoundList& list = lists[order[at]];
        const auto group = static_cast<std::uint32_t>(list_begins.size());
        list_begins.push_back(static_cast<std::uint32_t>(followers.size()));
        // Another context may be found in place of one that was too rare to be kept.
        bool is_ours = static_cast<bool>(list);
        while (at < order.size() && hashes[order[at]] == hash) {
            LeftFollower one{words[begin_ + order[at]], 0, 0, 0};
            const std::size_t first = at;
            for (; at < order.size() && hashes[order[at]] == hash && words[begin_ + order[at]] == one.word;
                 ++at) {
                const std::uint32_t i = order[at];
                groups_[slot][i] = group;
                ++one.count;
                if (!has_longer || next[begin_ + i] == no_value)
                    ++one.contexts;
                else if (at == first || next[begin_ + i] != next[begin_ + order[at - 1]])
                    one.contexts += is_gone[i];
            }
            // A context too rare to be kept has no other events.
            const std::uint32_t found = list ? evidence.count(slot, list, one.word) : one.count;
            is_ours = is_ours && found >= one.count;
            one.types = found <= one.count;
            for (std::size_t k = first; k < at; ++k)
                gone_here[order[k]] = static_cast<std::uint8_t>(one.types);
            followers.push_back(one);
        }
        if (!is_ours) followers.resize(list_begins.back());
    }
    list_begins.push_back(static_cast<std::uint32_t>(followers.size()));
    is_gone = std::move(gone_here);
}

void LeftOut::lists(std::size_t event, std::vector<LeftList>& lists) const {
    for (std::size_t slot = 0; slot < groups_.size(); ++slot) {
        const std::uint32_t group = groups_[slot][event - begin_];
        lists[slot] = {};
        if (group == no_value) continue;
        const LeftFollower* followers = followers_[slot].data();
        lists[slot] = {followers + list_begins_[slot][group], followers + list_begins_[slot][group + 1]};
    }
}

}  // namespace stategram
