// N-grams as packed keys of one or more 64-bit limbs, and the sorting of many of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace stategram {

// The words of an n-gram from the top bit down, `bits` for each: word number + 1, or 0 where there is none.
// Keys are then ordered as n-grams are, an n-gram before its extensions.
template <std::size_t Limbs>
struct NgramKey {
    std::array<std::uint64_t, Limbs> limbs;  // the first is the most significant

    // By hand: not every standard library compares arrays by <=>.
    friend bool operator<(const NgramKey& a, const NgramKey& b) {
        for (std::size_t i = 0; i + 1 < Limbs; ++i)
            if (a.limbs[i] != b.limbs[i]) return a.limbs[i] < b.limbs[i];
        return a.limbs[Limbs - 1] < b.limbs[Limbs - 1];
    }
    friend bool operator==(const NgramKey& a, const NgramKey& b) { return a.limbs == b.limbs; }

    // The key of the n-gram that begins one word earlier: `symbol` before it, its last word gone.
    void prepend(std::uint64_t symbol, int bits, int length) {
        for (std::size_t i = Limbs; i-- > 0;) {
            limbs[i] >>= bits;
            if (i > 0) limbs[i] |= limbs[i - 1] << (64 - bits);
        }
        limbs[0] |= symbol << (64 - bits);
        keep(bits * length);
    }

    // The first `count` bits stay, those after them become 0.
    void keep(int count) {
        for (std::size_t i = 0; i < Limbs; ++i) {
            const int here = std::clamp(count - static_cast<int>(64 * i), 0, 64);
            if (here < 64) limbs[i] &= here == 0 ? 0 : ~std::uint64_t{0} << (64 - here);
        }
    }

    // Sets the word at a place (0 is the first), where there is none yet, to a number + 1.
    void put(int place, std::uint64_t symbol, int bits) {
        const int offset = place * bits, room = 64 - offset % 64;
        const std::size_t i = static_cast<std::size_t>(offset) / 64;
        if (bits <= room) {
            limbs[i] |= symbol << (room - bits);
        } else {
            limbs[i] |= symbol >> (bits - room);
            limbs[i + 1] |= symbol << (64 - (bits - room));
        }
    }

    // 8 bits, beginning at bit `offset` from the top.
    std::size_t digit(int offset) const {
        const std::size_t i = static_cast<std::size_t>(offset) / 64;
        const int inside = offset % 64;
        std::uint64_t value = limbs[i] << inside;
        if (inside > 56 && i + 1 < Limbs) value |= limbs[i + 1] >> (64 - inside);
        return static_cast<std::size_t>(value >> 56);
    }

    // The word at a place (0 is the first), as number + 1, or 0.
    std::uint32_t symbol(int place, int bits) const {
        const int offset = place * bits;
        const std::size_t i = static_cast<std::size_t>(offset) / 64;
        const int inside = offset % 64;
        std::uint64_t value = limbs[i] << inside;
        if (inside > 64 - bits && i + 1 < Limbs) value |= limbs[i + 1] >> (64 - inside);
        return static_cast<std::uint32_t>(value >> (64 - bits));
    }

    // How many bits at the top two different keys have in common.
    int common_bits(const NgramKey& other) const {
        for (std::size_t i = 0; i < Limbs; ++i)
            if (limbs[i] != other.limbs[i])
                return static_cast<int>(64 * i) + std::countl_zero(limbs[i] ^ other.limbs[i]);
        return static_cast<int>(64 * Limbs);
    }

    // The number of bits up to and including the last that is set.
    int used_bits() const {
        for (std::size_t i = Limbs; i-- > 0;)
            if (limbs[i] != 0) return static_cast<int>(64 * (i + 1)) - std::countr_zero(limbs[i]);
        return 0;
    }
};

// Calls use<Limbs>() with as many limbs as keys of `bits` bits need.
template <typename Use>
auto with_limbs(int bits, const Use& use) {
    switch ((bits + 63) / 64) {
        case 1:
            return use.template operator()<1>();
        case 2:
            return use.template operator()<2>();
        case 3:
            return use.template operator()<3>();
        default:
            return use.template operator()<5>();
    }
}

// Sorts keys that have their first `offset` bits in common; `other` has room for as many. Digits of 8 bits
// from the top split them until what is left is sorted by comparisons, within the cache.
template <std::size_t Limbs>
void sort_keys(NgramKey<Limbs>* keys, NgramKey<Limbs>* other, std::size_t size, int offset) {
    if (size < 512 || offset >= static_cast<int>(64 * Limbs)) {
        std::sort(keys, keys + size);
        return;
    }
    std::array<std::size_t, 257> begins{};
    for (std::size_t i = 0; i < size; ++i) ++begins[keys[i].digit(offset) + 1];
    for (std::size_t digit = 0; digit < 256; ++digit) begins[digit + 1] += begins[digit];
    std::array<std::size_t, 256> places;
    std::copy_n(begins.begin(), 256, places.begin());
    for (std::size_t i = 0; i < size; ++i) other[places[keys[i].digit(offset)]++] = keys[i];
    std::copy_n(other, size, keys);
    for (std::size_t digit = 0; digit < 256; ++digit) {
        const std::size_t begin = begins[digit], count = begins[digit + 1] - begin;
        if (count > 1) sort_keys(keys + begin, other + begin, count, offset + 8);
    }
}

}  // namespace stategram
