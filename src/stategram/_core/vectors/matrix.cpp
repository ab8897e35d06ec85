#include "vectors/matrix.hpp"

#include <cstring>

namespace stategram {
namespace {

constexpr std::size_t n_lanes = 16;

#if defined(__GNUC__)
using Lanes = float __attribute__((vector_size(n_lanes * sizeof(float)), aligned(4), may_alias));
#else
struct Lanes {
    float values[n_lanes];
    Lanes& operator+=(const Lanes& other) {
        for (std::size_t i = 0; i < n_lanes; ++i) values[i] += other.values[i];
        return *this;
    }
    friend Lanes operator*(const Lanes& a, const Lanes& b) {
        Lanes product;
        for (std::size_t i = 0; i < n_lanes; ++i) product.values[i] = a.values[i] * b.values[i];
        return product;
    }
    friend Lanes operator*(const Lanes& a, float b) {
        Lanes product;
        for (std::size_t i = 0; i < n_lanes; ++i) product.values[i] = a.values[i] * b;
        return product;
    }
};
#endif
// The numbers of a block of 4 bits each.
STATEGRAM_INLINE void read_block(const std::uint8_t* block, float* STATEGRAM_RESTRICT numbers) {
    const auto scale = static_cast<float>(block[0]);
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
        const std::uint8_t byte = block[1 + lane];
        numbers[lane] = (static_cast<float>(byte & 15) - 7.5F) * scale;
        numbers[n_lanes + lane] = (static_cast<float>(byte >> 4) - 7.5F) * scale;
    }
}

constexpr std::size_t lanes_per_panel = vector_padding / n_lanes;

template <std::size_t n>
STATEGRAM_INLINE void multiply_rows(std::size_t depth, const float* a, std::size_t row, std::size_t column,
                                    const float* panel, float* c, std::size_t c_row, bool add) {
    Lanes sums[n][lanes_per_panel];
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < lanes_per_panel; ++j)
            sums[i][j] = add ? *reinterpret_cast<const Lanes*>(c + i * c_row + j * n_lanes) : Lanes{};
    for (std::size_t k = 0; k < depth; ++k) {
        const auto* const b = reinterpret_cast<const Lanes*>(panel + k * vector_padding);
        for (std::size_t i = 0; i < n; ++i) {
            const float value = a[i * row + k * column];
            for (std::size_t j = 0; j < lanes_per_panel; ++j) sums[i][j] += b[j] * value;
        }
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < lanes_per_panel; ++j)
            *reinterpret_cast<Lanes*>(c + i * c_row + j * n_lanes) = sums[i][j];
}

STATEGRAM_CLONES
void multiply_panel(std::size_t n_rows, std::size_t depth, const float* a, std::size_t row,
                    std::size_t column, const float* panel, float* c, std::size_t c_row, bool add) {
    std::size_t i = 0;
    for (; i + 8 <= n_rows; i += 8)
        multiply_rows<8>(depth, a + i * row, row, column, panel, c + i * c_row, c_row, add);
    for (; i + 2 <= n_rows; i += 2)
        multiply_rows<2>(depth, a + i * row, row, column, panel, c + i * c_row, c_row, add);
    if (i < n_rows) multiply_rows<1>(depth, a + i * row, row, column, panel, c + i * c_row, c_row, add);
}

// One row by several panels side by side: a single one would wait for each of its additions.
constexpr std::size_t panels_per_row = 4;

STATEGRAM_CLONES
void multiply_row(std::size_t depth, const float* a, std::size_t column, const float* panels, float* c,
                  bool add) {
    constexpr std::size_t n = panels_per_row * lanes_per_panel;
    Lanes sums[n];
    for (std::size_t j = 0; j < n; ++j)
        sums[j] = add ? *reinterpret_cast<const Lanes*>(c + j * n_lanes) : Lanes{};
    for (std::size_t k = 0; k < depth; ++k) {
        const float value = a[k * column];
        for (std::size_t j = 0; j < n; ++j)
            sums[j] += *reinterpret_cast<const Lanes*>(panels + j / lanes_per_panel * depth * vector_padding +
                                                       k * vector_padding + j % lanes_per_panel * n_lanes) *
                       value;
    }
    for (std::size_t j = 0; j < n; ++j) *reinterpret_cast<Lanes*>(c + j * n_lanes) = sums[j];
}

// The lanes of `dot` in the order in which their sums meet.
constexpr std::size_t lane_order[n_lanes] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

// Of each four bytes of the vectors one number for each: all first lanes, then all of the lane they meet.
STATEGRAM_CLONES
void unpack_blocks(const std::uint8_t* STATEGRAM_RESTRICT bytes, const float* STATEGRAM_RESTRICT scales,
                   std::size_t n_blocks, float* STATEGRAM_RESTRICT out) {
    for (const std::size_t lane : lane_order)
        for (std::size_t block = 0; block < n_blocks; ++block, out += 2 * vector_padding) {
            const std::uint8_t* const of_lane = bytes + (block * n_lanes + lane) * vector_padding;
            const float* const of_block = scales + block * vector_padding;
            for (std::size_t i = 0; i < vector_padding; ++i) {
                out[i] = (static_cast<float>(of_lane[i] & 15) - 7.5F) * of_block[i];
                out[vector_padding + i] = (static_cast<float>(of_lane[i] >> 4) - 7.5F) * of_block[i];
            }
        }
}

