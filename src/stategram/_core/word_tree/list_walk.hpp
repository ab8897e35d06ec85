// The walk down a long list on the way to a word, one record at a time: several of them wait for memory
// together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/prefetch.hpp"
#include "word_tree/long_lists.hpp"
#include "word_tree/tree.hpp"

namespace stategram {

// Sums along the way to a word, by the depth at which the ways of followers part from it; those of the word
// itself are at the end. Four numbers are one vector.
struct PathSums {
    struct alignas(16) Sum {
        std::uint32_t counts, contexts, types, unused;
        void add(std::uint32_t of_counts, std::uint32_t of_contexts, std::uint32_t of_types) {
            counts += of_counts;
            contexts += of_contexts;
            types += of_types;
        }
    };
    Sum at[max_depth + 1] = {};
};

class ListWalk {
 public:
    ListWalk(const LongWalk& list, const WordTree& tree, std::uint32_t word)
        : list_(list), tree_(&tree), word_(word) {}

    const WordTree& tree() const { return *tree_; }
    std::uint32_t word() const { return word_; }
    std::uint32_t low() const { return list_.low(); }
    void fetch() const { prefetch(list_.place()); }

    // Reads the next record; returns false at the end: at a short list, or where no follower is on the way.
    bool advance() {
        if (!has_begun_) {
            has_begun_ = true;
            list_.begin();
            return true;
        }
        const LongRecord &here = list_.read(), &all = list_.sums();
        is_at_leaf_ = here.node == no_value;
        if (is_at_leaf_) return false;
        const std::uint32_t *path = tree_->path(word_), code = tree_->code(word_);
        // Nodes of the tree where the words of the list do not part.
        for (; depth_ < tree_->length(word_) && here.node != path[depth_]; ++depth_)
            if (WordTree::bit(code, depth_) != (here.node > path[depth_])) {
                add(all.counts, all.contexts, all.types);
                return false;
            }
        if (depth_ == tree_->length(word_))
            throw std::invalid_argument("a node of a long list is not in the tree");
        if (WordTree::bit(code, depth_)) {
            add(here.counts, here.contexts, here.types);
            list_.go_right();
        } else {
            add(all.counts - here.counts, all.contexts - here.contexts, all.types - here.types);
            list_.go_left();
        }
        ++depth_;
        return true;
    }

    void add_to(PathSums& sums) const {
        for (int i = 0; i < n_; ++i)
            sums.at[added_[i].depth].add(added_[i].counts, added_[i].contexts, added_[i].types);
    }

    // Returns the number of followers in the short list at the end.
    std::size_t read_leaf(Follower* followers) const {
        return is_at_leaf_ ? list_.read_leaf(tree_->n_leaves(), followers) : 0;
    }

 private:
    void add(std::uint32_t counts, std::uint32_t contexts, std::uint32_t types) {
        added_[n_++] = {depth_, counts, contexts, types};
    }

    struct Added {
        int depth;
        std::uint32_t counts, contexts, types;
    };

    LongWalk list_;
    const WordTree* tree_;
    std::uint32_t word_;
    bool has_begun_ = false, is_at_leaf_ = false;
    int depth_ = 0, n_ = 0;
    Added added_[max_depth];  // not set from `n_` on
};

}  // namespace stategram
