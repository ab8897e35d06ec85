// The functions that bind.cpp gives to Python, where it says what they return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "counts/levels.hpp"

namespace stategram {

// Of each row, from offsets[r] to offsets[r + 1]: offsets, columns, counts.
using CountRows = std::tuple<Out<std::int64_t>, Out<std::uint32_t>, Out<std::uint32_t>>;
// bigrams.cpp
CountRows count_bigrams(In<std::uint32_t> ids, std::uint32_t first, std::uint32_t types, int threads);
CountRows transpose_counts(In<std::int64_t> offsets, In<std::uint32_t> columns, In<std::uint32_t> counts,
                           std::size_t n_columns);
CountRows bigram_rows(In<std::uint32_t> first_child, In<std::uint32_t> words, In<std::uint32_t> counts,
                      In<std::uint32_t> numbers, std::uint32_t begin, std::uint32_t end, int threads);

// ngrams.cpp
CountLevels count_ngrams(In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::uint32_t> numbers,
                         std::uint32_t before, int order, std::uint32_t first, std::uint32_t last,
                         int threads);
std::tuple<Out<std::uint8_t>, Out<std::int64_t>> count_run(In<std::uint32_t> ids,
                                                           In<std::int64_t> sentence_starts,
                                                           In<std::uint32_t> numbers, std::uint32_t begin,
                                                           std::uint32_t end, int order,
                                                           In<std::uint32_t> bounds, int threads);

// runs.cpp
CountLevels merge_ngrams(std::vector<In<std::uint8_t>> runs, In<std::uint32_t> numbers, std::uint32_t end,
                         int order, int kept, std::uint32_t first, std::uint32_t last);
Out<std::uint8_t> merge_runs(std::vector<In<std::uint8_t>> runs, In<std::uint32_t> numbers, std::uint32_t end,
                             int order, std::uint32_t first, std::uint32_t last);

// suffixes.cpp
void link_ngrams(In<std::uint32_t> words, In<std::uint32_t> parents_first_child,
                 In<std::uint32_t> parents_suffix, In<std::uint32_t> lower_first_child,
                 In<std::uint32_t> lower_words, std::uint32_t n_words, std::size_t begin, std::size_t end,
                 InOut<std::uint32_t> suffixes, InOut<std::uint32_t> continuations, int threads);

// context_tree.cpp
CountLevels count_contexts(In<std::uint32_t> ids, In<std::int64_t> sentence_starts, std::uint32_t before,
                           const std::vector<In<std::uint32_t>>& maps,
                           const std::vector<std::int64_t>& distances, std::uint32_t n_values,
                           std::uint32_t first, std::uint32_t last, int threads);
CountRows sum_rows(In<std::int64_t> offsets, In<std::uint32_t> columns, In<std::uint32_t> counts,
                   In<std::uint32_t> rows, In<std::int64_t> group_offsets, std::uint32_t n_columns,
                   int threads);
std::tuple<Out<std::uint32_t>, Out<std::uint8_t>> find_contexts(
    In<std::uint32_t> ids, In<std::int64_t> sentence_starts, std::uint32_t before,
    const std::vector<In<std::uint32_t>>& maps, const std::vector<std::int64_t>& distances,
    const std::vector<In<std::uint32_t>>& first_child, const std::vector<In<std::uint32_t>>& symbols,
    int threads);

}  // namespace stategram
