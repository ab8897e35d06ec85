// Lists of the words that followed a context.
//
// A long list is stored for each tree apart, in the order of its words there: the nodes of the tree where
// they part, in preorder, each with the sums of its left side; few words are not divided further. Words are
// numbered by their ranks in the tree, from the last node on the way whose right side was taken: most numbers
// are small.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/varints.hpp"

namespace stategram {

// A value that is not there, such as a word before the start of a sentence.
constexpr std::uint32_t no_value = UINT32_MAX;

// Longer lists are stored apart.
constexpr std::size_t max_short_list = 64;

struct Follower {
    std::uint32_t word, count;
    std::uint32_t contexts;  // distinct longer contexts; where these are not counted, the count
};

// For each word the difference to the one before, and whether it followed more than once. If so, how often
// more than twice; and where longer contexts are counted, whether it followed fewer of them; if so, how many
// more than one.
inline void write_list(std::vector<std::uint8_t>& bytes, const Follower* followers, std::size_t size,
                       bool has_longer) {
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const Follower& one = followers[i];
        append_varint(bytes, (one.word - before) << 1 | (one.count > 1));
        before = one.word;
        if (one.count == 1) continue;
        if (has_longer) {
            append_varint(bytes, (one.count - 2) << 1 | (one.contexts != one.count));
            if (one.contexts != one.count) append_varint(bytes, one.contexts - 1);
        } else {
            append_varint(bytes, one.count - 2);
        }
    }
}

// Returns the number of followers in a short list of `size` bytes; each word is below `n_words`.
inline std::size_t read_list(const std::uint8_t* at, std::size_t size, bool has_longer, std::size_t n_words,
                             Follower* followers) {
    const std::uint8_t* end = at + size;
    std::size_t n = 0;
    std::uint32_t word = 0;
    while (at != end) {
        if (n == max_short_list) throw std::invalid_argument("a list of followers is too long");
        std::uint32_t number;
        at = read_varint(at, end, number);
        word += number >> 1;
        if (word >= n_words) throw std::invalid_argument("a follower is not a word");
        Follower& one = followers[n++];
        one = {word, 1, 1};
        if ((number & 1U) == 0) continue;
        at = read_varint(at, end, number);
        one.count = (has_longer ? number >> 1 : number) + 2;
        one.contexts = one.count;
        if (has_longer && (number & 1U) != 0) {
            at = read_varint(at, end, one.contexts);
            ++one.contexts;
        }
    }
    return n;
}

struct LongLists {
    const std::int64_t* begins = nullptr;
    const std::uint8_t* bytes = nullptr;  // and `long_list_padding` more
    std::size_t n_lists = 0, n_bytes = 0;
};

// A record is read as a whole: so many bytes are behind the last.
constexpr std::size_t long_list_padding = 24;

// The words of a list below a node of the tree part there; or there are few: a short list.
struct LongRecord {
    std::uint32_t node = no_value;                      // `no_value`: a short list
    std::uint32_t skip = 0;                             // bytes of the left side, or of the short list
    std::uint32_t types = 0, counts = 0, contexts = 0;  // of the left side
    std::uint32_t size = 0;                             // bytes of the record itself
};
constexpr std::size_t max_leaf_list = 24;

// A control byte has the widths of four numbers: of the node from `low` on (bits 1 and 2), of the left side
// in bytes (3 and 4), of its types (5 and 6); counts and contexts have the same width, or one byte more (7).
// There may be no contexts. A short list has an odd control byte, with its size.
inline void write_record(std::vector<std::uint8_t>& bytes, const LongRecord& record, std::uint32_t low,
                         bool has_longer) {
    const auto width = [](std::uint32_t number) {
        return number < 1U << 8 ? 1U : number < 1U << 16 ? 2U : number < 1U << 24 ? 3U : 4U;
    };
    const auto write = [&](std::uint32_t number, std::uint32_t n) {
        for (std::uint32_t i = 0; i < n; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> 8 * i));
    };
    if (record.node == no_value) {
        const bool is_small = record.skip < 127;
        write(is_small ? record.skip << 1 | 1U : 255, 1);
        if (!is_small) write(record.skip, 2);
        return;
    }
    const std::uint32_t of_counts = width(std::max(record.counts, record.contexts)),
                        of_types = std::max(width(record.types), of_counts - 1),
                        of_node = width(record.node - low), of_skip = width(record.skip);
    const std::uint32_t wide = of_counts > of_types;
    write((of_node - 1) << 1 | (of_skip - 1) << 3 | (of_types - 1) << 5 | wide << 7, 1);
    write(record.node - low, of_node);
    write(record.skip, of_skip);
    write(record.types, of_types);
    write(record.counts, of_types + wide);
    if (has_longer) write(record.contexts, of_types + wide);
}

