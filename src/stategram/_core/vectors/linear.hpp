// The linear state: the sum of the vectors of the last words, weighted by position, and of decayed sums of
// all words so far,
//
//     c = sum_j a_j * e(w_-j) + sum_k b_k * s_k,    s_k <- d_k s_k + r(w)
//
// where * multiplies element by element (a log-bilinear model: Mnih and Hinton 2007).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "vectors/network.hpp"
#include "vectors/node_vectors.hpp"

namespace stategram {

// Where the squares of a row of word vectors begin.
constexpr float row_start = 0.1F;

struct LinearShape {
    std::size_t n_words, width, n_positions;
    std::vector<float> decays;
};

class LinearLearner {
 public:
    LinearLearner(const std::vector<WordTree>& trees, std::vector<std::vector<float>> bias, LinearShape shape,
                  std::uint64_t seed);

    // Learns the events [begin, end) of a text, which follow those of the last call unless the first is a
    // reset. The rate goes from the first to the last one. Returns the sum of log-probabilities by each tree.
    std::vector<double> learn(const VectorText& text, std::size_t begin, std::size_t end,
                              std::pair<float, float> rates);

    const LinearShape& shape() const { return shape_; }
    const LearnedNodes& nodes() const { return nodes_; }
    const std::vector<float>& near_vectors() const { return near_; }
    const std::vector<float>& far_vectors() const { return far_; }
    const std::vector<float>& positions() const { return positions_; }
    const std::vector<float>& sums() const { return sum_weights_; }

 private:
    void learn_chunk(const VectorText& text, std::size_t begin, std::size_t end, float rate,
                     double* log_probs);

    LinearShape shape_;
    LearnedNodes nodes_;
    std::vector<float> near_, near_squares_, far_, far_squares_;  // e and r; squares by row
    std::vector<float> positions_, position_squares_, sum_weights_, sum_squares_;
    std::vector<std::uint32_t> window_;  // the words since the reset, the last `n_positions` at its end
    std::vector<float> sums_;            // s_k
    std::vector<float> kept_sums_, vectors_, gradients_, carried_, row_;
};

// The network as it is kept: vectors of words in 4 bits.
class LinearNetwork : public VectorNetwork {
 public:
    LinearNetwork(std::size_t n_words, In<std::uint8_t> near_vectors, In<float> near_scales,
                  In<std::uint8_t> far_vectors, In<float> far_scales, In<float> positions, In<float> sums,
                  In<float> decays);

    std::size_t n_words() const override { return shape_.n_words; }
    std::size_t width() const override { return shape_.width; }
    std::size_t state_size() const override {
        return 1 + shape_.n_positions + shape_.decays.size() * shape_.width;
    }
    void clear(float* state) const override;
    void read(std::uint32_t word, float* state) const override;
    void write(const float* state, float* vector) const override;
    void read(const VectorText& text, std::size_t first, const std::vector<VectorRun>& runs, float* vectors,
              ThreadPool& pool) const override;

    // The same with other vectors of near words where `changed` returns some.
    void write(const float* state, float* vector,
               const std::function<const float*(std::uint32_t)>& changed) const;
    // Calls use(word, weights of its position) for the near words of a state.
    void for_each_near(const float* state, const std::function<void(std::uint32_t, const float*)>& use) const;
    // The vectors of near words.
    RoundedRows near() const { return {near_.data(), near_scales_.data(), shape_.width}; }

 private:
    LinearShape shape_;
    In<std::uint8_t> near_, far_;
    In<float> near_scales_, far_scales_, positions_, sums_;
};

}  // namespace stategram
