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

#include "simd.hpp"

namespace stategram {

[[noreturn]] inline void throw_damaged(const char* what) {
    throw std::invalid_argument(std::string("the model is damaged: ") + what);
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
          order_(order),
          inverse_(~std::uint64_t{0} / std::max<std::size_t>(vocabulary, 1)) {
        for (int k = 0; k < order + 2; ++k) begins_.push_back(static_cast<std::uint32_t>(begins[k]));
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
    bool has_children(std::uint32_t node, int words) const {
        const ChildRange range = children(node, words);
        return range.begin != range.end;
    }

    float log_prob(std::uint32_t node, int words) const {
        return std::bit_cast<float>(words < order_ ? nodes_[std::size_t{4} * node] : leaf(node)[0]);
    }
    // Of a node of fewer words than the order.
    float backoff(std::uint32_t node) const {
        return std::bit_cast<float>(nodes_[std::size_t{4} * node + 1]);
    }
    // Of any node but the root.
    std::uint32_t link(std::uint32_t node, int words) const {
        const std::uint32_t to = words < order_ ? nodes_[std::size_t{4} * node + 3] : leaf(node)[1];
        if (to >= begin(words)) throw_damaged("a link leads to an n-gram that is not shorter");
        return to;
    }

    void prefetch_node(std::uint32_t node) const { STATEGRAM_PREFETCH(nodes_ + std::size_t{4} * node); }
    void prefetch_row(std::uint32_t node, int words) const {
        if (words < order_)
            prefetch_node(node);
        else
            STATEGRAM_PREFETCH(leaf(node));
    }
    void prefetch_word(std::uint32_t node) const { STATEGRAM_PREFETCH(words_ + node); }

    // Where a number would lie if the children were spread evenly. The range must not be empty.
    std::uint32_t guess(ChildRange range, std::uint32_t number) const {
        return range.begin + children_below(number, range.end - range.begin);
    }

    // The child with a number, or `none`; `place` is the guess. The range must not be empty.
    std::uint32_t find(ChildRange range, std::uint32_t number, std::uint32_t place) const {
        std::uint32_t low = range.begin, high = range.end;
        const std::uint32_t fan_out = high - low;
        // Numbers that do not lie evenly make guesses useless; after a few the search goes on by halves.
        for (int guesses = 0; high - low > scanned && guesses < most_guesses; ++guesses) {
            const std::uint32_t found = words_[place];
            if (found == number) return place;
            if (found < number) {
                low = place + 1;
                if (low == high) return none;
                place = low + std::min(children_below(number - found, fan_out), high - low - 1);
            } else {
                high = place;
                if (low == high) return none;
                place = high - 1 - std::min(children_below(found - number, fan_out), high - low - 1);
            }
        }
        while (high - low > scanned) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (words_[middle] <= number)
                low = middle;
            else
                high = middle;
        }
        for (; low < high; ++low)
            if (words_[low] == number) return low;
        return none;
    }

    std::uint32_t find_child(std::uint32_t node, int words, std::uint32_t number) const {
        if (node == 0) return 1 + number;
        const ChildRange range = children(node, words);
        return range.begin == range.end ? none : find(range, number, guess(range, number));
    }

    // The state after an n-gram: itself, if it can be continued, or its longest suffix that can.
    std::uint32_t state_after(std::uint32_t node, int words) const {
        return words < order_ && has_children(node, words) ? node : link(node, words);
    }

    // p(w | node) by the recursion of models/trie.py.
    NgramStep advance(std::uint32_t node, std::uint32_t number) const {
        double backoffs = 0;
        for (;;) {
            const int words = order_of(node);
            const std::uint32_t child = find_child(node, words, number);
            if (child != none)
                return {log_prob(child, words + 1) + backoffs, state_after(child, words + 1), words + 1};
            backoffs += backoff(node);
            node = link(node, words);
        }
    }

 private:
    static constexpr std::uint32_t scanned = 16;  // as many numbers as a cache line holds
    static constexpr int most_guesses = 4;

    // fan_out * number / vocabulary, below fan_out whatever the number.
    std::uint32_t children_below(std::uint32_t number, std::uint32_t fan_out) const {
        return static_cast<std::uint32_t>(((number * inverse_ >> 32) * fan_out) >> 32);
    }

    const std::uint32_t* leaf(std::uint32_t node) const {
        return leaves_ + std::size_t{2} * (node - begin(order_));
    }

    const std::uint32_t* numbers_;
    const std::uint32_t* words_;
    const std::uint32_t* nodes_;
    const std::uint32_t* leaves_;
    std::uint32_t vocabulary_;
    int order_;
    std::uint64_t inverse_;
    std::vector<std::uint32_t> begins_;
};

}  // namespace stategram
