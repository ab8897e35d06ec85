// The arrays of a back-off model, as models/ngrams/packed.py defines them, and the steps of a search in them.
//
// A model that is mapped from disk is not read through when it is opened. So nothing here trusts what it
// reads: a range of children has to lie among the n-grams of one more word. Damage then ends in an error or
// in wrong numbers, but never outside the arrays.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/damaged_model.hpp"
#include "base/most_words.hpp"
#include "base/prefetch.hpp"

namespace stategram {

static_assert(std::endian::native == std::endian::little, "arrays of bits are little-endian");

constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

// Numbers of a few bits each, one after the other. An array of them ends with bytes that are no number's, so
// that a number can be read as part of 64 bits, and a few numbers whether they are there or not.
constexpr unsigned most_read_at_once = 16;  // of at most 128 bits
constexpr std::size_t bits_padding = most_read_at_once * 128 / 8 + 8;

inline std::uint64_t low_bits(unsigned width) { return (std::uint64_t{1} << width) - 1; }

inline std::uint64_t bits_at(const std::uint8_t* bytes, std::uint64_t bit) {
    std::uint64_t word;
    std::memcpy(&word, bytes + (bit >> 3), sizeof word);
    return word >> (bit & 7);
}

// How the values of an n-gram length are stored: as float32, or as numbers of values in a table.
struct ValueCode {
    unsigned bits = 0;  // 32: the float itself
    const float* table = nullptr;

    float value(std::uint64_t code) const {
        const auto low = static_cast<std::uint32_t>(code & low_bits(bits));
        return bits == 32 ? std::bit_cast<float>(low) : table[low];
    }
};

struct PackedLevel {
    std::uint32_t size = 0;               // n-grams of this length
    std::uint32_t n_children = 0;         // of the next length
    const std::uint8_t* words = nullptr;  // the number of the last word of each; none for single words
    unsigned word_stride = 0;             // bits from one to the next
    const std::uint8_t* records = nullptr;
    unsigned record_stride = 0;
    // Where in a record: first child (less its block's), log10 probability, log10 weight.
    unsigned child_at = 0, log_prob_at = 0, backoff_at = 0;
    unsigned child_bits = 0;
    const std::uint32_t* bases = nullptr;  // the first child of each block of n-grams
    ValueCode log_probs, backoffs;
};

constexpr unsigned block_shift = 4;  // 16 n-grams have a base in common

struct ChildRange {
    std::uint32_t begin = 0, end = 0;
};

// An n-gram as a history: its children and its weight.
struct NgramHistory {
    ChildRange children;
    float backoff = 0;

    bool matters() const { return children.begin != children.end || backoff != 0; }
};

// What a model knows of the words so far: for 1, 2, ... `length` last words their n-gram among those of that
// length, or no_node. It is no longer than the longest n-gram that can be continued or weighs what follows.
struct NgramState {
    std::array<std::uint32_t, most_words - 1> nodes{};
    std::uint8_t length = 0;

    bool operator==(const NgramState& other) const {
        return length == other.length &&
               std::equal(nodes.begin(), nodes.begin() + length, other.nodes.begin());
    }
};

struct NgramStep {
    double log10_prob;
    int order;  // the length of the n-gram found
};

class PackedTrie {
 public:
    // Shapes have to have been checked (packed_layout.hpp).
    // `closed`: whether the end of each n-gram, all words but the first, is an n-gram too.
    PackedTrie(std::vector<PackedLevel> levels, unsigned word_bits, bool closed)
        : levels_(std::move(levels)),
          closed_(closed),
          word_mask_(low_bits(word_bits)),
          inverse_(~std::uint64_t{0} / std::max<std::size_t>(levels_[0].size, 1)) {}

    int order() const { return static_cast<int>(levels_.size()); }
    std::uint32_t vocabulary() const { return levels_[0].size; }
    bool closed() const { return closed_; }
    // Of n-grams of `words` words, from 1 on.
    const PackedLevel& level(int words) const { return levels_[static_cast<std::size_t>(words - 1)]; }

    std::uint32_t word(const PackedLevel& of, std::uint32_t node) const {
        return static_cast<std::uint32_t>(bits_at(of.words, std::uint64_t{node} * of.word_stride) &
                                          word_mask_);
    }

    static std::uint32_t first_child(const PackedLevel& of, std::uint32_t node) {
        const std::uint64_t record =
            bits_at(of.records, std::uint64_t{node} * of.record_stride + of.child_at);
        return of.bases[node >> block_shift] + static_cast<std::uint32_t>(record & low_bits(of.child_bits));
    }
    static float log_prob(const PackedLevel& of, std::uint32_t node) {
        return of.log_probs.value(
            bits_at(of.records, std::uint64_t{node} * of.record_stride + of.log_prob_at));
    }
    static float backoff(const PackedLevel& of, std::uint32_t node) {
        return of.backoffs.value(bits_at(of.records, std::uint64_t{node} * of.record_stride + of.backoff_at));
    }
    // Of an n-gram of fewer words than the order.
    static NgramHistory history(const PackedLevel& of, std::uint32_t node) {
        const ChildRange range{first_child(of, node), first_child(of, node + 1)};
        if (range.begin > range.end || range.end > of.n_children)
            throw_damaged("the children of an n-gram are not n-grams of one more word");
        return {range, backoff(of, node)};
    }

