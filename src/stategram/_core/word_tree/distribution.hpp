// The probabilities of all words by one tree. Most nodes are where no context has words: there the log-odds
// are those of frequencies and vector states, and are found for many nodes at a time. All sums are added in
// the order of `mix`: a word has the probability that it is scored with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "word_tree/cache.hpp"
#include "word_tree/evidence.hpp"
#include "word_tree/mixer.hpp"

namespace stategram {

// How a tree is read with one set of weights.
struct TreeReading {
    const TreeEvidence* evidence;
    std::size_t tree, n_chains;
    std::size_t n_vectors, cache_input;  // the number of networks; the first input of the caches
    MixerShape shape;
    const float* weights;
    const std::vector<std::uint32_t>* node_sets;
};

class TreeDistribution {
 public:
    explicit TreeDistribution(const TreeReading& reading);
    // Other weights from now on.
    void use(const float* weights);

    // What one thread needs.
    struct Scratch {
        explicit Scratch(const TreeDistribution& of);

        // A node where contexts have words, and the sum of what its evidence adds by its buckets.
        struct Node {
            std::uint32_t node;
            float sum;
        };
        // Estimates of the last level of a chain at a node, by continuation and by counts.
        struct NodeEstimates {
            std::size_t chain = SIZE_MAX;
            float right[2], left[2], logit[2];
        };
        struct Input {
            std::size_t first, n, end;  // inputs of a level; the end of its nodes
        };
        std::vector<float> logits;
        std::vector<double> sides, probabilities;  // by node; by rank
        std::vector<std::uint32_t> matches;        // by node
        std::vector<NodeEstimates> estimates;
        std::vector<std::uint32_t> places;  // of nodes in `nodes`, and 1; 0: none
        std::vector<Node> nodes;
        std::vector<float> rows;  // the evidence at these nodes
        std::vector<Input> inputs;
        std::vector<std::uint32_t> level_nodes;  // of all levels, one after the other
        std::vector<float> level_x;
        std::vector<std::uint8_t> level_buckets;
        std::vector<std::pair<std::uint32_t, Follower>> followers;
        std::vector<PathSums::Sum> before;  // the sums of lower ranks
        std::vector<std::uint32_t> with_words;
        std::vector<float> x;
        std::vector<std::uint8_t> buckets;
    };

    // Adds `weight` times the probability of each word to a row, by its id. `at_nodes` has the evidence of
    // each network; `cache` may be null.
    void add(const EventContexts& contexts, std::uint32_t of_class, const float* at_nodes,
             const TextCache* cache, double weight, double* row, Scratch& scratch) const;

 private:
    void read_list(std::size_t chain, std::size_t level, const EventContexts& contexts,
                   Scratch& scratch) const;
    void add_sums(std::size_t chain, std::size_t level, bool is_last, const std::uint32_t* nodes, int n,
                  const SideSums& sums, Scratch& scratch) const;
    void mix_inputs(std::uint32_t of_class, const float* at_nodes, const TextCache* cache,
                    Scratch& scratch) const;

    TreeReading of_;
    const WordTree* tree_;
    std::size_t n_bare_, n_padded_;
    std::vector<float> root_x_, root_sum_, node_weights_;  // by node; of each bare input
    std::vector<std::uint32_t> begins_, ends_;             // by node: the ranks of its words
    // All nodes, those above first and the left side before the right one; whether each is on the right side,
    // and twice its depth.
    std::vector<std::uint32_t> order_;
    std::vector<std::uint8_t> ways_;
    std::vector<std::uint32_t> ranks_;  // by word; behind all others: not in the tree
};

}  // namespace stategram
