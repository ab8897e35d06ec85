// The likeliest words after one history, or one drawn by its probability.
//
// Nodes are expanded one at a time: below a node, the followers of each context are those of an interval of
// ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "word_tree/cache.hpp"
#include "word_tree/evidence.hpp"
#include "word_tree/mixer.hpp"
#include "word_tree/vector_inputs.hpp"

namespace stategram {

class TreeSearch {
 public:
    struct Settings {
        std::size_t n_chains, n_inputs, cache_input;  // the first input of the caches
        MixerShape shape;
        const float* weights;
        const std::vector<std::uint32_t>* node_sets;
        std::uint32_t of_class;
        const TextCache* cache;  // null: none
    };
    // `vectors` has those of one event.
    TreeSearch(const TreeEvidence& evidence, std::size_t tree, const EventContexts& contexts,
               Settings settings, const VectorInputs* inputs, const EventVectors& vectors);

    // The words [begin, end) by rank, below a node, and the probability of getting there.
    struct Subtree {
        std::uint32_t begin, end, node;
        int depth;
        double probability;

        bool is_word() const { return end - begin == 1; }
        bool operator<(const Subtree& other) const { return probability < other.probability; }
    };
    Subtree root() const { return {0, static_cast<std::uint32_t>(tree_->n_leaves()), tree_->root(), 0, 1.0}; }
    // Its right and its left side.
    std::pair<Subtree, Subtree> divide(const Subtree& subtree);

    double probability(std::uint32_t word);
    // The word in whose range a quantile lies, 0 <= quantile < 1: words by rank, as wide as they are
    // probable.
    std::uint32_t word_at(double quantile);

 private:
    struct Ranked {
        std::uint32_t rank, counts, contexts;  // sums up to and including the word
    };
    // The words of a list below a node: places in the list.
    struct Range {
        std::uint32_t list, begin, end;
    };
    std::uint32_t place(const Range& range, std::uint32_t rank) const;
    double log_odds(const Subtree& subtree);

    const TreeEvidence* evidence_;
    std::size_t number_;
    const WordTree* tree_;
    Settings settings_;
    struct List {
        std::size_t chain, level;
        std::vector<Ranked> words;
    };
    std::vector<List> lists_;
    std::unordered_map<std::uint32_t, double> nodes_;  // the log-odds of nodes
    std::vector<float> x_;
    std::vector<std::uint8_t> buckets_;
    const VectorInputs* inputs_;
    EventVectors vectors_;
    std::vector<double> similar_;  // masses of similar histories before each rank
};

// The `top` words of the highest probability by trees with these weights, with their probabilities.
std::vector<std::pair<double, std::uint32_t>> likeliest_words(std::vector<TreeSearch>& trees,
                                                              const double* weights, std::size_t top,
                                                              const TreeEvidence& evidence);

}  // namespace stategram
