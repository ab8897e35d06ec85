// The functions that bind.cpp gives to Python, where it says what they return.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arrays.hpp"
#include "ngrams/plain_trie.hpp"

namespace stategram {

// bootstrap.cpp
Out<double> bootstrap_sums(In<double> values, std::size_t width, std::size_t resamples, std::uint64_t seed,
                           int threads);

// distribution_rows.cpp
Out<double> row_entropies(In<double> rows, In<double> masses, In<double> entropies, int threads);
void add_backoff_rows(const PlainTrie& trie, In<float> probs, In<float> backoffs, In<std::uint32_t> nodes,
                      In<float> weights, InOut<float> rows, int threads);
template <typename Real>
void add_category_rows(In<Real> of_categories, In<std::int32_t> categories, In<Real> word_probs,
                       std::size_t n_categories, InOut<Real> rows, int threads);

}  // namespace stategram
