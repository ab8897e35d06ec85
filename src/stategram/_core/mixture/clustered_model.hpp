// The clustered model of models/clustered.py: the state of a context on each level of its tree, and
//
//     p_l(g | c) = t p(g | S_l(c)) + (1 - t) p_{l-1}(g | c),    p(w | c) = p_L(G(w) | c) p(w | G(w)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/arrays.hpp"
#include "counts/state_tree.hpp"
#include "mixture/state_table.hpp"

namespace stategram {

// The probabilities of categories after states on each level.
using StateTables = std::vector<std::shared_ptr<const StateTable>>;

class ClusteredModel {
 public:
    // std::invalid_argument unless no word and no context leads outside of the arrays.
    ClusteredModel(std::shared_ptr<const StateTree> tree, StateTables tables, Matrix<double> weights,
                   In<double> frequencies, In<std::uint32_t> categories, In<double> word_probs);

    std::size_t n_words() const { return categories_.size(); }
    std::size_t n_states() const { return tables_[0]->n_states(); }
    std::size_t depth() const { return tables_.size(); }
    std::size_t width() const { return tree_->width(); }  // how many words back contexts reach
    std::size_t n_buckets() const { return weights_.columns; }

    // The states of a context on all levels; word(d) is the id d words back.
    template <typename Word>
    void find(const Word& word, ContextState* levels) const {
        tree_->find(word, levels);
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
    std::shared_ptr<const StateTree> tree_;
    StateTables tables_;
    Matrix<double> weights_;  // a row for each level, with a number for each count bucket
    In<double> frequencies_;
    In<std::uint32_t> categories_;
    In<double> word_probs_;
};

}  // namespace stategram
