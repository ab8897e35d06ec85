// Writes the contexts of one level of a chain, in the order of their hashes.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "big_array.hpp"
#include "chain_level.hpp"
#include "checks.hpp"

namespace stategram {

constexpr std::size_t max_contexts_per_bucket = 16;
// Twice a word must be a number of four bytes of seven bits.
constexpr std::size_t max_words = std::size_t{1} << 27;

// The arrays of a level; those of long lists are their beginnings, words, counts and longer contexts.
struct LevelArrays {
    std::vector<std::uint32_t> directory;
    BigArray<std::uint8_t> entries;  // on large pages
    std::vector<std::int64_t> long_begins{0};
    std::vector<std::uint32_t> long_words, long_counts, long_contexts;
};

inline auto to_numpy(LevelArrays&& arrays) {
    return std::tuple(to_numpy(std::move(arrays.directory)), to_numpy(std::move(arrays.entries)),
                      to_numpy(std::move(arrays.long_begins)), to_numpy(std::move(arrays.long_words)),
                      to_numpy(std::move(arrays.long_counts)), to_numpy(std::move(arrays.long_contexts)));
}

// The contexts of consecutive buckets.
struct CountedContexts {
    explicit CountedContexts(std::size_t n_tail) : in_tails(n_tail) {}

    std::vector<std::uint32_t> bucket_sizes;  // in units of four bytes
    std::vector<std::uint8_t> entries;
    std::size_t bucket_begin = 0;
    std::vector<std::size_t> long_marks;  // where the entries hold the number of a long list
    std::vector<std::int64_t> long_sizes;
    std::vector<Follower> long_followers;
    std::array<std::uint64_t, 2> seen_in{};  // words after one, and after two, distinct longer contexts
    std::uint64_t contexts = 0, ngrams = 0;
    std::vector<std::uint64_t> in_tails;  // longer contexts by their level

    // Adds what comes next.
    void append(CountedContexts&& other) {
        for (const std::size_t mark : other.long_marks) {
            const auto number = static_cast<std::uint32_t>(n_long_++);
            std::memcpy(&other.entries[mark], &number, 4);
        }
        const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
        add(long_sizes, other.long_sizes);
        add(bucket_sizes, other.bucket_sizes);
        add(entries, other.entries);
        add(long_followers, other.long_followers);
        for (std::size_t i = 0; i < 2; ++i) seen_in[i] += other.seen_in[i];
        for (std::size_t i = 0; i < in_tails.size(); ++i) in_tails[i] += other.in_tails[i];
        contexts += other.contexts;
        ngrams += other.ngrams;
        other = CountedContexts(0);
    }

    LevelArrays take_arrays() {
        LevelArrays arrays;
        arrays.directory.reserve(bucket_sizes.size() + 1);
        std::uint64_t at = 0;
        arrays.directory.push_back(0);
        for (const std::uint32_t bucket : bucket_sizes) {
            at += bucket;
            require(at <= UINT32_MAX, "a level of a chain is larger than 16 GB");
            arrays.directory.push_back(static_cast<std::uint32_t>(at));
        }
        arrays.entries = BigArray<std::uint8_t>(entries.size());
        std::copy(entries.begin(), entries.end(), arrays.entries.data());
        entries = {};
        for (const std::int64_t size : long_sizes)
            arrays.long_begins.push_back(arrays.long_begins.back() + size);
        for (const Follower& one : long_followers) {
            arrays.long_words.push_back(one.word);
            arrays.long_counts.push_back(one.count);
            arrays.long_contexts.push_back(one.contexts);
        }
        return arrays;
    }

 private:
    std::size_t n_long_ = 0;
};

class LevelWriter {
 public:
    LevelWriter(int bucket_bits, bool has_longer, std::size_t n_tail)
        : bucket_bits_(bucket_bits), has_longer_(has_longer), n_tail_(n_tail) {}

    bool has_longer() const { return has_longer_; }
    std::size_t bucket(std::uint64_t hash) const { return hash >> (64 - bucket_bits_); }

    // Adds a context; if it was seen once, with its tail.
    void add(std::uint64_t hash, const std::vector<Follower>& followers, const std::uint16_t* tail,
             CountedContexts& counted) {
        counted.contexts += 1;
        counted.ngrams += followers.size();
        for (const Follower& one : followers)
            if (one.contexts <= 2) ++counted.seen_in[one.contexts - 1];
        std::vector<std::uint8_t>& entries = counted.entries;
        const std::uint32_t check = hash_check(hash);
        for (int shift = 0; shift < 24; shift += 8)
            entries.push_back(static_cast<std::uint8_t>(check >> shift));
        if (followers.size() == 1 && followers[0].count == 1) {
            write_number(entries, followers[0].word << 1);
            for (std::size_t i = 0; i < n_tail_; ++i) {
                entries.push_back(static_cast<std::uint8_t>(tail[i]));
                entries.push_back(static_cast<std::uint8_t>(tail[i] >> 8));
                counted.in_tails[i] += tail[i] != 0;
            }
            return;
        }
        bytes_.clear();
        if (followers.size() <= max_short_list)
            write_list(bytes_, followers.data(), followers.size(), has_longer_);
        if (followers.size() > max_short_list || bytes_.size() > max_list_bytes) {
            write_number(entries, 1);
            counted.long_marks.push_back(entries.size());
            entries.resize(entries.size() + 4);
            counted.long_sizes.push_back(static_cast<std::int64_t>(followers.size()));
            counted.long_followers.insert(counted.long_followers.end(), followers.begin(), followers.end());
            return;
        }
        write_number(entries, static_cast<std::uint32_t>(bytes_.size()) << 1 | 1U);
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
    std::size_t n_tail_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace stategram
