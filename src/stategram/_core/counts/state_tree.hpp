// The states of contexts word by word, by the tree of a clustering (models/state_tree.py): nodes that could
// move have a state on each level; other contexts inherit that of the level above.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/arrays.hpp"

namespace stategram {

// What a context is on one level: its state, and the bucket of its count, 0 if it is not known there.
struct ContextState {
    std::uint32_t state, bucket;
};

class StateTree {
 public:
    using Levels = std::vector<In<std::uint32_t>>;
    static constexpr std::size_t most_levels = 255;

    // Of each level: `maps`, the value of each word; `distances`, how many words back a value is; the values
    // of its nodes, their states and buckets; `inherited`, which maps the state above, 0 at the root, to that
    // of contexts without a node; and of all but the last level `first_child`. std::invalid_argument unless
    // no word and no context leads outside of the arrays.
    StateTree(Levels maps, std::vector<std::int64_t> distances, Levels values, Levels first_child,
              Levels states, std::vector<In<std::uint8_t>> buckets, Levels inherited);

    std::size_t n_words() const { return first_nodes_.size(); }
    std::size_t depth() const { return distances_.size(); }
    std::size_t width() const { return width_; }  // how many words back contexts reach
    std::size_t n_states() const { return n_states_; }
    std::size_t n_inherited(std::size_t level) const { return inherited_[level].size(); }
    std::size_t n_buckets() const { return n_buckets_; }

    // The states of a context on all levels; word(d) is the id d words back.
    template <typename Word>
    void find(const Word& word, ContextState* levels) const {
        ContextState here{0, 0};
        std::uint32_t node = first_nodes_[word(distances_[0])];
        for (std::size_t level = 0; level < depth(); ++level) {
            if (level > 0 && node != none) node = child(level, node, word(distances_[level]));
            if (node != none)
                here = {states_[level][node], buckets_[level][node]};
            else
                here = {inherited_[level][here.state], 0};
            levels[level] = here;
        }
    }

 private:
    static constexpr std::uint32_t none = UINT32_MAX;

    std::uint32_t child(std::size_t level, std::uint32_t node, std::uint32_t word) const {
        const std::uint32_t* values = values_[level].data();
        const std::uint32_t* range = first_child_[level - 1].data() + node;
        const std::uint32_t value = maps_[level][word];
        const std::uint32_t* end = values + range[1];
        const std::uint32_t* found = std::lower_bound(values + range[0], end, value);
        return found != end && *found == value ? static_cast<std::uint32_t>(found - values) : none;
    }

    Levels maps_, values_, first_child_, states_, inherited_;
    std::vector<In<std::uint8_t>> buckets_;
    std::vector<std::size_t> distances_;
    std::size_t width_ = 0, n_states_ = 1, n_buckets_ = 1;
    std::vector<std::uint32_t> first_nodes_;  // of the first level, by word
};

}  // namespace stategram
