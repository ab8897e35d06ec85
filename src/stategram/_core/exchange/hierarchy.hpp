// A binary hierarchy over classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/arrays.hpp"
#include "base/threads.hpp"
#include "exchange/coarse_bounds.hpp"

namespace stategram {

class HierarchyBuilder : public Exclusive {
 public:
    HierarchyBuilder(Matrix<std::int64_t> counts, std::size_t mergeable);

    // Does up to `most` mergers; returns the number still to be done.
    std::size_t run(std::size_t most);

    std::vector<std::int64_t>
        merges;  // pairs of cluster names; leaves first, then the mergers in their order
    std::vector<double> losses;

 private:
    struct Pair {
        std::size_t a, b;
        double loss;
    };

    double loss(std::size_t a, std::size_t b) const;
    void start_bounds();
    void read_row(std::size_t a);
    std::optional<Pair> empty_pair();
    Pair best_pair();
    void merge(const Pair& pair);
    std::vector<double> add_drift(std::size_t a, std::size_t b);
    void join_bounds(const Pair& pair, const std::vector<double>& grown);
    void join_counts(std::size_t a, std::size_t b);
    void compact();

    // Slots 0 .. slots_ hold the clusters in rising order of their smallest leaf; those that are never merged
    // follow, up to size_. A merger lives on in the slot of its smaller side, the other slot is empty until
    // the next compact().
    std::size_t slots_, size_, alive_;
    Table rows_, columns_;                  // N and its transpose
    std::vector<double> row_f_, column_f_;  // sum_b f(N(a,b)), sum_b f(N(b,a))
    std::vector<double> left_, right_;      // N(a,.), N(.,a)
    std::optional<CoarseBounds> coarse_;
    std::vector<std::int64_t> name_;  // of the cluster in a slot; -1: empty

    Table bound_;                // [a][b], a < b: a bound of L(a,b) plus both drifts at the time it was found
    std::vector<double> drift_;  // by slot
    double most_drift_ = 0.0;    // no drift has grown by more than this has, since any time
    // min_b (bound_[a][b] - drift_[b]) + most_drift_ at the time the row was read; the b where it was; the
    // step.
    std::vector<double> row_best_;
    std::vector<std::size_t> row_where_, row_read_;
    double tie_ = 0.0;  // losses no further apart than this are the same
    std::size_t leaves_;
};

}  // namespace stategram
