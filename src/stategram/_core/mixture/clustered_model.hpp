// The clustered model of models/clustered.py: the state of a context on each level of its tree, and
//
//     p_l(g | c) = t p(g | S_l(c)) + (1 - t) p_{l-1}(g | c),    p(w | c) = p_L(G(w) | c) p(w | G(w)).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/arrays.hpp"
#include "mixture/state_table.hpp"

namespace stategram {

// What a context is on one level: its state, and the bucket of its count, 0 if it is not known there.
struct ContextState {
    std::uint32_t state, bucket;
};

// The probabilities of categories after states on each level.
using StateTables = std::vector<std::shared_ptr<const StateTable>>;

// The arrays of a StateTree, those of its levels in lists.
struct StateTreeArrays {
    std::vector<In<std::uint32_t>> maps;  // the value of each word
    std::vector<std::int64_t> distances;  // how many words back a value is
    std::vector<In<std::uint32_t>> values, first_child, states;
    std::vector<In<std::uint8_t>> buckets;
    std::vector<In<std::uint32_t>> inherited;  // state above -> state of unseen contexts
};

class ClusteredModel {
 public:
    // std::invalid_argument unless no word and no context leads outside of the arrays.
    ClusteredModel(StateTreeArrays tree, StateTables tables, Matrix<double> weights, In<double> frequencies,
                   In<std::uint32_t> categories, In<double> word_probs);

    std::size_t n_words() const { return categories_.size(); }
    std::size_t n_states() const { return tables_[0]->n_states(); }
    std::size_t depth() const { return tables_.size(); }
    std::size_t width() const { return width_; }  // how many words back contexts reach
    std::size_t n_buckets() const { return weights_.columns; }

    // The states of a context on all levels; word(d) is the id d words back.
    template <typename Word>
    void find(const Word& word, ContextState* levels) const {
        ContextState here{0, 0};
        std::uint32_t node = first_nodes_[word(distances_[0])];
        for (std::size_t level = 0; level < depth(); ++level) {
            if (level > 0 && node != none) node = child(level, node, word(distances_[level]));
            if (node != none)
                here = {tree_.states[level][node], tree_.buckets[level][node]};
            else
                here = {tree_.inherited[level][here.state], 0};
            levels[level] = here;
        }
    }

    double probability(const ContextState* levels, std::uint32_t id) const {
        const std::uint32_t category = categories_[id];
        double prob = frequencies_[category];
        for (std::size_t level = 0; level < depth(); ++level) {
            const double weight = weights_[level * n_buckets() + levels[level].bucket];
            prob += weight * ((*tables_[level])(levels[level].state, category) - prob);
        }
        return prob * word_probs_[id];
    }

    // All that the probability of a word reads far away.
    void prefetch(const ContextState* levels, std::uint32_t id) const;

 private:
    static constexpr std::uint32_t none = UINT32_MAX;

    std::uint32_t child(std::size_t level, std::uint32_t node, std::uint32_t word) const {
        const std::uint32_t* values = tree_.values[level].data();
        const std::uint32_t* range = tree_.first_child[level - 1].data() + node;
        const std::uint32_t value = tree_.maps[level][word];
        const std::uint32_t* end = values + range[1];
        const std::uint32_t* found = std::lower_bound(values + range[0], end, value);
        return found != end && *found == value ? static_cast<std::uint32_t>(found - values) : none;
    }

    StateTreeArrays tree_;
    StateTables tables_;
    Matrix<double> weights_;  // a row for each level, with a number for each count bucket
    In<double> frequencies_;
    In<std::uint32_t> categories_;
    In<double> word_probs_;
    std::vector<std::size_t> distances_;
    std::size_t width_ = 0;
    std::vector<std::uint32_t> first_nodes_;  // of the first level, by word
};

}  // namespace stategram
