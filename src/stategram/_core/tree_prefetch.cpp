// What scoring will read is fetched while earlier events are scored: a look-up that waits for memory takes
// longer than all arithmetic of an event.
#include <algorithm>

#include "prefetch.hpp"
#include "tree_evidence.hpp"

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

void TreeEvidence::prefetch_walks(std::uint32_t word, const EventContexts& contexts) const {
    struct Walk {
        const LongLists* lists;
        std::size_t at, end, tree;
        int depth;
    };
    constexpr std::size_t max_walks = 256;
    Walk walks[max_walks];
    std::size_t n = 0;
    for (std::size_t slot = 0; slot < levels_.size() && n + trees_.size() <= max_walks; ++slot) {
        const FoundList& list = contexts.lists[slot];
        if (!list || !list.is_long()) continue;
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            const LongLists& lists = levels_[slot].view.long_lists[t];
            walks[n++] = {&lists, static_cast<std::size_t>(lists.begins[list.long_list]) + 1,
                          static_cast<std::size_t>(lists.begins[list.long_list + 1]), t, 0};
            prefetch(&lists.records[walks[n - 1].at - 1]);
            prefetch(&lists.records[walks[n - 1].at]);
        }
    }
    while (n > 0) {
        for (std::size_t i = 0; i < n;) {
            Walk& walk = walks[i];
            const WordTree& tree = trees_[walk.tree];
            bool goes_on = walk.at < walk.end && walk.depth < tree.length(word);
            if (goes_on) {
                const LongRecord& record = walk.lists->records[walk.at];
                const std::uint32_t* path = tree.path(word);
                // Nodes of the tree where the words of the list do not part.
                while (goes_on && record.node != no_value && record.node != path[walk.depth]) {
                    const bool right = WordTree::bit(tree.code(word), walk.depth);
                    goes_on = right == (record.node > path[walk.depth]) && ++walk.depth < tree.length(word);
                }
                if (goes_on && record.node == no_value) {
                    prefetch(walk.lists->bytes + record.types);
                    goes_on = false;
                } else if (goes_on) {
                    walk.at += WordTree::bit(tree.code(word), walk.depth) ? std::max(record.skip, 1U) : 1;
                    ++walk.depth;
                    if (walk.at < walk.end) prefetch(&walk.lists->records[walk.at]);
                }
            }
            if (goes_on)
                ++i;
            else
                walks[i] = walks[--n];
        }
    }
}

}  // namespace stategram
