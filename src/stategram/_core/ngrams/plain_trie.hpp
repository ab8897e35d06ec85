// The n-grams of a back-off model as plain arrays, which models/plain_trie.py describes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arrays.hpp"
#include "base/threads.hpp"

namespace stategram {

struct PlainTrie {
    In<std::uint32_t> numbers;
    In<std::int64_t> begins;
    In<std::uint32_t> words;
    In<float> log_probs;
    In<float> backoffs;
    In<std::uint32_t> first_child;

    std::size_t order() const { return begins.size() - 2; }
    std::size_t begin(std::size_t level) const { return static_cast<std::size_t>(begins[level]); }
    std::size_t size() const { return words.size(); }
    bool has_children(std::size_t node) const { return first_child[node] != first_child[node + 1]; }

    // The child of a node with a last word; 0, which is nobody's child, if there is none.
    std::size_t child(std::size_t node, std::uint32_t word) const;
};

// Whether the arrays are what they should be: then nothing leads outside of them. Throws if the model is
// damaged.
void check_plain(const PlainTrie& trie, ThreadPool& pool);

}  // namespace stategram
