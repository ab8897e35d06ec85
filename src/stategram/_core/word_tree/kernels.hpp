// The functions that bind.cpp gives to Python, where it says what they return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"

namespace stategram {

// Of a text of 40 million events, more at a time gain next to nothing.
constexpr std::size_t default_pass = std::size_t{1} << 22;

// Directory, entries; of long lists their beginnings, words, counts and longer contexts; the numbers of
// contexts, of n-grams, and of those in one and in two longer contexts.
using ChainLevelArrays = std::tuple<Out<std::uint32_t>, Out<std::uint8_t>, Out<std::int64_t>,
                                    Out<std::uint32_t>, Out<std::uint32_t>, Out<std::uint32_t>, std::uint64_t,
                                    std::uint64_t, std::tuple<std::uint64_t, std::uint64_t>>;

// codes.cpp
std::pair<Out<std::uint32_t>, Out<std::uint8_t>> word_tree_codes(In<std::int64_t> counts,
                                                                 In<std::int64_t> labels,
                                                                 In<std::int64_t> merges,
                                                                 std::uint32_t begin_word,
                                                                 std::uint32_t end_word);

// chain_counts.cpp
void extend_context_hashes(InOut<std::uint64_t> hashes, In<std::uint32_t> values, int threads);
ChainLevelArrays count_chain_level(InOut<std::uint64_t> hashes, In<std::uint32_t> words,
                                   std::optional<In<std::uint32_t>> next, std::uint32_t min_count,
                                   int threads, std::size_t events_per_pass);

// long_lists.cpp
std::pair<Out<std::int64_t>, Out<std::uint8_t>> divide_long_lists(
    In<std::int64_t> begins, In<std::uint32_t> words, In<std::uint32_t> counts, In<std::uint32_t> contexts,
    In<std::uint32_t> codes, In<std::uint8_t> lengths, bool has_longer, int threads);

}  // namespace stategram