    static STATEGRAM_INLINE void prefetch_record(const PackedLevel& of, std::uint32_t node) {
        const std::uint8_t* at = of.records + (std::uint64_t{node} * of.record_stride >> 3);
        prefetch(at);
        prefetch(at + 15);
        if (of.bases != nullptr) prefetch(of.bases + (node >> block_shift));
    }
    // Where `find` looks first.
    STATEGRAM_INLINE void prefetch_children(const PackedLevel& of, ChildRange range,
                                            std::uint32_t number) const {
        const std::uint32_t fan_out = range.end - range.begin;
        const std::uint32_t first = fan_out <= window_size ? range.begin : first_window(range, number);
        const std::uint8_t* at = of.words + (std::uint64_t{first} * of.word_stride >> 3);
        prefetch(at);
        prefetch(at + (std::min(fan_out, window_size) * of.word_stride >> 3));
    }

    // The child with a number among n-grams of a length, or no_node. Children are spread evenly between 0
    // and the size of the vocabulary, so that the search begins where the number should be.
    std::uint32_t find(const PackedLevel& of, ChildRange range, std::uint32_t number) const {
        const std::uint32_t fan_out = range.end - range.begin;
        if (fan_out <= few) return find_in_window<few>(of, range.begin, fan_out, number);
        if (fan_out <= window_size) return find_in_window<window_size>(of, range.begin, fan_out, number);
        const std::uint32_t window = first_window(range, number);
        if (word(of, window) <= number && number <= word(of, window + window_size - 1))
            return find_in_window<window_size>(of, window, window_size, number);
        return find_by_halves(of, range, number);
    }

    // p(w | h) = p(h w) if the model has that n-gram, else backoff(h) p(w | h without its first word).
    // Returns it, and the state after the word.
    NgramStep advance(const NgramState& state, std::uint32_t number, NgramState& next) const {
        std::array<NgramHistory, most_words> histories;
        for (int k = 1; k <= state.length; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const std::uint32_t node = state.nodes[at - 1];
            histories[at] = node == no_node ? NgramHistory{} : history(level(k), node);
            prefetch_children(level(k + 1), histories[at].children, number);
        }
        next.nodes[0] = number;
        int longest = 0;  // words of the history before the n-gram found
        std::uint32_t found = number;
        for (int k = 1; k <= state.length; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const std::uint32_t child = find(level(k + 1), histories[at].children, number);
            if (k < order() - 1) next.nodes[at] = child;
            if (child == no_node) {
                if (closed_) break;
                continue;
            }
            longest = k;
            found = child;
        }
        double weights = 0;
        for (int k = longest + 1; k <= state.length; ++k)
            weights += double{histories[static_cast<std::size_t>(k)].backoff};
        const double log10_prob = log_prob(level(longest + 1), found) + weights;
        int length = std::min(longest + 1, order() - 1);
        while (length > 0) {
            const std::uint32_t node = next.nodes[static_cast<std::size_t>(length - 1)];
            if (node != no_node && history(level(length), node).matters()) break;
            --length;
        }
        next.length = static_cast<std::uint8_t>(length);
        return {log10_prob, longest + 1};
    }

 private:
    static constexpr std::uint32_t few = 4, window_size = most_read_at_once;

    // fan_out * number / vocabulary, below fan_out whatever the number.
    std::uint32_t children_below(std::uint32_t number, std::uint32_t fan_out) const {
        return static_cast<std::uint32_t>(((number * inverse_ >> 32) * fan_out) >> 32);
    }

    // Around the place that a number would have if more children than a window has were spread evenly.
    std::uint32_t first_window(ChildRange range, std::uint32_t number) const {
        const std::uint32_t fan_out = range.end - range.begin;
        const std::uint32_t place =
            std::max(children_below(number, fan_out), window_size / 2) - window_size / 2;
        return range.begin + std::min(place, fan_out - window_size);
    }

    // Reads `Size` n-grams, even if there are fewer: no choice, and nothing to guess for the processor.
    template <std::uint32_t Size>
    std::uint32_t find_in_window(const PackedLevel& of, std::uint32_t window, std::uint32_t size,
                                 std::uint32_t number) const {
        std::uint32_t equal = 0;
        std::uint64_t bit = std::uint64_t{window} * of.word_stride;
        for (std::uint32_t i = 0; i < Size; ++i, bit += of.word_stride)
            equal |= static_cast<std::uint32_t>((bits_at(of.words, bit) & word_mask_) == number) << i;
        equal &= (1u << size) - 1;
        return equal == 0 ? no_node : window + static_cast<std::uint32_t>(std::countr_zero(equal));
    }

    std::uint32_t find_by_halves(const PackedLevel& of, ChildRange range, std::uint32_t number) const {
        auto [low, high] = range;
        const std::uint32_t guess = low + children_below(number, high - low);
        std::uint32_t step = window_size;
        if (word(of, guess) <= number) {
            low = guess;
            while (high - low > step && word(of, low + step) <= number) {
                low += step;
                step *= 2;
            }
            high = low + std::min(step, high - low);
        } else {
            high = guess;
            while (high - low > step && word(of, high - step) > number) {
                high -= step;
                step *= 2;
            }
            low = high - std::min(step, high - low);
        }
        while (high - low > window_size) {
            const std::uint32_t middle = low + (high - low) / 2;
            (word(of, middle) <= number ? low : high) = middle;
        }
        return find_in_window<window_size>(of, low, high - low, number);
    }

    std::vector<PackedLevel> levels_;
    bool closed_;
    std::uint64_t word_mask_;
    std::uint64_t inverse_;
};

}  // namespace stategram
