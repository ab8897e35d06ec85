// How often each packed integer key occurs, in rising order of the keys.
//
// One pass through memory brings the keys to parts of neighbouring values; then every part is counted by
// itself: with a counter for each value where keys are dense, else by sorting them within the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/big_array.hpp"
#include "base/threads.hpp"

namespace stategram {

template <typename Key>
struct KeyCounts {
    std::vector<Key> keys;
    std::vector<std::uint32_t> counts;

    void add(Key key, std::size_t count) {
        keys.push_back(key);
        counts.push_back(static_cast<std::uint32_t>(count));
    }
};

// What one thread needs to count a part.
template <typename Key>
struct PartScratch {
    std::vector<Key> other;
    std::vector<std::size_t> places;
    std::vector<std::uint32_t> counters;
};

// Sorts keys whose bits above `bits` are all the same, least significant digits first.
template <typename Key>
void sort_part(Key* keys, std::size_t size, int bits, PartScratch<Key>& scratch) {
    if (size < 256) {
        std::sort(keys, keys + size);
        return;
    }
    const int passes = (bits + 10) / 11;
    if (passes == 0) return;
    const int digit_bits = (bits + passes - 1) / passes;
    const std::size_t digits = std::size_t{1} << digit_bits;
    if (scratch.other.size() < size) scratch.other.resize(size);
    Key *from = keys, *to = scratch.other.data();
    for (int pass = 0, shift = 0; pass < passes; ++pass, shift += digit_bits) {
        scratch.places.assign(digits, 0);
        std::size_t* place = scratch.places.data();
        for (std::size_t i = 0; i < size; ++i) ++place[(from[i] >> shift) & (digits - 1)];
        std::size_t total = 0;
        for (std::size_t digit = 0; digit < digits; ++digit) {
            const std::size_t here = place[digit];
            place[digit] = total;
            total += here;
        }
        for (std::size_t i = 0; i < size; ++i) to[place[(from[i] >> shift) & (digits - 1)]++] = from[i];
        std::swap(from, to);
    }
    if (from != keys) std::copy(from, from + size, keys);
}

// Counts the keys of one part; their bits above `bits` are those of `base`.
template <typename Key>
KeyCounts<Key> count_part(Key* keys, std::size_t size, Key base, int bits, PartScratch<Key>& scratch) {
    KeyCounts<Key> found;
    const std::size_t values = std::size_t{1} << bits;
    if (size >= values / 4) {
        scratch.counters.assign(values, 0);
        std::uint32_t* counter = scratch.counters.data();
        for (std::size_t i = 0; i < size; ++i) ++counter[keys[i] - base];
        for (std::size_t value = 0; value < values; ++value)
            if (counter[value] > 0) found.add(static_cast<Key>(base + value), counter[value]);
        return found;
    }
    sort_part(keys, size, bits, scratch);
    for (std::size_t i = 0; i < size;) {
        const std::size_t begin = i;
        while (i < size && keys[i] == keys[begin]) ++i;
        found.add(keys[begin], i - begin);
    }
    return found;
}

// Counts the keys key_of(0), ..., key_of(size - 1), all below 2^bits. The result does not depend on the
// number of threads.
template <typename Key, typename KeyOf>
KeyCounts<Key> count_keys(std::size_t size, int bits, const KeyOf& key_of, ThreadPool& pool) {
    // At most 2048 open destinations: what the second-level cache and the address translation can follow.
    const int part_bits = std::min(bits, 11), low_bits = bits - part_bits;
    const std::size_t parts = std::size_t{1} << part_bits;
    const std::size_t slices = static_cast<std::size_t>(pool.size());
    auto slice_begin = [&](std::size_t slice) { return size * slice / slices; };

    std::vector<std::vector<std::size_t>> places(slices, std::vector<std::size_t>(parts, 0));
    pool.run(slices, [&](std::size_t slice, int) {
        std::size_t* place = places[slice].data();
        for (std::size_t i = slice_begin(slice), end = slice_begin(slice + 1); i < end; ++i)
            ++place[key_of(i) >> low_bits];
    });
    std::vector<std::size_t> begins(parts + 1, size);
    std::size_t total = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        begins[part] = total;
        for (auto& place : places) {
            const std::size_t here = place[part];
            place[part] = total;
            total += here;
        }
    }
    BigArray<Key> keys(size);
    pool.run(slices, [&](std::size_t slice, int) {
        std::size_t* place = places[slice].data();
        for (std::size_t i = slice_begin(slice), end = slice_begin(slice + 1); i < end; ++i) {
            const Key key = key_of(i);
            keys[place[key >> low_bits]++] = key;
        }
    });
    std::vector<KeyCounts<Key>> found(parts);
    std::vector<PartScratch<Key>> scratch(slices);
    pool.run(parts, [&](std::size_t part, int worker) {
        const std::size_t count = begins[part + 1] - begins[part];
        if (count > 0)
            found[part] =
                count_part(&keys[begins[part]], count, static_cast<Key>(static_cast<Key>(part) << low_bits),
                           low_bits, scratch[static_cast<std::size_t>(worker)]);
    });
    keys = {};

    KeyCounts<Key> all;
    std::size_t distinct = 0;
    for (const auto& part : found) distinct += part.keys.size();
    all.keys.reserve(distinct);
    all.counts.reserve(distinct);
    for (auto& part : found) {
        all.keys.insert(all.keys.end(), part.keys.begin(), part.keys.end());
        all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
        part = {};
    }
    return all;
}

}  // namespace stategram
