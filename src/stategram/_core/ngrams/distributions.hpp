// The distribution of a back-off model after a history, and its entropy, from the n-grams that the model has.
//
// The distribution P_k after the last k words is p(h w) for the words w that follow them in an n-gram h w,
// and the back-off weight b times P_{k-1} for all others. So a sum over all words follows from the sum after
// one word less, and from the children of h alone:
//
//     sum_w f(P_k(w)) = sum_children f(p(h w)) + sum_w f(b P_{k-1}(w)) - sum_children f(b P_{k-1}(w))
//
// and with f(p) = p ln p, f(b p) = b f(p) + b ln(b) p: no history takes longer than it has children.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ngrams/packed_trie.hpp"

namespace stategram {

// What each word counts, by its number: `masses` as a word, 0 for <s>; `entropies` what is added for it if it
// stands for several words, as a category does.
struct WordValues {
    const double* masses;
    const double* entropies;
};

// The entropies, in nats, of the distributions after histories: of each state, its n-grams of 1, 2, ...
// words. What was computed for a history serves all longer ones.
class NgramEntropies {
 public:
    NgramEntropies(const PackedTrie& trie, WordValues values);

    double after(const NgramState& state);

 private:
    // Over all words: m p, m p ln p, e p.
    struct Sums {
        double masses = 0, logs = 0, entropies = 0;

        void add(double factor, const WordValues& values, std::uint32_t number, double log_prob);
    };
    using Histories = std::array<NgramHistory, most_words>;

    Sums extend(const Sums& shorter, const Histories& histories, int k) const;
    double log_prob(const Histories& histories, int k, std::uint32_t number) const;

    const PackedTrie& trie_;
    WordValues values_;
    Sums of_no_words_;
    std::array<std::unordered_map<std::uint32_t, Sums>, most_words> known_;  // by length and n-gram
};

// Adds the distribution after a state to a row of all words by id, each probability times `weight`.
class NgramRows {
 public:
    // `unigram`: the distribution without a history, by id; `ids`: the id of each number.
    NgramRows(const PackedTrie& trie, const double* unigram, const std::uint32_t* ids);

    void add(const NgramState& state, double weight, double* row);

 private:
    const PackedTrie& trie_;
    const double* unigram_;
    const std::uint32_t* ids_;
    std::vector<double> own_;  // of the words that follow in n-grams
    std::vector<std::uint8_t> is_own_;
    std::vector<std::uint32_t> found_;
};

}  // namespace stategram
