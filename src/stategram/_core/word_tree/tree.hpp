// A binary tree whose leaves are the words: predicting a word is a walk of yes/no decisions from the root.
//
// The path to a word is a code of up to 32 bits, aligned to the left. Words are ranked by their codes, so
// that the words below a node are an interval of ranks; the node is named by the first rank of its right
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stategram {

constexpr int max_depth = 32;

class WordTree {
 public:
    // A length of 0: the word is not in the tree. Throws unless the codes are a complete prefix code.
    WordTree(const std::uint32_t* codes, const std::uint8_t* lengths, std::size_t n_words);

    std::size_t n_words() const { return codes_.size(); }
    std::size_t n_leaves() const { return words_.size(); }
    std::uint32_t code(std::uint32_t word) const { return codes_[word]; }
    int length(std::uint32_t word) const { return lengths_[word]; }
    std::uint32_t rank(std::uint32_t word) const { return ranks_[word]; }
    std::uint32_t word_at(std::uint32_t rank) const { return words_[rank]; }
    std::uint32_t code_at(std::uint32_t rank) const { return codes_by_rank_[rank]; }

    // The nodes on the way to a word, the root first.
    const std::uint32_t* path(std::uint32_t word) const { return &nodes_[path_begins_[word]]; }

    // The first node, and those of the two sides of a node; 0 where there is none.
    std::uint32_t root() const { return root_; }
    std::uint32_t right(std::uint32_t node) const { return sides_[2 * node + 1]; }
    std::uint32_t left(std::uint32_t node) const { return sides_[2 * node]; }

    // The first rank of the right side of the node at `depth` whose words have the ranks [begin, end).
    std::uint32_t split(std::uint32_t begin, std::uint32_t end, int depth) const;

    static bool bit(std::uint32_t code, int depth) { return (code >> (31 - depth)) & 1U; }

    // At which depth the ways to two different words part.
    int parting(std::uint32_t code, std::uint32_t other) const { return leading_zeros(code ^ other); }

    static int leading_zeros(std::uint32_t bits);

 private:
    std::vector<std::uint32_t> codes_, ranks_;  // by word
    std::vector<std::uint8_t> lengths_;
    std::vector<std::uint32_t> words_, codes_by_rank_;
    std::vector<std::uint32_t> nodes_;
    std::vector<std::uint32_t> path_begins_;
    std::uint32_t root_ = 0;
    std::vector<std::uint32_t> sides_;  // left and right of each node
};

inline int WordTree::leading_zeros(std::uint32_t bits) {
#if defined(__GNUC__)
    return bits == 0 ? 32 : __builtin_clz(bits);
#else
    int n = 0;
    for (std::uint32_t mask = 0x80000000U; mask != 0 && (bits & mask) == 0; mask >>= 1) ++n;
    return n;
#endif
}

}  // namespace stategram
