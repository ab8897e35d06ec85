// The weights of a mixture's parts by the features of a history, as models/gate.py defines them: a history
// falls into one bucket of each table, and its weights are the product of the rows of its buckets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/simd.hpp"

namespace stategram {

class GateTable {
 public:
    // `names`: the features that choose a bucket, up to two, of a part. `begins`: the first bucket of each
    // value of the first feature, and the number of all. `edges`: between the buckets of a value, one value
    // after the other. `rows`: of each bucket the weights of all parts, `width` numbers of which those after
    // the last part are 0.
    std::vector<std::string> names;
    std::size_t part;
    std::vector<std::int64_t> begins;
    std::vector<double> edges;
    std::vector<double> rows;

    std::uint32_t bucket(float first, float second) const {
        const std::size_t last = begins.size() - 2;
        // Also for what is not a number.
        const std::size_t value = !(first > 0)                        ? 0
                                  : first >= static_cast<float>(last) ? last
                                                                      : static_cast<std::size_t>(first);
        const auto begin = static_cast<std::size_t>(begins[value]);
        const auto end = static_cast<std::size_t>(begins[value + 1]);
        if (end == begin + 1) return static_cast<std::uint32_t>(begin);
        // Each value has one bucket more than edges.
        const double *low = edges.data() + (begin - value), *high = edges.data() + (end - value - 1);
        return static_cast<std::uint32_t>(
            begin + static_cast<std::size_t>(std::upper_bound(low, high, double{second}) - low));
    }
};

class GateTables {
 public:
    explicit GateTables(std::size_t n_parts)
        : n_parts_(n_parts), width_(n_parts <= 4 ? 4 : (n_parts + 7) / 8 * 8) {
        require(n_parts > 0 && n_parts <= UINT16_MAX, "a gate has the weights of one part or more");
    }

    void add(std::vector<std::string> names, std::size_t part, const In<std::int64_t>& begins,
             const In<double>& edges, const Matrix<double>& rows);

    std::size_t n_parts() const { return n_parts_; }
    std::size_t width() const { return width_; }  // parts, and zeros up to a width that fits registers
    const std::vector<GateTable>& tables() const { return tables_; }

    // The weights of one history, `width` numbers, from its bucket in each table. With a `fixed` width they
    // stay in registers.
    template <std::size_t fixed = 0>
    STATEGRAM_INLINE void weigh(const std::uint32_t* buckets, double* STATEGRAM_RESTRICT weights) const {
        const std::size_t width = fixed ? fixed : width_;
        const double* first = tables_[0].rows.data() + buckets[0] * width;
        for (std::size_t i = 0; i < width; ++i) weights[i] = first[i];
        if (tables_.size() == 1) return;
        for (std::size_t t = 1; t < tables_.size(); ++t) {
            const double* STATEGRAM_RESTRICT row = tables_[t].rows.data() + buckets[t] * width;
            for (std::size_t i = 0; i < width; ++i) weights[i] *= row[i];
        }
        double all = 0;
        for (std::size_t i = 0; i < width; ++i) all += weights[i];
        const double of_all = 1 / all;
        for (std::size_t i = 0; i < width; ++i) weights[i] *= of_all;
    }

 private:
    std::size_t n_parts_, width_;
    std::vector<GateTable> tables_;
};

}  // namespace stategram
