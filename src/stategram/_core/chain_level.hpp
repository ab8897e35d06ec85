// The contexts of one level of a chain, each with the words that followed it and how often.
//
// Contexts are hashed, and stored in the order of their hashes: a directory leads to a bucket of about eight.
// An entry of a bucket is 24 bits of the hash, the length of the list in bytes, and the list: for each word,
// in rising order, the difference to the one before and whether it followed more than once; if so, how often,
// and after how many distinct longer contexts. Nearly all lists are a few bytes, so that a bucket is one or
// two cache lines. Long lists are apart, for each tree one: the nodes of the tree where their words part, and
// below them short lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "prefetch.hpp"

namespace stategram {

// A value that is not there, such as a word before the start of a sentence.
constexpr std::uint32_t no_value = UINT32_MAX;

// Longer lists are stored apart.
constexpr std::size_t max_short_list = 64;
constexpr std::uint32_t long_list_mark = 255;

// The hash of a context from that of the context without its last value; 0 is no context.
inline std::uint64_t extend_hash(std::uint64_t hash, std::uint32_t value) {
    std::uint64_t x = hash * 0x9E3779B97F4A7C15U ^ (value + 0x7F4A7C15ULL) * 0xC2B2AE3D27D4EB4FU;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9U;
    x ^= x >> 32;
    x *= 0x94D049BB133111EBU;
    x ^= x >> 29;
    return x == 0 ? 1 : x;
}
constexpr std::uint64_t empty_context = 0x1234567;

inline std::uint32_t hash_check(std::uint64_t hash) { return (hash >> 4) & 0xFFFFFFU; }

struct Follower {
    std::uint32_t word, count;
    std::uint32_t contexts;  // distinct longer contexts; on the last level the count
};

// A long list in a tree is a header, with the sums of the list, and then in preorder the nodes where its
// words part, with the sums of their left sides. Few words are not divided further: they are a short list.
struct LongRecord {
    std::uint32_t node;   // `no_value`: a short list
    std::uint32_t skip;   // records to the right side; of a short list, its length in bytes
    std::uint32_t types;  // of a short list, where its bytes begin
    std::uint32_t counts, contexts;
};
constexpr std::size_t max_leaf_list = 24;

struct LongLists {
    const std::int64_t* begins = nullptr;
    const LongRecord* records = nullptr;
    const std::uint8_t* bytes = nullptr;
    std::size_t n_lists = 0, n_records = 0, n_bytes = 0;
};

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
    bool is_last = false;
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
        while (at + 4 <= end) {
            std::uint32_t header;
            std::memcpy(&header, entries + at, 4);
            FoundList list{entries + at + 4, header >> 24, 0, header & 0xFFFFFFU};
            if (list.size == 0) break;  // zeros fill the bucket up
            const std::size_t length = list.is_long() ? 4 : list.size;
            if (at + 4 + length > end) throw std::invalid_argument("a list reaches beyond its bucket");
            if (list.is_long()) {
                std::memcpy(&list.long_list, list.begin, 4);
                if (list.long_list >= long_lists[0].n_lists)
                    throw std::invalid_argument("a long list is missing");
            }
            if (!use(list)) return;
            at += 4 + length;
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
};

inline const std::uint8_t* read_number(const std::uint8_t* at, const std::uint8_t* end,
                                       std::uint32_t& number) {
    number = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        if (at == end) throw std::invalid_argument("a list of followers is cut off");
        const std::uint8_t byte = *at++;
        number |= static_cast<std::uint32_t>(byte & 127U) << shift;
        if (byte < 128) return at;
    }
    throw std::invalid_argument("a number in a list of followers is too large");
}

inline void write_number(std::vector<std::uint8_t>& bytes, std::uint32_t number) {
    while (number >= 128) {
        bytes.push_back(static_cast<std::uint8_t>(number | 128U));
        number >>= 7;
    }
    bytes.push_back(static_cast<std::uint8_t>(number));
}

inline void write_list(std::vector<std::uint8_t>& bytes, const Follower* followers, std::size_t size,
                       bool is_last) {
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const Follower& one = followers[i];
        write_number(bytes, (one.word - before) << 1 | (one.count > 1));
        before = one.word;
        if (one.count == 1) continue;
        write_number(bytes, one.count - 2);
        if (!is_last) write_number(bytes, one.contexts - 1);
    }
}

// Returns the number of followers in a short list of `size` bytes; each word is below `n_words`.
inline std::size_t read_list(const std::uint8_t* at, std::size_t size, bool is_last, std::size_t n_words,
                             Follower* followers) {
    const std::uint8_t* end = at + size;
    std::size_t n = 0;
    std::uint32_t word = 0;
    while (at != end) {
        if (n == max_short_list) throw std::invalid_argument("a list of followers is too long");
        std::uint32_t number;
        at = read_number(at, end, number);
        word += number >> 1;
        if (word >= n_words) throw std::invalid_argument("a follower is not a word");
        Follower& one = followers[n++];
        one = {word, 1, 1};
        if ((number & 1U) == 0) continue;
        at = read_number(at, end, one.count);
        one.count += 2;
        one.contexts = one.count;
        if (!is_last) {
            at = read_number(at, end, one.contexts);
            ++one.contexts;
        }
    }
    return n;
}

// Where a walk down a long list stands: at a record, with the sums of the words below it.
class LongWalk {
 public:
    LongWalk(const LongLists& lists, std::uint32_t number) : lists_(&lists) {
        at_ = static_cast<std::size_t>(lists.begins[number]);
        end_ = static_cast<std::size_t>(lists.begins[number + 1]);
        sums_ = record();
        ++at_;
    }

    const LongRecord& sums() const { return sums_; }  // types, counts and contexts
    const LongRecord& record() const {
        if (at_ >= end_) throw std::invalid_argument("a long list is cut off");
        return lists_->records[at_];
    }

    // From a node where words part to one of its sides.
    void go_left() {
        sums_ = record();
        ++at_;
    }
    void go_right() {
        const LongRecord& left = record();
        sums_.types -= left.types;
        sums_.counts -= left.counts;
        sums_.contexts -= left.contexts;
        at_ += std::max(left.skip, 1U);
    }

    std::size_t read_leaf(bool is_last, std::size_t n_words, Follower* followers) const {
        const LongRecord& leaf = record();
        if (std::size_t{leaf.types} + leaf.skip > lists_->n_bytes)
            throw std::invalid_argument("a part of a long list is missing");
        return read_list(lists_->bytes + leaf.types, leaf.skip, is_last, n_words, followers);
    }

 private:
    const LongLists* lists_;
    std::size_t at_, end_;
    LongRecord sums_;
};

}  // namespace stategram
