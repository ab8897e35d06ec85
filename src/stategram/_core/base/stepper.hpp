// A model word by word, as decoders ask for it: a small state that can be copied and compared, and one call
// for each word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace stategram {

// The ids of special words in every vocabulary (text/vocabulary.py).
constexpr std::uint32_t unknown_id = 0, begin_id = 1, end_id = 2;

struct Step {
    double log10_prob;
    int order;  // the length of the n-gram that gave it; 0 if the model has no n-grams of words
};

class Stepper {
 public:
    // Reads a feature of the history that led to a state, by which a mixture chooses its weights.
    using Feature = std::function<float(const std::byte* state)>;

    virtual ~Stepper() = default;

    virtual std::size_t n_words() const = 0;
    // In bytes. States need no alignment. Equal bytes have the same future.
    virtual std::size_t state_size() const = 0;
    // Writes the state at the start of a sentence, or the empty state, before which no words are known.
    virtual void start(bool sentence_start, std::byte* state) const = 0;
    // Writes the state after a word, an id below n_words, to other memory than `state`. A state of the right
    // size may come from anywhere, such as another model or a damaged pickle: nothing is read outside of
    // arrays, whatever is in it.
    virtual Step advance(const std::byte* state, std::uint32_t id, std::byte* after) const = 0;
    // Scores the words of a sentence, or of a text that begins anywhere. After </s> no words are known.
    virtual void score_words(bool sentence_start, const std::uint32_t* ids, std::size_t n, Step* steps) const;
    // Empty if the model has no such feature.
    virtual Feature feature(const std::string& name) const = 0;
};

// What a state holds at a place.
template <typename T>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <typename T>
void store(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof value);
}

// Memory for a state: most are small.
class StateMemory {
 public:
    explicit StateMemory(std::size_t size) : many_(size > sizeof few_ ? size : 0) {}
    std::byte* data() { return many_.empty() ? few_ : many_.data(); }

 private:
    std::byte few_[256];
    std::vector<std::byte> many_;
};

inline void Stepper::score_words(bool sentence_start, const std::uint32_t* ids, std::size_t n,
                                 Step* steps) const {
    StateMemory memory(state_size()), other(state_size());
    std::byte *state = memory.data(), *after = other.data();
    start(sentence_start, state);
    for (std::size_t i = 0; i < n; ++i) {
        steps[i] = advance(state, ids[i], after);
        if (ids[i] == end_id) start(false, after);
        std::swap(state, after);
    }
}

}  // namespace stategram
