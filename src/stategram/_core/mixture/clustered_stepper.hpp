// Clustered models word by word, and all events of a text.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/stepper.hpp"
#include "mixture/clustered_model.hpp"

namespace stategram {

// A state has the last words, the nearest last, and what their context is on each level.
class ClusteredStepper final : public Stepper {
 public:
    ClusteredStepper(std::shared_ptr<const StateTree> tree, StateTables tables, Matrix<double> weights,
                     In<double> frequencies, In<std::uint32_t> categories, In<double> word_probs)
        : model_(std::move(tree), std::move(tables), std::move(weights), std::move(frequencies),
                 std::move(categories), std::move(word_probs)),
          words_size_(model_.width() * sizeof(std::uint32_t)) {}

    std::size_t n_words() const override { return model_.n_words(); }
    std::size_t state_size() const override { return words_size_ + model_.depth() * sizeof(ContextState); }

    void start(bool sentence_start, std::byte* state) const override {
        for (std::size_t at = 0; at < words_size_; at += sizeof(std::uint32_t))
            store(state + at, sentence_start ? begin_id : unknown_id);
        find_context(state);
    }

    Step advance(const std::byte* state, std::uint32_t id, std::byte* after) const override {
        std::memcpy(after, state + sizeof id, words_size_ - sizeof id);
        store(after + words_size_ - sizeof id, id);
        std::array<ContextState, StateTree::most_levels> levels;
        std::memcpy(levels.data(), state + words_size_, model_.depth() * sizeof(ContextState));
        for (std::size_t level = 0; level < model_.depth(); ++level)
            require(levels[level].state < model_.n_states() && levels[level].bucket < model_.n_buckets(),
                    "the state is none of this model");
        for (std::size_t at = 0; at < words_size_; at += sizeof id)
            require(load<std::uint32_t>(state + at) < n_words(), "the state is none of this model");
        find_context(after);
        return {std::log10(model_.probability(levels.data(), id)), 0};
    }

    Feature feature(const std::string& name) const override {
        const std::size_t contexts = words_size_;
        if (name == "state")
            return [at = contexts + (model_.depth() - 1) * sizeof(ContextState)](const std::byte* state) {
                return static_cast<float>(load<ContextState>(state + at).state);
            };
        for (std::size_t level = 0; level < model_.depth(); ++level)
            if (name == "size-" + std::to_string(level + 1))
                return [at = contexts + level * sizeof(ContextState)](const std::byte* state) {
                    return static_cast<float>(load<ContextState>(state + at).bucket);
                };
        return {};
    }

    std::tuple<Out<double>, Out<float>, std::vector<Out<float>>> score_text(
        In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::uint32_t> history, bool with_states,
        const std::vector<bool>& with_buckets, int threads) const;

 private:
    // Writes what the context of a state's words is.
    void find_context(std::byte* state) const {
        std::array<ContextState, StateTree::most_levels> levels;
        model_.find(
            [&](std::size_t distance) {
                return load<std::uint32_t>(state + words_size_ - distance * sizeof(std::uint32_t));
            },
            levels.data());
        std::memcpy(state + words_size_, levels.data(), model_.depth() * sizeof(ContextState));
    }

    ClusteredModel model_;
    std::size_t words_size_;
};

}  // namespace stategram
