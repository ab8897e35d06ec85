// Numbers as one or more bytes: 7 bits in each, the lowest first, and the top bit where more follow (LEB128).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checks.hpp"

namespace stategram {

inline void append_varint(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes.push_back(static_cast<std::uint8_t>(value));
}

// Takes a number from the front of `bytes`; throws std::invalid_argument if none is there.
inline std::uint64_t take_varint(std::span<const std::uint8_t>& bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
        value |= std::uint64_t{bytes[i] & 0x7FU} << (7 * i);
        if (bytes[i] < 0x80) {
            bytes = bytes.subspan(i + 1);
            return value;
        }
    }
    throw std::invalid_argument("the data is damaged: it ends inside a number");
}

}  // namespace stategram
