#include "exchange/rows.hpp"

#include <bit>

#include "base/simd.hpp"
#include "exchange/count_term.hpp"

namespace stategram {
namespace {

// atanh(s) / s for |s| <= 0.1716, to the last bits of a float.
inline float atanh_over(float s) {
    float q = s * s;
    return 1.0f + q * (1.0f / 3 + q * (1.0f / 5 + q * (1.0f / 7)));
}

// x = 2^exponent * mantissa with the mantissa in [sqrt(1/2), sqrt(2)).
inline float split(float x, float& exponent) {
    std::int32_t bits = std::bit_cast<std::int32_t>(x);
    std::int32_t e = (bits - 0x3f3504f3) >> 23;
    exponent = static_cast<float>(e);
    return std::bit_cast<float>(bits - e * (1 << 23));
}

// With u = N + n:  f(u) - f(N) = n log u + N log(u / N), which loses no digits when N is much larger than
// n. Both logarithms are exponent * log 2 + 2 atanh(s); near u / N = 1 its s is n / (2 N + n) exactly.
template <typename Count>
inline void computed_gains(float* STATEGRAM_RESTRICT out, const Count* counts, float n, float factor,
                           std::size_t size) {
    constexpr float log2 = 0.693147180559945f;
    for (std::size_t i = 0; i < size; ++i) {
        float count = static_cast<float>(counts[i]);
        float u = count + n;
        float exponent_u, exponent_ratio;
        float mantissa_u = split(u, exponent_u);
        float ratio = u / (count > 1.0f ? count : 1.0f);
        float mantissa_ratio = split(ratio, exponent_ratio);
        bool near_one = exponent_ratio == 0.0f;
        float above_u = mantissa_u - 1.0f, below_u = mantissa_u + 1.0f;
        float above_ratio = near_one ? n : mantissa_ratio - 1.0f;
        float below_ratio = near_one ? count + u : mantissa_ratio + 1.0f;
        float inverse = 1.0f / (below_u * below_ratio);
        float s_u = above_u * below_ratio * inverse;
        float s_ratio = above_ratio * below_u * inverse;
        float log_u = exponent_u * log2 + 2.0f * s_u * atanh_over(s_u);
        float log_ratio = exponent_ratio * log2 + 2.0f * s_ratio * atanh_over(s_ratio);
        out[i] += factor * (n * log_u + count * log_ratio);
    }
}

STATEGRAM_CLONES void add_computed_gains(float* out, const std::int32_t* counts, float n, float factor,
                                         std::size_t size) {
    computed_gains(out, counts, n, factor, size);
}

STATEGRAM_CLONES void add_computed_gains(float* out, const std::int64_t* counts, float n, float factor,
                                         std::size_t size) {
    computed_gains(out, counts, n, factor, size);
}

// Two look-ups beat the arithmetic above where the whole table of f is at hand.
template <typename Count>
void add_looked_up_gains(const double* f, float* STATEGRAM_RESTRICT out, const Count* counts, std::int64_t n,
                         float factor, std::size_t size) {
    const double* f_plus_n = f + n;
    for (std::size_t i = 0; i < size; ++i)
        out[i] += factor * static_cast<float>(f_plus_n[counts[i]] - f[counts[i]]);
}

template <typename Count>
void add_gains_of(const CountTerm& f, float* out, const Count* counts, std::int64_t largest_count,
                  std::int64_t n, float factor, std::size_t size) {
    if (largest_count + n < CountTerm::table_size)
        add_looked_up_gains(f.table(), out, counts, n, factor, size);
    else if (f.is_near_n_log_n())
        add_computed_gains(out, counts, static_cast<float>(n), factor, size);
    else  // a row with a large total has few large counts
        for (std::size_t i = 0; i < size; ++i) out[i] += factor * static_cast<float>(f.gain(counts[i], n));
}

}  // namespace

// `restrict` stays inside: MSVC makes it a part of a function's name, which the header does not have.
STATEGRAM_CLONES void add_four_rows(float* out, const float* a, const float* b, const float* c,
                                    const float* d, std::size_t size) {
    float* STATEGRAM_RESTRICT sum = out;
    for (std::size_t i = 0; i < size; ++i) sum[i] += (a[i] + b[i]) + (c[i] + d[i]);
}

STATEGRAM_CLONES void add_row(float* out, const float* row, float factor, std::size_t size) {
    float* STATEGRAM_RESTRICT sum = out;
    for (std::size_t i = 0; i < size; ++i) sum[i] += factor * row[i];
}

void add_gains(const CountTerm& f, float* out, const std::int32_t* counts, std::int64_t largest_count,
               std::int64_t n, float factor, std::size_t size) {
    add_gains_of(f, out, counts, largest_count, n, factor, size);
}

void add_gains(const CountTerm& f, float* out, const std::int64_t* counts, std::int64_t largest_count,
               std::int64_t n, float factor, std::size_t size) {
    add_gains_of(f, out, counts, largest_count, n, factor, size);
}

STATEGRAM_CLONES std::size_t largest(const float* values, std::size_t size) {
    constexpr std::size_t lanes = 16;
    float best[lanes];
    for (std::size_t j = 0; j < lanes; ++j) best[j] = values[0];
    std::size_t i = 0;
    for (; i + lanes <= size; i += lanes)
        for (std::size_t j = 0; j < lanes; ++j) best[j] = values[i + j] > best[j] ? values[i + j] : best[j];
    float top = best[0];
    for (std::size_t j = 1; j < lanes; ++j) top = best[j] > top ? best[j] : top;
    for (; i < size; ++i) top = values[i] > top ? values[i] : top;
    for (std::size_t place = 0; place < size; ++place)
        if (values[place] == top) return place;
    return 0;
}

}  // namespace stategram
