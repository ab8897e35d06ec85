// The probabilities of categories after states, p(g | s), on one level of a clustered model.
//
// Most cells of a large table were never seen: they have only the share of what is distributed over all
// categories. A row with few cells has these alone, in a list; others are stored in full. So a table takes
// memory in proportion to its cells, whatever its number of states and categories.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/arrays.hpp"
#include "base/prefetch.hpp"

namespace stategram {

class StateTable {
 public:
    // p(g | s) is the probability of the cell, if there is one, and taken[s] * fractions[g]. The cells of
    // state s are [offsets[s], offsets[s + 1]), their `columns` rise. std::invalid_argument if it is not so.
    StateTable(In<std::int64_t> offsets, In<std::uint32_t> columns, In<double> probs, In<double> taken,
               In<double> fractions);
    StateTable(const StateTable&) = delete;
    StateTable& operator=(const StateTable&) = delete;

    std::size_t n_states() const { return taken_.size(); }
    std::size_t n_categories() const { return fractions_.size(); }

    double operator()(std::uint32_t state, std::uint32_t category) const {
        if (rows_[state] != nullptr) return rows_[state][category];
        const double share = taken_[state] * fractions_[category];
        const std::uint32_t* end = columns_.data() + offsets_[state + 1];
        const std::uint32_t* found = std::lower_bound(columns_.data() + offsets_[state], end, category);
        return found != end && *found == category ? share + probs_[found - columns_.data()] : share;
    }

    // What is read first of a cell.
    STATEGRAM_INLINE void prefetch(std::uint32_t state, std::uint32_t category) const {
        if (rows_[state] != nullptr) stategram::prefetch(rows_[state] + category);
    }

 private:
    // A row is stored in full if at least one of so many cells is there.
    static constexpr std::size_t cells_per_entry = 8;

    In<std::int64_t> offsets_;
    In<std::uint32_t> columns_;
    In<double> probs_, taken_, fractions_;
    std::vector<double> full_;
    std::vector<const double*> rows_;  // those in full
};

}  // namespace stategram
