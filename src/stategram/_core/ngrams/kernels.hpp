// The functions that bind.cpp gives to Python, where it says what they return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/arrays.hpp"

namespace stategram {

// estimates.cpp
void interpolate_ngrams(In<std::uint32_t> first_child, In<std::uint32_t> counts, In<std::uint32_t> suffixes,
                        In<double> lower, In<std::uint8_t> keep, In<double> discounts, bool witten_bell,
                        std::size_t begin, std::size_t end, InOut<double> probs, InOut<double> backoffs,
                        int threads);
void discount_ngrams(In<std::uint32_t> first_child, In<std::uint32_t> counts, In<std::uint8_t> keep,
                     In<double> ratios, std::size_t n_predicted, std::size_t begin, std::size_t end,
                     InOut<double> probs, int threads);
void normalise_ngrams(In<std::uint32_t> first_child, In<std::uint32_t> suffixes, In<double> lower,
                      In<std::uint8_t> keep, std::size_t n_predicted, std::size_t begin, std::size_t end,
                      InOut<double> probs, InOut<double> backoffs, InOut<double> sums, int threads);
Out<std::int64_t> counts_of_counts(In<std::uint32_t> counts, std::uint32_t most);
void log10_floats(In<double> values, InOut<float> logs, int threads);

// pruning.cpp
void word_frequencies(In<std::uint32_t> first_child, In<std::uint32_t> words, In<float> log_probs,
                      In<std::uint8_t> keep, In<float> unigram_log_probs, In<float> backoffs,
                      std::uint32_t begin, std::uint32_t end, InOut<double> frequencies);
void history_probs(In<std::uint32_t> first_child, In<double> parents, In<float> log_probs,
                   InOut<double> probs, int threads);
void ngram_worths(In<std::uint32_t> first_child, In<double> history_prob, In<float> backoffs,
                  In<float> lower_log_probs, In<float> log_probs, In<std::uint8_t> keep, InOut<double> worths,
                  int threads);
void raise_worths(In<std::uint32_t> first_child, In<double> of_children, InOut<double> worths, int threads);

// choice.cpp
std::tuple<Out<std::uint32_t>, Out<std::uint32_t>, Out<float>, Out<float>> choose_ngrams(
    In<float> targets, In<float> lower, In<std::uint32_t> lower_rows, In<double> occupancies,
    double threshold, int rounds, std::size_t n_words, int threads);

// trie_assembly.cpp
void assemble_level(In<std::uint32_t> words, In<float> log_probs, In<float> backoffs,
                    In<std::uint32_t> first_child, In<std::uint32_t> ranks, In<std::uint32_t> next_ranks,
                    std::uint32_t next_begin, std::size_t begin, std::size_t end,
                    InOut<std::uint32_t> words_out, InOut<float> log_probs_out, InOut<float> backoffs_out,
                    InOut<std::uint32_t> first_child_out, int threads);

// trie_packing.cpp
void pack_ngrams(int length, int order, In<std::uint32_t> words, In<float> log_probs, In<float> backoffs,
                 In<std::uint32_t> first_child, std::uint32_t children_begin, unsigned bits_of_word,
                 In<std::uint8_t> widths, In<float> log_prob_table, In<float> backoff_table,
                 std::size_t begin, std::size_t end, InOut<std::uint8_t> words_out,
                 InOut<std::uint8_t> records_out, InOut<std::uint32_t> bases_out, int threads);
unsigned child_bits(In<std::uint32_t> first_child);
Out<float> distinct_values(In<float> values, std::size_t limit);

}  // namespace stategram
