// What scoring will read is fetched while earlier events are scored: a look-up that waits for memory takes
// longer than all arithmetic of an event.
#include <numeric>
#include <vector>

#include "base/prefetch.hpp"
#include "word_tree/evidence.hpp"

namespace stategram {

void TreeEvidence::prefetch_directories(const EventContexts& contexts) const {
    for (std::size_t slot = 0; slot < levels_.size(); ++slot)
        if (contexts.hashes[slot] != 0) levels_[slot].view.prefetch_directory(contexts.hashes[slot]);
}

void TreeEvidence::prefetch_buckets(const EventContexts& contexts) const {
    for (std::size_t slot = 0; slot < levels_.size(); ++slot)
        if (contexts.hashes[slot] != 0) levels_[slot].view.prefetch_bucket(contexts.hashes[slot]);
}

void TreeEvidence::prefetch_long_begins(const EventContexts& contexts) const {
    for (std::size_t slot = 0; slot < levels_.size(); ++slot) {
        const FoundList& list = contexts.lists[slot];
        if (!list || !list.is_long()) continue;
        for (const LongLists& lists : levels_[slot].view.long_lists) prefetch(&lists.begins[list.long_list]);
    }
}

void TreeEvidence::walk(std::uint32_t word, EventContexts& contexts) const {
    contexts.walks.clear();
    contexts.first_walks.resize(levels_.size());
    for (std::size_t slot = 0; slot < levels_.size(); ++slot) {
        const FoundList& list = contexts.lists[slot];
        if (!list || !list.is_long()) continue;
        const LevelView& view = levels_[slot].view;
        contexts.first_walks[slot] = contexts.walks.size();
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            contexts.walks.emplace_back(LongWalk(view.long_lists[t], list.long_list, view.has_longer),
                                        trees_[t], word);
            contexts.walks.back().fetch();
        }
    }
    std::vector<std::uint32_t>& open = contexts.open_walks;
    open.resize(contexts.walks.size());
    std::iota(open.begin(), open.end(), 0U);
    while (!open.empty())
        for (std::size_t i = 0; i < open.size();) {
            if (contexts.walks[open[i]].advance()) {
                contexts.walks[open[i++]].fetch();
            } else {
                open[i] = open.back();
                open.pop_back();
            }
        }
}

}  // namespace stategram
