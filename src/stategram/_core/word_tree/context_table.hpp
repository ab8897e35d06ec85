// The contexts of one level of a chain, each with the words that followed it and how often.
//
// Contexts are hashed, and stored in the order of their hashes: a directory leads to a bucket of about
// twelve. An entry of a bucket is 24 bits of the hash and a number of one to four bytes. An even number is
// twice the word that followed a context seen once. Else half of it is the length of a list in bytes, and the
// list comes next: for each word, in rising order, the difference to the one before and whether it followed
// more than once; if so, how often, and after how many distinct longer contexts. A length of 0: the number of
// a long list, which is apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/hash.hpp"
#include "base/prefetch.hpp"
#include "word_tree/long_lists.hpp"

namespace stategram {

// The hash of a context from that of the context without its last value; 0 is no context.
inline std::uint64_t extend_hash(std::uint64_t hash, std::uint32_t value) {
    std::uint64_t x = hash * golden_ratio ^ (value + 0x7F4A7C15ULL) * 0xC2B2AE3D27D4EB4FU;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9U;
    x ^= x >> 32;
    x *= 0x94D049BB133111EBU;
    x ^= x >> 29;
    return x == 0 ? 1 : x;
}
constexpr std::uint64_t empty_context = 0x1234567;

inline std::uint32_t hash_check(std::uint64_t hash) { return (hash >> 4) & 0xFFFFFFU; }

// Longer lists are stored apart.
constexpr std::uint32_t long_list_mark = 255;
constexpr std::size_t max_list_bytes = 254;

// Where a context was found.
struct FoundList {
    const std::uint8_t* begin = nullptr;  // null: not found
    std::uint32_t size = 0;               // in bytes; `long_list_mark`: a long list
    std::uint32_t long_list = 0;
    std::uint32_t check = 0;  // bits of the hash

    explicit operator bool() const { return begin != nullptr; }
    bool is_long() const { return size == long_list_mark; }
};

struct LevelView {
    const std::uint32_t* directory = nullptr;  // in units of four bytes
    int bucket_bits = 1;
    const std::uint8_t* entries = nullptr;
    std::size_t n_bytes = 0;
    bool has_longer = false;
    std::vector<LongLists> long_lists;  // of each tree

    std::size_t bucket(std::uint64_t hash) const { return hash >> (64 - bucket_bits); }
    void prefetch_directory(std::uint64_t hash) const { prefetch(&directory[bucket(hash)]); }
    void prefetch_bucket(std::uint64_t hash) const {
        const std::uint8_t* begin = entries + std::size_t{directory[bucket(hash)]} * 4;
        prefetch(begin);
        prefetch(begin + 64);
    }

    // Calls use(list) for the lists of a bucket until one returns false.
    template <typename Use>
    void for_each_list(std::size_t bucket, const Use& use) const {
        std::size_t at = std::size_t{directory[bucket]} * 4;
        const std::size_t end = std::min(std::size_t{directory[bucket + 1]} * 4, n_bytes);
        while (at + 4 <= end) {  // fewer bytes fill the bucket up
            FoundList list;
            const std::size_t next = read_entry(at, list);
            if (next > end) throw std::invalid_argument("a list reaches beyond its bucket");
            if (list.is_long()) {
                std::memcpy(&list.long_list, list.begin, 4);
                if (list.long_list >= long_lists[0].n_lists)
                    throw std::invalid_argument("a long list is missing");
            }
            if (!use(list)) return;
            at = next;
        }
    }

    FoundList find(std::uint64_t hash) const {
        const std::uint32_t check = hash_check(hash);
        FoundList found;
        for_each_list(bucket(hash), [&](const FoundList& list) {
            if (list.check != check) return true;
            found = list;
            return false;
        });
        return found;
    }

 private:
    // Returns where the next entry begins.
    std::size_t read_entry(std::size_t at, FoundList& list) const {
        std::uint64_t bytes = 0;
        if (at + 8 <= n_bytes)
            std::memcpy(&bytes, entries + at, 8);
        else
            std::memcpy(&bytes, entries + at, n_bytes - at);
        list.check = bytes & 0xFFFFFFU;
        const auto [number, width] = ShortVarint(static_cast<std::uint32_t>(bytes >> 24));
        const bool is_single = (number & 1U) == 0;
        const std::uint32_t size = number >> 1;
        list.begin = entries + at + (is_single ? 3 : 3 + width);
        list.size = is_single ? width : size == 0 ? long_list_mark : size;
        if (!is_single && size > max_list_bytes)
            throw std::invalid_argument("a list of followers is too long");
        return at + 3 + width + (is_single ? 0 : size == 0 ? 4 : size);
    }
};

}  // namespace stategram
