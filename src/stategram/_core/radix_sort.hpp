// Least-significant-digit radix sort of packed integer keys, on several threads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "threads.hpp"

namespace stategram {

// Sorts `keys`, all below 2^bits. Each pass moves 11 bits: 2048 open destinations, which the second-level
// cache and the store buffers still follow. The result is the sorted sequence, whatever the threads.
template <typename Key>
void radix_sort(std::vector<Key>& keys, int bits, ThreadPool& pool) {
    constexpr int digit_bits = 11;
    constexpr std::size_t digits = std::size_t{1} << digit_bits;
    const std::size_t size = keys.size();
    const std::size_t parts = static_cast<std::size_t>(pool.size());
    std::vector<Key> other(size);
    std::vector<std::array<std::size_t, digits>> places(parts);
    auto part_begin = [&](std::size_t part) { return size * part / parts; };
    for (int shift = 0; shift < bits; shift += digit_bits) {
        pool.run(parts, [&](std::size_t part, int) {
            auto& count = places[part];
            count.fill(0);
            for (std::size_t i = part_begin(part); i < part_begin(part + 1); ++i)
                ++count[(keys[i] >> shift) & (digits - 1)];
        });
        std::size_t total = 0;
        for (std::size_t digit = 0; digit < digits; ++digit)
            for (auto& count : places) {
                std::size_t here = count[digit];
                count[digit] = total;
                total += here;
            }
        pool.run(parts, [&](std::size_t part, int) {
            auto& place = places[part];
            for (std::size_t i = part_begin(part); i < part_begin(part + 1); ++i) {
                Key key = keys[i];
                other[place[(key >> shift) & (digits - 1)]++] = key;
            }
        });
        keys.swap(other);
    }
}

}  // namespace stategram