// Where a walk down a long list is: at a record, with the sums of the words below it.
class LongWalk {
 public:
    LongWalk(const LongLists& lists, std::uint32_t number, bool has_longer)
        : lists_(&lists),
          at_(static_cast<std::size_t>(lists.begins[number])),
          end_(static_cast<std::size_t>(lists.begins[number + 1])),
          has_longer_(has_longer) {}

    // The sums of the whole list come first.
    void begin() {
        sums_ = read();
        if (sums_.node == no_value) throw std::invalid_argument("a long list has no sums");
        at_ += sums_.size;
    }

    const std::uint8_t* place() const { return lists_->bytes + at_; }
    const LongRecord& sums() const { return sums_; }  // types, counts and contexts
    std::uint32_t low() const { return low_; }

    // The record here.
    const LongRecord& read() {
        if (at_ >= end_) throw std::invalid_argument("a long list is cut off");
        const std::uint8_t* at = place();  // the padding is behind it
        const std::uint32_t control = *at++;
        record_ = {};
        if ((control & 1U) != 0) {
            record_.skip = control >> 1;
            record_.size = 1;
            if (control == 255) {
                record_.skip = at[0] | std::uint32_t{at[1]} << 8;
                record_.size = 3;
            }
            return record_;
        }
        const auto next = [&](std::uint32_t width) {
            std::uint32_t number;
            std::memcpy(&number, at, 4);
            at += width;
            return number & UINT32_MAX >> (32 - 8 * width);
        };
        const std::uint32_t of_types = (control >> 5 & 3U) + 1,
                            of_counts = std::min(of_types + (control >> 7), 4U);
        record_.node = low_ + next((control >> 1 & 3U) + 1);
        record_.skip = next((control >> 3 & 3U) + 1);
        record_.types = next(of_types);
        record_.counts = next(of_counts);
        record_.contexts = has_longer_ ? next(of_counts) : record_.counts;
        record_.size = static_cast<std::uint32_t>(at - place());
        return record_;
    }

    // From a node where words part, which was read, to one of its sides.
    void go_left() {
        at_ += record_.size;
        sums_ = record_;
    }
    void go_right() {
        at_ += std::size_t{record_.size} + record_.skip;
        low_ = record_.node;
        sums_.types -= record_.types;
        sums_.counts -= record_.counts;
        sums_.contexts -= record_.contexts;
    }

    // Reads the short list here; words are ranks from `low` on, and there are `n_ranks` in the tree.
    std::size_t read_leaf(std::size_t n_ranks, Follower* followers) const {
        if (at_ + record_.size + record_.skip > end_ || low_ >= n_ranks)
            throw std::invalid_argument("a part of a long list is missing");
        return read_list(place() + record_.size, record_.skip, has_longer_, n_ranks - low_, followers);
    }

    // Calls use(rank, follower) for all words, in the order of the tree.
    template <typename Use>
    void for_each(std::size_t n_ranks, const Use& use) {
        begin();
        std::vector<std::pair<std::size_t, std::uint32_t>> right;  // where right sides begin, and their low
        Follower followers[max_short_list];
        while (true) {
            const LongRecord& record = read();
            if (record.node == no_value) {
                const std::size_t n = read_leaf(n_ranks, followers);
                for (std::size_t i = 0; i < n; ++i) use(low_ + followers[i].word, followers[i]);
                at_ += std::size_t{record.size} + record.skip;
                if (right.empty() && at_ == end_) return;
                if (right.empty() || at_ != right.back().first)
                    throw std::invalid_argument("a long list is not in order");
                low_ = right.back().second;
                right.pop_back();
            } else {
                right.emplace_back(at_ + record.size + record.skip, record.node);
                at_ += record.size;
            }
        }
    }

 private:
    const LongLists* lists_;
    std::size_t at_, end_;
    bool has_longer_;
    std::uint32_t low_ = 0;
    LongRecord sums_, record_;
};

}  // namespace stategram
