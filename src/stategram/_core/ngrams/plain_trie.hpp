// The n-grams of a back-off model as plain arrays (models/ngrams/plain.py), and backing off in them:
//
//     p(w | h) = p(hw)                     if the model has the n-gram hw
//                backoff(h) p(w | h')      else, h' being h without its first word; backoff(h) = 1 if not
//                there
//
// The link of an n-gram is its longest proper suffix that the model has. If hw is not there, the search goes
// on at the link of h; where it ends, it has found the longest suffix of hw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/arrays.hpp"
#include "base/threads.hpp"
#include "ngrams/plain_search.hpp"

namespace stategram {

class PlainTrie {
 public:
    // DamagedModel if the arrays do not fit together: nothing leads outside of them then.
    PlainTrie(In<std::uint32_t> numbers_in, In<std::int64_t> begins_in, In<std::uint32_t> words_in,
              In<float> log_probs_in, In<float> backoffs_in, In<std::uint32_t> first_child_in, int threads);

    // DamagedModel if a value is none that a model can have.
    void check(int threads) const;

    const In<std::uint32_t> numbers;
    const In<std::int64_t> begins;
    const In<std::uint32_t> words;
    const In<float> log_probs, backoffs;
    const In<std::uint32_t> first_child;

    std::size_t order() const { return begins.size() - 2; }
    std::size_t begin(std::size_t level) const { return static_cast<std::size_t>(begins[level]); }
    std::size_t size() const { return words.size(); }
    std::size_t n_words() const { return numbers.size(); }
    std::size_t n_histories() const { return backoffs.size(); }
    bool has_children(std::size_t node) const { return first_child[node] != first_child[node + 1]; }

    // The n-gram with one more word, a number; 0, which is nobody's child, if there is none.
    std::uint32_t child(std::uint32_t node, std::uint32_t word) const {
        const std::uint32_t found = search_->find_child(node, word);
        return found == no_node ? 0 : found;
    }

    // The link of each node, and log10 p(w | h') of each n-gram hw; computed when they are first needed.
    In<std::uint32_t> links(int threads) const;
    In<float> lower_log_probs(int threads) const;

    // The child of each node with a word; 0 where there is none.
    Out<std::uint32_t> children(In<std::uint32_t> nodes, In<std::uint32_t> of_words, int threads) const;
    // The longest suffix of each row of words that is a history; `lengths` of them count.
    Out<std::uint32_t> find_histories(Matrix<std::uint32_t> rows, In<std::uint8_t> lengths,
                                      int threads) const;
    // The log10 probability of a word after each history.
    Out<double> log10_probs_after(In<std::uint32_t> histories, In<std::uint32_t> of_words, int threads) const;
    // The log10 probabilities of the n-grams of another model; `numbers_here` are those of its words.
    Out<double> score(const PlainTrie& other, In<std::uint32_t> numbers_here, int threads) const;
    // The log10 back-off weights with which the probabilities after each history sum to one; those of all
    // words sum to `sum_of_words`.
    Out<float> normalising_backoffs(std::size_t n_predicted, double sum_of_words, int threads) const;

 private:
    struct Found {
        double log_prob;
        std::uint32_t ngram;
    };
    struct Links {
        In<std::uint32_t> suffixes;
        In<float> lower_log_probs;
    };

    const Links& linked(ThreadPool& pool) const;
    Found find(const std::uint32_t* links, std::uint32_t history, std::uint32_t word) const;
    void check_histories(const In<std::uint32_t>& histories, const In<std::uint32_t>& of_words) const;
    // Calls use(history, first, last) for each history of one word less: its n-grams are [first, last).
    template <typename Use>
    void for_ngrams(std::size_t length, ThreadPool& pool, const Use& use) const;

    std::optional<PlainSearch> search_;
    mutable std::once_flag once_;
    mutable Links links_;
};

}  // namespace stategram
