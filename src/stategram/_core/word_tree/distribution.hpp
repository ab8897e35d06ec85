// The probabilities of all words by one tree. Most nodes are where no context has words: there the log-odds
// are those of frequencies and vector states, and are found for many nodes at a time. All sums are added in
// the order of `mix`: a word has the probability that it is scored with.
#pragma once

#include <cstddef>
#include <cstdint>
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

    // What one thread needs.
    struct Scratch {
        explicit Scratch(const TreeDistribution& of);

        // A node where contexts have words.
        struct Node {
            std::uint32_t node, match = 0;
            std::size_t chain;  // of which there are estimates
            float sum = 0, lanes[input_padding] = {};
            float right[2] = {}, left[2] = {}, logit[2] = {};  // estimates of the last level, by continuation and by counts
        };
        // The evidence of one level there.
        struct Level {
            std::uint32_t place;
            float x[2];
            std::uint8_t buckets[2];
        };
        struct Input {
            std::size_t first, n, end;  // inputs; the end of its evidence
        };
        std::vector<float> logits;
        std::vector<double> sides, probabilities;
        std::vector<std::uint32_t> places;  // of nodes in `nodes`, and 1; 0: none
        std::vector<Node> nodes;
        std::vector<Level> levels;
        std::vector<Input> inputs;
        std::vector<float> x;
        std::vector<std::uint8_t> buckets;
    };

    // Adds `weight` times the probability of each word to a row, by its id. `at_nodes` has the evidence of
    // each network; `cache` may be null.
    void add(const EventContexts& contexts, std::uint32_t of_class, const float* at_nodes,
             const TextCache* cache, double weight, double* row, Scratch& scratch) const;

 private:
    // The words [begin, end) by rank, below a node; the place of their probability.
    struct Below {
        std::uint32_t node, begin, end, place;
    };
    void read_list(std::size_t chain, std::size_t level, const FoundList& list, Scratch& scratch) const;
    Scratch::Node& touch(std::uint32_t node, Scratch& scratch) const;
    void mix_inputs(std::uint32_t of_class, const float* at_nodes, const TextCache* cache,
                    Scratch& scratch) const;

    TreeReading of_;
    const WordTree* tree_;
    std::size_t n_bare_, n_padded_;
    std::vector<float> root_x_, root_sum_, node_weights_;  // by node; of each bare input
    std::vector<std::uint32_t> leaves_;                    // the places of words, by rank
    std::vector<Below> order_;                             // of all nodes: those above first
};

}  // namespace stategram
