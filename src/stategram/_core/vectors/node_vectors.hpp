// The vectors of the nodes of word trees: the log-odds of the right side of node n after a vector c are
//
//     z_n = u_n . c + bias_n
//
// They are learned with one rate for each node (Adagrad over the mean square of its gradients).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vectors/matrix.hpp"
#include "word_tree/tree.hpp"

namespace stategram {

constexpr float max_node_logit = 15.0F;
constexpr float min_node_error = 1e-3F;  // what is nearly certain teaches nothing

// Log-odds within their limits; numbers that are none, of damaged vectors, become some too.
inline float limited_logit(float z) {
    return z > -max_node_logit ? (z < max_node_logit ? z : max_node_logit) : -max_node_logit;
}

// Rows of numbers in 4 bits, and the scale of each.
struct Rounded {
    std::vector<std::uint8_t> bytes;
    std::vector<float> scales;

    static Rounded of(const std::vector<float>& values, std::size_t width);
};

// The same as it is kept.
class RoundedRows {
 public:
    RoundedRows(const std::uint8_t* bytes, const float* scales, std::size_t width)
        : bytes_(bytes), scales_(scales), width_(width) {}

    const std::uint8_t* bytes(std::size_t row) const { return bytes_ + row * rounded_bytes(width_); }
    float scale(std::size_t row) const { return scales_[row]; }
    float dot(std::size_t row, const float* c) const {
        return stategram::dot(c, bytes(row), width_) * scales_[row];
    }
    void read(std::size_t row, float* values) const { unround(values, bytes(row), scales_[row], width_); }

 private:
    const std::uint8_t* bytes_;
    const float* scales_;
    std::size_t width_;
};

// The vectors of the nodes of a tree as they are kept.
struct NodeVectors {
    const WordTree* tree;
    RoundedRows vectors;
    const float* bias;
};

// The vectors of all nodes of some trees while they are learned.
class LearnedNodes {
 public:
    // `bias`: of each node, tree by tree.
    LearnedNodes(const std::vector<WordTree>& trees, std::size_t width, std::vector<std::vector<float>> bias);

    // One step for all nodes on the way to a word; adds the gradient of c, and returns the log-probability of
    // the word by each tree before the step in `log_probs`. A rate of 0 learns nothing.
    void learn(std::uint32_t word, const float* c, float rate, float* gradient, double* log_probs);

    const std::vector<float>& vectors(std::size_t tree) const { return trees_[tree].vectors; }
    const std::vector<float>& bias(std::size_t tree) const { return trees_[tree].bias; }
    std::size_t n_trees() const { return trees_.size(); }
    std::size_t width() const { return width_; }

 private:
    struct OfTree {
        const WordTree* tree;
        std::vector<float> vectors, bias, squares, bias_squares;
    };
    std::size_t width_;
    std::vector<OfTree> trees_;
};

// One step for a node, whose log-odds after c were wrong by `error`; `square` is the mean square of c. Adds
// the gradient of c.
void learn_node(float* u, float& bias, float& squares, float& bias_squares, const float* c, float square,
                float error, float rate, float* gradient, std::size_t width);

// What one step of Adagrad adds to a weight, for a gradient whose mean square over a row is `square`.
float adagrad_rate(float rate, float square, float& squares, float start);

}  // namespace stategram