template <std::size_t n>
STATEGRAM_INLINE void multiply_rounded(std::size_t depth, const float* a, std::size_t a_row,
                                       const float* panel, float* out) {
    Lanes waiting[4][n][lanes_per_panel], sums[n][lanes_per_panel];
    for (std::size_t place = 0; place < n_lanes; ++place) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < lanes_per_panel; ++j) sums[i][j] = Lanes{};
        const float* value = a + lane_order[place];
        for (std::size_t k = 0; k < depth; ++k, value += n_lanes, panel += vector_padding)
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < lanes_per_panel; ++j)
                    sums[i][j] += reinterpret_cast<const Lanes*>(panel)[j] * value[i * a_row];
        std::size_t met = 0;
        for (; (place >> met & 1U) != 0; ++met)
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < lanes_per_panel; ++j) sums[i][j] += waiting[met][i][j];
        if (met < 4) std::copy_n(&sums[0][0], n * lanes_per_panel, &waiting[met][0][0]);
    }
    std::copy_n(&sums[0][0], n * lanes_per_panel, reinterpret_cast<Lanes*>(out));
}

STATEGRAM_CLONES
void multiply_rounded_panel(std::size_t n_rows, std::size_t depth, const float* a, std::size_t a_row,
                            const float* panel, float* out) {
    std::size_t i = 0;
    for (; i + 8 <= n_rows; i += 8)
        multiply_rounded<8>(depth, a + i * a_row, a_row, panel, out + i * vector_padding);
    for (; i + 2 <= n_rows; i += 2)
        multiply_rounded<2>(depth, a + i * a_row, a_row, panel, out + i * vector_padding);
    if (i < n_rows) multiply_rounded<1>(depth, a + i * a_row, a_row, panel, out + i * vector_padding);
}

}  // namespace

void PackedMatrix::pack(const float* values, std::size_t row, std::size_t column) {
    float* out = values_.data();
    for (std::size_t first = 0; first < columns_; first += vector_padding)
        for (std::size_t i = 0; i < rows_; ++i)
            for (std::size_t j = 0; j < vector_padding; ++j) *out++ = values[i * row + (first + j) * column];
}

void multiply(std::size_t n_rows, const float* a, std::size_t row, std::size_t column, const PackedMatrix& b,
              float* c, std::size_t c_row, bool add) {
    std::size_t first = 0;
    constexpr std::size_t together = panels_per_row * vector_padding;
    for (; n_rows == 1 && first + together <= b.columns(); first += together)
        multiply_row(b.rows(), a, column, b.panel(first), c + first, add);
    for (; first < b.columns(); first += vector_padding)
        multiply_panel(n_rows, b.rows(), a, row, column, b.panel(first), c + first, c_row, add);
}

STATEGRAM_CLONES
float dot(const float* a, const float* b, std::size_t n) {
    Lanes sums{};
    for (std::size_t i = 0; i < n; i += n_lanes)
        sums += *reinterpret_cast<const Lanes*>(a + i) * *reinterpret_cast<const Lanes*>(b + i);
    return sum_of_halves<n_lanes / 2>(reinterpret_cast<float*>(&sums));
}

STATEGRAM_CLONES
float dot(const float* a, const std::uint8_t* b, std::size_t n) {
    Lanes sums{};
    for (std::size_t begin = 0; begin < n; begin += vector_padding, b += bytes_per_block) {
        alignas(64) float numbers[vector_padding];
        read_block(b, numbers);
        for (std::size_t i = 0; i < vector_padding; i += n_lanes)
            sums +=
                *reinterpret_cast<const Lanes*>(a + begin + i) * *reinterpret_cast<const Lanes*>(numbers + i);
    }
    return sum_of_halves<n_lanes / 2>(reinterpret_cast<float*>(&sums));
}

STATEGRAM_CLONES
void unround(float* STATEGRAM_RESTRICT y, const std::uint8_t* STATEGRAM_RESTRICT b, float scale,
             std::size_t n) {
    for (std::size_t begin = 0; begin < n; begin += vector_padding, b += bytes_per_block) {
        read_block(b, y + begin);
        for (std::size_t i = 0; i < vector_padding; ++i) y[begin + i] *= scale;
    }
}

void PackedRows::pack(const std::uint8_t* rows, std::size_t n) {
    const std::size_t n_blocks = width_ / vector_padding;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t block = 0; block < n_blocks; ++block, rows += bytes_per_block) {
            scales_[block * vector_padding + i] = static_cast<float>(rows[0]);
            for (std::size_t lane = 0; lane < n_lanes; ++lane)
                bytes_[(block * n_lanes + lane) * vector_padding + i] = rows[1 + lane];
        }
    unpack_blocks(bytes_.data(), scales_.data(), n_blocks, values_.data());
}

void PackedRows::multiply(std::size_t n_rows, const float* a, std::size_t a_row, float* out) const {
    multiply_rounded_panel(n_rows, width_ / n_lanes, a, a_row, values_.data(), out);
}

STATEGRAM_CLONES
void add_scaled(float* STATEGRAM_RESTRICT y, float a, const float* STATEGRAM_RESTRICT x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

}  // namespace stategram
