// The arrays of a back-off model, as models/trie.py defines them, and the steps of a search in them.
//
// A model that is mapped from disk is not read through when it is opened. So nothing here trusts what it
// reads: a range of children has to lie among the n-grams of one more word, a link has to lead to fewer
// words. Damage then ends in an error or in wrong numbers, but never outside the arrays and never in a
// circle.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "prefetch.hpp"

namespace stategram {

// Arrays that are no model, or that were a model once.
struct DamagedModel : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

[[noreturn]] inline void throw_damaged(const char* what) {
    throw DamagedModel(std::string("the model is damaged: ") + what);
}

struct ChildRange {
    std::uint32_t begin, end;
};

// One step of a model: the n-gram found, its log10 probability with all back-off weights, the next state.
struct NgramStep {
    double log10_prob;
    std::uint32_t next;
    int order;
};

class TrieView {
 public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr int most_words = 255;

    // The arrays' shapes have to have been checked (check_shape).
    TrieView(const std::uint32_t* numbers, std::size_t vocabulary, const std::int64_t* begins, int order,
             const std::uint32_t* words, const std::uint32_t* nodes, const std::uint32_t* leaves)
        : numbers_(numbers),
          words_(words),
          nodes_(nodes),
          leaves_(leaves),
          vocabulary_(static_cast<std::uint32_t>(vocabulary)),
          n_nodes_(static_cast<std::uint32_t>(begins[order + 1])),
          last_window_(std::max(n_nodes_, window_size) - window_size),
          order_(order),
          inverse_(~std::uint64_t{0} / std::max<std::size_t>(vocabulary, 1)) {
        for (int k = 0; k < order + 2; ++k) begins_.push_back(static_cast<std::uint32_t>(begins[k]));
        for (int k = 0; k < order; ++k) levels_.push_back({nodes, 0, 4, 2, 6, 3, 0x7fffffffu});
        levels_.push_back({leaves, begin(order), 2, 0, 0, 1, 0});
    }

    int order() const { return order_; }
    std::uint32_t vocabulary() const { return vocabulary_; }
    std::uint32_t number(std::size_t id) const { return numbers_[id]; }
    std::uint32_t word(std::uint32_t node) const { return words_[node]; }
    std::uint32_t begin(int words) const { return begins_[static_cast<std::size_t>(words)]; }

    // The number of words of a node. Models have few orders: counting has no branch to guess wrongly.
    int order_of(std::uint32_t node) const {
        int k = 0;
        for (int j = 1; j <= order_; ++j) k += node >= begin(j);
        return k;
    }

    // Of a node of `words` words, fewer than the order.
    ChildRange children(std::uint32_t node, int words) const {
        const std::uint32_t* row = nodes_ + std::size_t{4} * node;
        const ChildRange range{row[2], row[6]};
        if (range.begin < begin(words + 1) || range.end < range.begin || range.end > begin(words + 2))
            throw_damaged("the children of an n-gram are not n-grams of one more word");
        return range;
    }

    float log_prob(std::uint32_t node, int words) const { return std::bit_cast<float>(*row(node, words)); }
    // Of a node of fewer words than the order.
    float backoff(std::uint32_t node) const {
        return std::bit_cast<float>(nodes_[std::size_t{4} * node + 1]);
    }
    // The root's is the root.
    std::uint32_t link(std::uint32_t node, int words) const {
        return checked_link(row(node, words)[level(words).link], words);
    }

    // All that is read of a node's row, and of the row after it.
    void prefetch_row(std::uint32_t node, int words) const {
        const std::uint32_t* at = row(node, words);
        prefetch(at);
        prefetch(at + level(words).next_first);
    }
    void prefetch_window(ChildRange range, std::uint32_t window) const {
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

    // The child with a number, or `none`; `window` is the first one.
    std::uint32_t find(ChildRange range, std::uint32_t number, std::uint32_t window) const {
        const std::uint32_t fan_out = range.end - range.begin;
        if (fan_out > window_size) return find_among_many(range, number, window);
        if (n_nodes_ < window_size) return find_one_by_one(range, number);
        const std::uint32_t inside = ((1u << fan_out) - 1) << (range.begin - window);
        const std::uint32_t equal = equal_in_window(window, number) & inside;
        return equal == 0 ? none : window + static_cast<std::uint32_t>(std::countr_zero(equal));
    }

    std::uint32_t find_child(std::uint32_t node, int words, std::uint32_t number) const {
        if (node == 0) return 1 + number;
        const ChildRange range = children(node, words);
        return find(range, number, first_window(range, number));
    }

    // What there is to know of an n-gram once it was found. The state after it is itself, if it can be
    // continued or weighs what follows, or else its longest suffix that does.
    struct Found {
        float log_prob;
        std::uint32_t next;
    };
    Found found(std::uint32_t node, int words) const {
        const Level& of = level(words);
        const std::uint32_t* at = row(node, words);
        const bool continued = (at[of.first] != at[of.next_first]) | ((at[1] & of.weight) != 0);
        const std::uint32_t suffix = checked_link(at[of.link], words);
        return {std::bit_cast<float>(at[0]), continued ? node : suffix};
    }

    // p(w | node) by the recursion of models/trie.py.
    NgramStep advance(std::uint32_t node, std::uint32_t number) const {
        double backoffs = 0;
        for (;;) {
            const int words = order_of(node);
            const std::uint32_t child = find_child(node, words, number);
            if (child != none) {
                const Found ngram = found(child, words + 1);
                return {ngram.log_prob + backoffs, ngram.next, words + 1};
            }
            backoffs += backoff(node);
            node = link(node, words);
        }
    }

 private:
    static constexpr std::uint32_t window_size = 16;  // as many numbers as a cache line holds
    static constexpr int most_guesses = 4;

    std::uint32_t checked_link(std::uint32_t to, int words) const {
        if (to >= std::max(begin(words), 1u)) throw_damaged("a link leads to an n-gram that is not shorter");
        return to;
    }

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
                return equal == 0 ? none : window + static_cast<std::uint32_t>(std::countr_zero(equal));
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
        return none;
    }

    // fan_out * number / vocabulary, below fan_out whatever the number.
    std::uint32_t children_below(std::uint32_t number, std::uint32_t fan_out) const {
        return static_cast<std::uint32_t>(((number * inverse_ >> 32) * fan_out) >> 32);
    }

    // The rows of an order: where they are and what is where in them. Leaf or not is then not for the
    // processor to guess. Leaves have no children: two times the same value instead of a first child and the
    // next one's.
    struct Level {
        const std::uint32_t* rows;
        std::uint32_t begin, size;
        std::uint32_t first, next_first, link;
        std::uint32_t weight;  // the bits of the second value by which a back-off weight is not 1
    };
    const Level& level(int words) const { return levels_[static_cast<std::size_t>(words)]; }
    const std::uint32_t* row(std::uint32_t node, int words) const {
        const Level& of = level(words);
        return of.rows + std::size_t{of.size} * (node - of.begin);
    }

    const std::uint32_t* numbers_;
    const std::uint32_t* words_;
    const std::uint32_t* nodes_;
    const std::uint32_t* leaves_;
    std::uint32_t vocabulary_, n_nodes_, last_window_;
    int order_;
    std::uint64_t inverse_;
    std::vector<std::uint32_t> begins_;
    std::vector<Level> levels_;
};

}  // namespace stategram
