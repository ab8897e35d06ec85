// Numbers as one or more bytes: 7 bits in each, the lowest first, and the top bit where more follow (LEB128).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace stategram {

inline void append_varint(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes.push_back(static_cast<std::uint8_t>(value));
}

// Reads a number and returns where the next one begins; throws std::invalid_argument if none is there.
template <typename Number>
const std::uint8_t* read_varint(const std::uint8_t* at, const std::uint8_t* end, Number& number) {
    number = 0;
    for (int shift = 0; shift < std::numeric_limits<Number>::digits; shift += 7) {
        if (at == end) throw std::invalid_argument("the data is damaged: it ends inside a number");
        const std::uint8_t byte = *at++;
        number |= static_cast<Number>(byte & 0x7FU) << shift;
        if (byte < 0x80) return at;
    }
    throw std::invalid_argument("the data is damaged: a number is too large");
}

// Takes a number from the front of `bytes`.
inline std::uint64_t take_varint(std::span<const std::uint8_t>& bytes) {
    std::uint64_t value;
    const std::uint8_t* rest = read_varint(bytes.data(), bytes.data() + bytes.size(), value);
    bytes = {rest, bytes.data() + bytes.size()};
    return value;
}

// The number of up to 28 bits with which four bytes begin, and how many of them it takes; without a loop.
struct ShortVarint {
    std::uint32_t value, width;

    explicit ShortVarint(std::uint32_t bytes) {
        const int stop = std::countr_zero(~bytes & 0x80808080U);  // the top bit of its last byte
        if (stop == 32) throw std::invalid_argument("the data is damaged: a number is too large");
        width = static_cast<std::uint32_t>(stop) / 8 + 1;
        bytes &= static_cast<std::uint32_t>((std::uint64_t{2} << stop) - 1);
        value =
            (bytes & 0x7FU) | (bytes >> 1 & 0x3F80U) | (bytes >> 2 & 0x1FC000U) | (bytes >> 3 & 0xFE00000U);
    }
};

}  // namespace stategram
