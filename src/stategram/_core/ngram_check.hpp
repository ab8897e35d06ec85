// Whether the arrays of a back-off model are what models/trie.py says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ngram_trie.hpp"
#include "threads.hpp"

namespace stategram {

// Flat arrays with their sizes, as Python gave them.
struct TrieArrays {
    const std::uint32_t* numbers;
    std::size_t vocabulary;
    const std::int64_t* begins;
    std::size_t n_begins;
    const std::uint32_t* words;
    std::size_t n_words;
    const std::uint32_t* nodes;  // rows of four
    std::size_t n_nodes;
    const std::uint32_t* leaves;  // rows of two
    std::size_t n_leaves;
};

// What a TrieView relies on: sizes, the numbers of the vocabulary, where each order begins. Reads little of a
// large model.
void check_shape(const TrieArrays& arrays);

// Everything else, n-gram by n-gram. std::invalid_argument says what is wrong.
void check_ngrams(const TrieArrays& arrays, ThreadPool& pool);

}  // namespace stategram
