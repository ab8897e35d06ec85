// The inner loops of scoring: whole rows of floats, one entry for each target cluster.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exchange/count_term.hpp"

namespace stategram {

// out += a + b + c + d
void add_four_rows(float* out, const float* a, const float* b, const float* c, const float* d,
                   std::size_t size);

// out += factor * row
void add_row(float* out, const float* row, float factor, std::size_t size);

// out += factor * (f(counts + n) - f(counts)). `largest_count` bounds the counts.
void add_gains(const CountTerm& f, float* out, const std::int32_t* counts, std::int64_t largest_count,
               std::int64_t n, float factor, std::size_t size);
void add_gains(const CountTerm& f, float* out, const std::int64_t* counts, std::int64_t largest_count,
               std::int64_t n, float factor, std::size_t size);

// The first place of the largest value.
std::size_t largest(const float* values, std::size_t size);

}  // namespace stategram
