// Where everything is in the arrays of a back-off model (models/trie.py), and whether it can be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ngrams/packed_trie.hpp"

namespace stategram {

// The arrays with their sizes, as Python gave them.
struct PackedArrays {
    const std::uint32_t* numbers;
    std::size_t vocabulary;
    const std::int64_t* begins;
    std::size_t n_begins;
    const std::uint8_t* widths;  // rows of three: bits of probabilities, of weights, of first children
    std::size_t n_widths;        // rows
    const std::uint8_t* words;
    std::size_t n_words;
    const std::uint8_t* records;
    std::size_t n_records;
    const std::uint32_t* bases;
    std::size_t n_bases;
    const float* values;
    std::size_t n_values;
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

// Checks everything else, n-gram by n-gram. DamagedModel says what is wrong.
class ThreadPool;
void check_ngrams(const PackedTrie& trie, ThreadPool& pool);

}  // namespace stategram
