// N-grams as plain arrays (models/ngrams/plain.py), and searches in them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/prefetch.hpp"
#include "ngrams/packed_trie.hpp"

namespace stategram {

// A view of arrays that can be trusted: a model in the making.
class PlainSearch {
 public:
    PlainSearch(std::size_t vocabulary, std::size_t n_nodes, const std::uint32_t* words,
                const std::uint32_t* first_child)
        : words_(words),
          first_child_(first_child),
          n_nodes_(static_cast<std::uint32_t>(n_nodes)),
          last_window_(std::max(n_nodes_, window_size) - window_size),
          inverse_(~std::uint64_t{0} / std::max<std::size_t>(vocabulary, 1)) {}

    ChildRange children(std::uint32_t node) const { return {first_child_[node], first_child_[node + 1]}; }

    STATEGRAM_INLINE void prefetch_children(std::uint32_t node) const { prefetch(first_child_ + node); }
    STATEGRAM_INLINE void prefetch_window(ChildRange range, std::uint32_t window) const {
        prefetch(words_ + window);
        prefetch(words_ + std::min(window + window_size - 1, range.end));
    }

    // Where to look first for a number among children: they are looked at by windows of 16, and the first
    // lies around the place that the number would have if the children were spread evenly.
    std::uint32_t first_window(ChildRange range, std::uint32_t number) const {
        const std::uint32_t fan_out = range.end - range.begin;
        const std::uint32_t place =
            std::max(children_below(number, fan_out), window_size / 2) - window_size / 2;
        const std::uint32_t last = std::max(fan_out, window_size) - window_size;
        return std::min(range.begin + std::min(place, last), last_window_);
    }

    // The child with a number, or no_node; `window` is the first one.
    std::uint32_t find(ChildRange range, std::uint32_t number, std::uint32_t window) const {
        const std::uint32_t fan_out = range.end - range.begin;
        if (fan_out > window_size) return find_among_many(range, number, window);
        if (n_nodes_ < window_size) return find_one_by_one(range, number);
        const std::uint32_t inside = ((1u << fan_out) - 1) << (range.begin - window);
        const std::uint32_t equal = equal_in_window(window, number) & inside;
        return equal == 0 ? no_node : window + static_cast<std::uint32_t>(std::countr_zero(equal));
    }

    std::uint32_t find_child(std::uint32_t node, std::uint32_t number) const {
        if (node == 0) return 1 + number;
        const ChildRange range = children(node);
        return find(range, number, first_window(range, number));
    }

 private:
    static constexpr std::uint32_t window_size = 16;  // as many numbers as a cache line holds
    static constexpr int most_guesses = 4;

    // A bit for each number of a window that is the one wanted.
    std::uint32_t equal_in_window(std::uint32_t window, std::uint32_t number) const {
        static constexpr std::uint32_t bits[window_size] = {
            1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
            1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15};
        const std::uint32_t* at = words_ + window;
        std::uint32_t equal = 0;
        for (std::uint32_t i = 0; i < window_size; ++i) equal |= at[i] == number ? bits[i] : 0;
        return equal;
    }

    // Interpolation search. The first window lies within the range.
    std::uint32_t find_among_many(ChildRange range, std::uint32_t number, std::uint32_t window) const {
        std::uint32_t low = range.begin, high = range.end;
        const std::uint32_t fan_out = high - low;
        // Numbers that do not lie evenly make guesses useless; after a few the search goes on by halves.
        for (int guesses = 0; guesses < most_guesses; ++guesses) {
            const std::uint32_t first = words_[window], last = words_[window + window_size - 1];
            if (number < first) {
                high = window;
                if (high - low <= window_size) break;
                const std::uint32_t back = children_below(first - number, fan_out) + window_size / 2;
                window = high - std::min(std::max(back, window_size), high - low);
            } else if (number > last) {
                low = window + window_size;
                if (high - low <= window_size) break;
                const std::uint32_t on = std::max(children_below(number - last, fan_out), window_size / 2);
                window = low + std::min(on - window_size / 2, high - low - window_size);
            } else {
                const std::uint32_t equal = equal_in_window(window, number);
                return equal == 0 ? no_node : window + static_cast<std::uint32_t>(std::countr_zero(equal));
            }
        }
        while (high - low > window_size) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (words_[middle] <= number)
                low = middle;
            else
                high = middle;
        }
        return find_one_by_one({low, high}, number);
    }

    std::uint32_t find_one_by_one(ChildRange range, std::uint32_t number) const {
        for (std::uint32_t child = range.begin; child < range.end; ++child)
            if (words_[child] == number) return child;
        return no_node;
    }

    // fan_out * number / vocabulary, below fan_out whatever the number.
    std::uint32_t children_below(std::uint32_t number, std::uint32_t fan_out) const {
        return static_cast<std::uint32_t>(((number * inverse_ >> 32) * fan_out) >> 32);
    }

    const std::uint32_t *words_, *first_child_;
    std::uint32_t n_nodes_, last_window_;
    std::uint64_t inverse_;
};

}  // namespace stategram
