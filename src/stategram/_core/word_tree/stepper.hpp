// Word tree models word by word, for decoders: the history is the sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/stepper.hpp"
#include "counts/state_tree.hpp"
#include "word_tree/model_kernel.hpp"

namespace stategram {

// A state has the last words, the nearest first, as far as contexts reach, and the states of all networks
// before the last word: it is read when a word after it is scored, as most hypotheses of a decoder end
// before.
class TreeStepper final : public Stepper {
 public:
    using Labels = std::vector<In<std::uint32_t>>;
    using States = std::vector<std::shared_ptr<const StateTree>>;
    // Where a stream comes from, and how many positions back its value is: one of the labels; from their
    // number on, one of the trees of states; below 0 nothing is known of the sentence.
    using Streams = std::vector<std::pair<std::int64_t, std::int64_t>>;

    // `classes`: the class of each word as the last one; empty if there is only one.
    TreeStepper(std::shared_ptr<const TreeModelKernel> kernel, Labels labels, States states,
                const Streams& streams, In<std::uint32_t> classes, std::vector<In<float>> weights,
                In<double> tree_weights);

    std::size_t n_words() const override { return n_words_; }
    std::size_t state_size() const override { return begin_state_.size(); }
    void start(bool sentence_start, std::byte* state) const override;
    Step advance(const std::byte* state, std::uint32_t id, std::byte* after) const override;
    Feature feature(const std::string&) const override { return {}; }

 private:
    struct Value {
        std::size_t stream, source, distance;
    };
    // What one thread needs. What follows from a state stays there: decoders ask for many words after one.
    struct Scratch {
        explicit Scratch(const TreeStepper& stepper);

        std::vector<std::byte> state;
        bool is_ready = false;  // all that follows belongs to this state
        std::vector<std::uint32_t> words;
        std::vector<float> networks;        // after all words
        std::vector<std::uint32_t> values;  // of each stream
        std::vector<const std::uint32_t*> streams;
        std::uint32_t of_class = 0;
        EventVectors vectors;
        TreeModel::Scratch rows;
    };
    // Scratch of this thread while it lives.
    class Lease;

    const TreeModel& model() const { return kernel_->model(); }
    std::size_t words_size() const { return reach_ * sizeof(std::uint32_t); }
    void prepare(const std::byte* state, Scratch& scratch) const;
    void find_values(Scratch& scratch) const;
    double log10_prob(std::uint32_t word, Scratch& scratch) const;

    std::shared_ptr<const TreeModelKernel> kernel_;
    Labels labels_;
    States states_;
    std::vector<Value> values_;  // those that chains look at
    std::size_t n_words_, n_streams_, reach_ = 1;
    In<std::uint32_t> classes_;
    std::vector<In<float>> weights_;
    In<double> tree_weights_;
    std::vector<std::byte> begin_state_, null_state_;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Scratch>> free_;
};

}  // namespace stategram
