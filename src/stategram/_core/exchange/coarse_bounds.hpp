// Bounds from below on the loss of merging two classes, from tables with a few groups of classes.
//
// The mutual information of a coarser table is smaller, and so is its fall when two rows join. The loss of a
// merger is the fall when the rows a and b join, and then the fall when the columns join in a table whose
// rows a and b are one. Both are bounded with groups of columns and groups of rows, in the second case with
// the groups of a and of b as one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/simd.hpp"
#include "exchange/x_log_x.hpp"

namespace stategram {

// f(x) + f(y) - f(x + y), f(x) = x log x: what a sum over f loses when two of its cells become one.
inline double joined(double x, double y) { return x_log_x(x) + x_log_x(y) - x_log_x(x + y); }

// A table of doubles in one piece.
class Table {
 public:
    Table(std::size_t rows, std::size_t columns) : columns_(columns), cells_(rows * columns, 0.0) {}
    double* operator[](std::size_t row) { return cells_.data() + row * columns_; }
    const double* operator[](std::size_t row) const { return cells_.data() + row * columns_; }

    // Keeps some rows, and the columns of the same numbers, in their order.
    void keep(const std::vector<std::size_t>& kept) {
        for (std::size_t r = 0; r < kept.size(); ++r)
            for (std::size_t c = 0; c < kept.size(); ++c)
                cells_[r * kept.size() + c] = cells_[kept[r] * columns_ + kept[c]];
        columns_ = kept.size();
    }

 private:
    std::size_t columns_;
    std::vector<double> cells_;
};

class CoarseBounds {
 public:
    static constexpr std::size_t groups = 128;

    // `rows` are the counts between `size` classes and `columns` their transpose; `left` and `right` their
    // margins. Only the first `slots` classes are asked for.
    CoarseBounds(const Table& rows, const Table& columns, const std::vector<double>& left,
                 const std::vector<double>& right, std::size_t slots, std::size_t size);

    // A bound of the loss of merging a and b.
    double bound(std::size_t a, std::size_t b) const;

    // Class b becomes a part of class a; to be called before the counts are joined.
    void join(const Table& rows, const Table& columns, std::size_t a, std::size_t b);

 private:
    void sum_cells(std::size_t a);

    std::size_t slots_;
    std::vector<std::size_t> group_;
    Table rows_, columns_;  // one class, its counts with each group
    std::vector<double> left_, right_;
    std::vector<double> fixed_;  // all f of a class's own cells and margins
};

}  // namespace stategram
