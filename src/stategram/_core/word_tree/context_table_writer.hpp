// Writes the contexts of one level of a chain, in the order of their hashes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/big_array.hpp"
#include "word_tree/context_table.hpp"

namespace stategram {

constexpr std::size_t max_contexts_per_bucket = 16;
// Twice a word must be a number of four bytes of seven bits.
constexpr std::size_t max_words = std::size_t{1} << 27;

// The arrays of a level; those of long lists are their beginnings, words, counts and longer contexts.
struct LevelArrays {
    std::vector<std::uint32_t> directory;
    BigArray<std::uint8_t> entries;
    std::vector<std::int64_t> long_begins;
    BigArray<std::uint32_t> long_words, long_counts, long_contexts;
};

// The contexts of consecutive buckets.
struct CountedContexts {
    std::vector<std::uint32_t> bucket_sizes;  // in units of four bytes
    std::vector<std::uint8_t> entries;
    std::size_t bucket_begin = 0;
    std::vector<std::size_t> long_marks;  // where the entries hold the number of a long list
    std::vector<std::int64_t> long_sizes;
    std::vector<Follower> long_followers;
    std::array<std::uint64_t, 2> seen_in{};  // words after one, and after two, distinct longer contexts
    std::uint64_t contexts = 0, ngrams = 0;
};

// All contexts of a level: those of its buckets one after the other.
class CountedLevel {
 public:
    explicit CountedLevel(std::size_t n_buckets) {
        directory_.reserve(n_buckets + 1);
        directory_.push_back(0);
    }

    CountedContexts totals;  // the numbers only

    // Adds what comes next; the memory of each is freed as soon as it is copied.
    void add(std::vector<CountedContexts>&& parts) {
        std::size_t n_bytes = 0, n_followers = 0;
        for (const CountedContexts& part : parts) {
            n_bytes += part.entries.size();
            n_followers += part.long_followers.size();
        }
        std::uint8_t* entry = entries_.add(n_bytes);
        std::uint32_t *word = long_words_.add(n_followers), *count = long_counts_.add(n_followers),
                      *context = long_contexts_.add(n_followers);
        for (CountedContexts& part : parts) {
            for (const std::size_t mark : part.long_marks) {
                const auto number = static_cast<std::uint32_t>(n_long_++);
                std::memcpy(&part.entries[mark], &number, 4);
            }
            for (const std::uint32_t size : part.bucket_sizes) add_bucket(size);
            for (const std::int64_t size : part.long_sizes)
                long_begins_.push_back(long_begins_.back() + size);
            entry = std::copy(part.entries.begin(), part.entries.end(), entry);
            for (const Follower& one : part.long_followers) {
                *word++ = one.word;
                *count++ = one.count;
                *context++ = one.contexts;
            }
            for (std::size_t i = 0; i < 2; ++i) totals.seen_in[i] += part.seen_in[i];
            totals.contexts += part.contexts;
            totals.ngrams += part.ngrams;
            part = {};
        }
    }

    LevelArrays take_arrays() {
        return {std::move(directory_), entries_.join(),     std::move(long_begins_),
                long_words_.join(),    long_counts_.join(), long_contexts_.join()};
    }

 private:
    void add_bucket(std::uint32_t size) {
        if (size > UINT32_MAX - directory_.back())
            throw std::overflow_error("a level of a chain is larger than 16 GB");
        directory_.push_back(directory_.back() + size);
    }

    std::size_t n_long_ = 0;
    std::vector<std::uint32_t> directory_;
    Chunks<std::uint8_t> entries_;
    std::vector<std::int64_t> long_begins_{0};
    Chunks<std::uint32_t> long_words_, long_counts_, long_contexts_;
};

class LevelWriter {
 public:
    LevelWriter(int bucket_bits, bool has_longer) : bucket_bits_(bucket_bits), has_longer_(has_longer) {}

    bool has_longer() const { return has_longer_; }
    std::size_t bucket(std::uint64_t hash) const { return hash >> (64 - bucket_bits_); }

    void add(std::uint64_t hash, const std::vector<Follower>& followers, CountedContexts& counted) {
        counted.contexts += 1;
        counted.ngrams += followers.size();
        for (const Follower& one : followers)
            if (one.contexts <= 2) ++counted.seen_in[one.contexts - 1];
        std::vector<std::uint8_t>& entries = counted.entries;
        const std::uint32_t check = hash_check(hash);
        for (int shift = 0; shift < 24; shift += 8)
            entries.push_back(static_cast<std::uint8_t>(check >> shift));
        if (followers.size() == 1 && followers[0].count == 1) {
            append_varint(entries, followers[0].word << 1);
            return;
        }
        bytes_.clear();
        if (followers.size() <= max_short_list)
            write_list(bytes_, followers.data(), followers.size(), has_longer_);
        if (followers.size() > max_short_list || bytes_.size() > max_list_bytes) {
            append_varint(entries, 1);
            counted.long_marks.push_back(entries.size());
            entries.resize(entries.size() + 4);
            counted.long_sizes.push_back(static_cast<std::int64_t>(followers.size()));
            counted.long_followers.insert(counted.long_followers.end(), followers.begin(), followers.end());
            return;
        }
        append_varint(entries, static_cast<std::uint32_t>(bytes_.size()) << 1 | 1U);
        entries.insert(entries.end(), bytes_.begin(), bytes_.end());
    }

    void end_bucket(CountedContexts& counted) {
        std::vector<std::uint8_t>& entries = counted.entries;
        while ((entries.size() - counted.bucket_begin) % 4 != 0) entries.push_back(0);
        counted.bucket_sizes.push_back(
            static_cast<std::uint32_t>((entries.size() - counted.bucket_begin) / 4));
        counted.bucket_begin = entries.size();
    }

 private:
    int bucket_bits_;
    bool has_longer_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace stategram
