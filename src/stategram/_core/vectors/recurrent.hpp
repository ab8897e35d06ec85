// The recurrent state: the hidden vector of an LSTM (Hochreiter and Schmidhuber 1997) that reads the words so
// far. Its matrix has the gates input, forget, output and new value, of the vector of the word and of the
// hidden vector before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "vectors/network.hpp"
#include "vectors/node_vectors.hpp"

namespace stategram {

class RecurrentLearner {
 public:
    // Words that are read at the same time, in as many parts of the text, and through which gradients are
    // carried back.
    static constexpr std::size_t n_streams = 32, n_steps = 32;

    RecurrentLearner(const std::vector<WordTree>& trees, std::vector<std::vector<float>> bias,
                     std::size_t n_words, std::size_t width, std::pair<float, float> dropout,
                     std::uint64_t seed);

    // How many batches a text has.
    static std::size_t n_batches(std::size_t n_events) { return n_events / n_streams / n_steps; }

    struct Rates {
        float matrix, rows;
    };
    // Learns batches [begin, end) of a text of `n_events`; the rates go from the first to the last one.
    // Returns the sum of log-probabilities by each tree.
    std::vector<double> learn(const VectorText& text, std::size_t n_events, std::size_t begin,
                              std::size_t end, std::pair<Rates, Rates> rates);

    std::size_t width() const { return width_; }
    const LearnedNodes& nodes() const { return nodes_; }
    const std::vector<float>& word_vectors() const { return words_; }
    const std::vector<float>& matrix() const { return matrix_; }
    const std::vector<float>& bias() const { return bias_; }

 private:
    // Adam (Kingma and Ba 2015).
    struct Moments {
        std::vector<float> first, second;
    };
    void learn_batch(const VectorText& text, std::size_t stream_length, std::size_t batch, Rates rates,
                     double* log_probs);
    void draw_mask(std::vector<float>& mask, float dropout);

    std::size_t width_;
    std::pair<float, float> dropout_;  // of word vectors, of hidden vectors
    LearnedNodes nodes_;
    std::vector<float> words_, word_squares_;
    std::vector<float> matrix_, bias_, matrix_gradient_, bias_gradient_;
    Moments matrix_moments_, bias_moments_;
    std::size_t n_updates_ = 0;
    std::vector<float> hidden_, cell_;  // of each stream, after the last batch
    VectorRandom random_;
    std::vector<float> inputs_, gates_, before_, cells_before_, tanh_cells_, outputs_, output_gradients_,
        input_mask_, output_mask_, input_gradients_;
};

// The network as it is kept: vectors of words in 4 bits.
class RecurrentNetwork : public VectorNetwork {
 public:
    RecurrentNetwork(std::size_t n_words, In<std::uint8_t> word_vectors, In<float> word_scales,
                     In<float> matrix, In<float> bias);

    std::size_t n_words() const override { return n_words_; }
    std::size_t width() const override { return width_; }
    std::size_t state_size() const override { return 2 * width_; }
    void clear(float* state) const override;
    void read(std::uint32_t word, float* state) const override;
    void write(const float* state, float* vector) const override;
    void read(const VectorText& text, std::size_t first, const std::vector<VectorRun>& runs, float* vectors,
              ThreadPool& pool) const override;

 private:
    // One step of several states at once. A row of `rows` is the vector of a word, then the hidden vector.
    void step(std::size_t n, const std::uint32_t* words, float* const* states, std::vector<float>& rows,
              std::vector<float>& gates) const;

    std::size_t n_words_, width_;
    In<std::uint8_t> words_;
    In<float> word_scales_, matrix_, bias_;
    std::unique_ptr<PackedMatrix> packed_;
};

}  // namespace stategram
