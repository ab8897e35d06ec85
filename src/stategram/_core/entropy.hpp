// f(n) = n log n, from a table for the counts that occur most: the table is 7 to 9 times faster than log().
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stategram {

class Entropy {
 public:
    static constexpr std::int64_t table_size = 1 << 18;
    // Counts n for which CountTable keeps rows of f(N + n) - f(N).
    static constexpr int small = 4;

    static const Entropy& get() {
        static const Entropy instance;
        return instance;
    }

    double operator()(std::int64_t n) const {
        return n < table_size ? table_[static_cast<std::size_t>(n)] : slow(n);
    }

    // f(count + n) - f(count).
    double gain(std::int64_t count, std::int64_t n) const { return (*this)(count + n) - (*this)(count); }

    // f(0), f(1), ..., f(table_size - 1).
    const double* table() const { return table_.data(); }

    // The four values gain(count, 1), ..., gain(count, 4), written at the distance `stride`.
    void small_gains(std::int64_t count, float* out, std::size_t stride) const {
        if (count < small_size) {
            const float* row = &small_[static_cast<std::size_t>(count) * small];
            for (std::size_t n = 0; n < small; ++n) out[n * stride] = row[n];
        } else {
            for (std::size_t n = 0; n < small; ++n)
                out[n * stride] = static_cast<float>(gain(count, static_cast<std::int64_t>(n) + 1));
        }
    }

 private:
    static constexpr std::int64_t small_size = 1 << 16;

    Entropy() : table_(table_size), small_(small_size * small) {
        for (std::int64_t n = 0; n < table_size; ++n) table_[static_cast<std::size_t>(n)] = slow(n);
        for (std::int64_t count = 0; count < small_size; ++count)
            for (int n = 0; n < small; ++n)
                small_[static_cast<std::size_t>(count * small + n)] = static_cast<float>(gain(count, n + 1));
    }

    static double slow(std::int64_t n) {
        return n > 0 ? static_cast<double>(n) * std::log(static_cast<double>(n)) : 0.0;
    }

    std::vector<double> table_;
    std::vector<float> small_;
};

}  // namespace stategram
