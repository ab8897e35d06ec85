// Evidence is added up as log-odds with learned weights:
//
//     logit p = sum_i x_i (E[i, q_i] + N[node set, i] + M[match set, i] + C[class, i])
//
// q_i is the count bucket of input i; frequent nodes have weights of their own, others share those of their
// depth; the match set is how many levels of the first two chains were seen; the class is that of the last
// word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "word_tree/evidence.hpp"

namespace stategram {

struct MixerShape {
    std::size_t n_inputs = 0;  // a multiple of `input_padding`
    std::size_t n_nodes = 0, n_matches = 0, n_classes = 0;

    std::size_t node_begin() const { return n_inputs * n_count_buckets; }
    std::size_t match_begin() const { return node_begin() + n_nodes * n_inputs; }
    std::size_t class_begin() const { return match_begin() + n_matches * n_inputs; }
    std::size_t size() const { return class_begin() + n_classes * n_inputs; }
};

// Where the weights of one node are.
struct MixerRow {
    const float* x;
    const std::uint8_t* buckets;
    std::size_t node, match, of_class;  // rows of the three sets
};

// Log-odds are at most 16.
inline float limited_mix(float sum) { return std::min(std::max(sum, -16.0F), 16.0F); }

// The log-odds of the right side.
float mix(const MixerShape& shape, const float* weights, const MixerRow& row);

// The same from the sum of what all inputs add by their buckets, which are not read.
float mix_from(float sum, const MixerShape& shape, const float* weights, const MixerRow& row);

// What one input adds to the log-odds.
float contribution(const MixerShape& shape, const float* weights, const MixerRow& row, std::size_t input);

// One step of Adagrad towards the side that was taken; returns the log-odds before it.
float learn(const MixerShape& shape, float* weights, float* squares, const MixerRow& row, bool right,
            float rate);

// log(1 / (1 + exp(-logit))).
double log_sigmoid(double logit);

}  // namespace stategram
