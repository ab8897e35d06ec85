// Products of matrices and vectors, and functions of single numbers, whose operations have one order: results
// depend neither on the number of threads nor on how many vectors a processor adds at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/simd.hpp"

namespace stategram {

// Widths of vectors are multiples of this.
constexpr std::size_t vector_padding = 32;

// Rows of numbers in 4 bits: of each 32, a byte is their scale, a part of the scale of the row, and 16 bytes
// have a number in each half, the first 16 numbers in the low ones. These are halves of odd integers, from
// -7.5 to 7.5.
constexpr std::size_t bytes_per_block = 1 + vector_padding / 2;
constexpr std::size_t rounded_bytes(std::size_t width) { return width / vector_padding * bytes_per_block; }

// A matrix in panels of columns, as `multiply` reads it.
class PackedMatrix {
 public:
    PackedMatrix(std::size_t rows, std::size_t columns)
        : rows_(rows), columns_(columns), values_(rows * columns) {}

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    // Element (i, j) is values[i * row + j * column].
    void pack(const float* values, std::size_t row, std::size_t column);
    const float* panel(std::size_t first_column) const { return values_.data() + first_column * rows_; }

 private:
    std::size_t rows_, columns_;
    std::vector<float> values_;
};

// c = a b, or c += a b, where element (i, k) of a is a[i * row + k * column], and rows of c are `c_row`
// apart. Each element of c is a sum over k in ascending order.
void multiply(std::size_t n_rows, const float* a, std::size_t row, std::size_t column, const PackedMatrix& b,
              float* c, std::size_t c_row, bool add);

float dot(const float* a, const float* b, std::size_t n);
// The same for a row of numbers in 4 bits, without its scale.
float dot(const float* a, const std::uint8_t* b, std::size_t n);
// The same, to the last bit, for several vectors a and up to `vector_padding` such rows.
class PackedRows {
 public:
    explicit PackedRows(std::size_t width)
        : width_(width),
          bytes_(width / 2 * vector_padding),
          scales_(width),
          values_(width * vector_padding) {}
    // `n` rows, one after the other.
    void pack(const std::uint8_t* rows, std::size_t n);
    // Writes the products with each a, `a_row` numbers apart, to rows of `vector_padding` numbers.
    void multiply(std::size_t n_rows, const float* a, std::size_t a_row, float* out) const;

 private:
    std::size_t width_;
    std::vector<std::uint8_t> bytes_;
    std::vector<float> scales_, values_;  // of blocks; of all numbers
};
// y = scale b, where b is a row of numbers in 4 bits.
void unround(float* y, const std::uint8_t* b, float scale, std::size_t n);
// y += a x.
void add_scaled(float* y, float a, const float* x, std::size_t n);

// exp(x) for |x| <= 80, to about one unit in the last place; it vectorizes.
STATEGRAM_INLINE float fast_exp(float x) {
    constexpr float magic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
    const float shifted = x * 1.44269504F + magic, n = shifted - magic;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float y = 1.9875691500e-4F;
    y = y * r + 1.3981999507e-3F;
    y = y * r + 8.3334519073e-3F;
    y = y * r + 4.1665795894e-2F;
    y = y * r + 1.6666665459e-1F;
    y = y * r + 5.0000001201e-1F;
    y = y * r * r + r + 1.0F;
    const std::int32_t power = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(magic);
    return y * std::bit_cast<float>((power + 127) << 23);
}

STATEGRAM_INLINE float fast_sigmoid(float x) {
    x = std::min(std::max(x, -30.0F), 30.0F);
    return 1.0F / (1.0F + fast_exp(-x));
}

STATEGRAM_INLINE float fast_tanh(float x) {
    x = std::min(std::max(x, -15.0F), 15.0F);
    return 2.0F / (1.0F + fast_exp(-2.0F * x)) - 1.0F;
}

}  // namespace stategram
