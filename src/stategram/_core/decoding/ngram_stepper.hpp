// Back-off models word by word. A state has the n-grams of the last 1, 2, ... words; those that it does not
// know are no_node.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/stepper.hpp"
#include "ngrams/packed_layout.hpp"
#include "ngrams/scoring.hpp"

namespace stategram {

class NgramStepper final : public Stepper, PackedModel {
 public:
    NgramStepper(In<std::uint32_t> numbers, In<std::int64_t> begins, Matrix<std::uint8_t> widths,
                 In<std::uint8_t> words, In<std::uint8_t> records, In<std::uint32_t> bases, In<float> values,
                 bool closed)
        : PackedModel(numbers, begins, widths, words, records, bases, values, closed) {
        require(numbers.size() > end_id, "the vocabulary has no special words");
        trie.advance({}, number(begin_id), begin_state_);
    }

    std::size_t n_words() const override { return trie.vocabulary(); }
    std::size_t state_size() const override { return sizeof(std::uint32_t) * most_known(); }

    void start(bool sentence_start, std::byte* state) const override {
        put(sentence_start ? begin_state_ : NgramState{}, state);
    }

    Step advance(const std::byte* state, std::uint32_t id, std::byte* after) const override {
        NgramState next;
        const NgramStep step = trie.advance(get(state), number(id), next);
        put(next, after);
        // A decoder has work to do before it asks for the next word: by then what is read first is near.
        for (int k = 1; k < next.length; ++k)
            PackedTrie::prefetch_record(trie.level(k), next.nodes[static_cast<std::size_t>(k - 1)]);
        return {step.log10_prob, step.order};
    }

    // All words at once, which is quicker than one after the other.
    void score_words(bool sentence_start, const std::uint32_t* ids, std::size_t n,
                     Step* steps) const override {
        std::vector<std::int64_t> starts{0};
        for (std::size_t i = 0; i < n; ++i)
            if (ids[i] == end_id || i + 1 == n) starts.push_back(static_cast<std::int64_t>(i + 1));
        std::vector<double> log10_probs(n);
        std::vector<std::uint8_t> orders(n);
        const ScoredText text{ids,
                              n,
                              starts.data(),
                              starts.size() - 1,
                              arrays.numbers.data(),
                              arrays.numbers.size(),
                              {},
                              sentence_start ? begin_state_ : NgramState{}};
        score_text(trie, text, {log10_probs.data(), orders.data(), nullptr, nullptr});
        for (std::size_t i = 0; i < n; ++i) steps[i] = {log10_probs[i], orders[i]};
    }

    Feature feature(const std::string& name) const override {
        if (name == "length")
            return [this](const std::byte* state) { return static_cast<float>(get(state).length); };
        if (name == "backoff")
            return [this](const std::byte* bytes) {
                const NgramState state = get(bytes);
                if (state.length == 0) return 0.0f;
                return PackedTrie::backoff(trie.level(state.length),
                                           state.nodes[state.length - std::size_t{1}]);
            };
        return {};
    }

 private:
    std::size_t most_known() const { return static_cast<std::size_t>(trie.order() - 1); }
    std::uint32_t number(std::uint32_t id) const { return arrays.numbers[id]; }

    NgramState get(const std::byte* bytes) const {
        NgramState state;
        std::memcpy(state.nodes.data(), bytes, state_size());
        for (std::size_t k = 0; k < most_known(); ++k) {
            if (state.nodes[k] == no_node) continue;
            require(state.nodes[k] < trie.level(static_cast<int>(k + 1)).size,
                    "the state is none of this model");
            state.length = static_cast<std::uint8_t>(k + 1);
        }
        return state;
    }
    void put(NgramState state, std::byte* bytes) const {
        std::fill(state.nodes.begin() + state.length, state.nodes.end(), no_node);
        std::memcpy(bytes, state.nodes.data(), state_size());
    }

    NgramState begin_state_;
};

}  // namespace stategram
