// Where everything is in the arrays of a back-off model (models/ngrams/packed.py), and whether it can be
// there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/arrays.hpp"
#include "base/threads.hpp"
#include "ngrams/packed_trie.hpp"

namespace stategram {

struct PackedArrays {
    In<std::uint32_t> numbers;
    In<std::int64_t> begins;
    Matrix<std::uint8_t> widths;  // rows of three: bits of probabilities, of weights, of first children
    In<std::uint8_t> words, records;
    In<std::uint32_t> bases;
    In<float> values;
};

// How much of each array the n-grams of one length take.
struct LevelSizes {
    std::size_t words, records, bases, log_prob_values, backoff_values;
};

// The bits of a word's number.
unsigned word_bits(std::size_t vocabulary);

// The bits of the record of an n-gram of `words` words. Those of one word need no word; those of two have it
// in an array of its own, where many children can be searched; the others have it in their record.
unsigned record_bits(int words, int order, unsigned bits_of_word, const std::uint8_t* widths);

// `words` is the length of the n-grams, `size` how many there are. Widths are at most 32.
LevelSizes level_sizes(int words, int order, std::size_t size, unsigned bits_of_word,
                       const std::uint8_t* widths);

// The levels of a model. DamagedModel if the arrays do not fit together; reads little of a large model.
std::vector<PackedLevel> packed_levels(const PackedArrays& arrays);

// The arrays, and what searches them.
struct PackedModel {
    PackedModel(In<std::uint32_t> numbers, In<std::int64_t> begins, Matrix<std::uint8_t> widths,
                In<std::uint8_t> words, In<std::uint8_t> records, In<std::uint32_t> bases, In<float> values,
                bool closed)
        : arrays{numbers, begins, widths, words, records, bases, values},
          trie(packed_levels(arrays), word_bits(std::max<std::size_t>(numbers.size(), 1)), closed) {}

    const PackedArrays arrays;
    const PackedTrie trie;
};

// Checks everything else, n-gram by n-gram. DamagedModel says what is wrong.
void check_ngrams(const PackedTrie& trie, ThreadPool& pool);

}  // namespace stategram
