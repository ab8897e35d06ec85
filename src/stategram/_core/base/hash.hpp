// Hashes of numbers.
#pragma once

#include <cstdint>

#include "base/simd.hpp"

namespace stategram {

// 2^64 times the golden ratio's fraction: multiples of it spread evenly.
constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;

// The output function of SplitMix64 (Steele, Lea and Flood 2014).
STATEGRAM_INLINE std::uint64_t mix_bits(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

// FNV-1a of bytes or larger numbers, and of how many there are, in 63 bits.
template <typename Number>
std::uint64_t hash_of(const Number* values, std::size_t size, std::size_t whole_size) {
    std::uint64_t hash = 0xCBF29CE484222325 ^ whole_size;
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ values[i]) * 0x100000001B3;
    return hash >> 1;
}

}  // namespace stategram
