#include "ngram_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace stategram {
namespace {

constexpr std::size_t block = std::size_t{1} << 16;

void require(bool holds, const char* what) {
    if (!holds) throw_damaged(what);
}

void check_log_prob(std::uint32_t bits) {
    require(std::bit_cast<float>(bits) <= 0, "a log probability is above 0 or not a number");
}

void check_nodes(const TrieArrays& trie, std::size_t from, std::size_t to, std::size_t order) {
    std::size_t words = 0;
    while (words + 1 < order && static_cast<std::int64_t>(from) >= trie.begins[words + 1]) ++words;
    for (std::size_t node = from; node < to; ++node) {
        // An order may have no n-grams at all.
        while (words + 1 < order && static_cast<std::int64_t>(node) >= trie.begins[words + 1]) ++words;
        const std::uint32_t* row = trie.nodes + 4 * node;
        // Rising from the right place for each order to the right place for the next: no order is left.
        require(row[2] <= row[6] && row[6] <= trie.n_words, "the children of n-grams are not in order");
        for (std::size_t child = row[2]; child < row[6]; ++child) {
            require(trie.words[child] < trie.vocabulary, "the number of a word is not below the vocabulary");
            require(child == row[2] || trie.words[child - 1] < trie.words[child],
                    "the words after an n-gram are not in rising order");
        }
        if (node == 0) continue;
        check_log_prob(row[0]);
        const float backoff = std::bit_cast<float>(row[1]);
        require(backoff < std::numeric_limits<float>::infinity(), "a back-off weight is not a number");
        require(row[3] < trie.begins[words], "a link leads to an n-gram that is not shorter");
    }
}

void check_leaves(const TrieArrays& trie, std::size_t from, std::size_t to, std::size_t order) {
    for (std::size_t leaf = from; leaf < to; ++leaf) {
        check_log_prob(trie.leaves[2 * leaf]);
        require(trie.leaves[2 * leaf + 1] < trie.begins[order],
                "a link leads to an n-gram that is not shorter");
    }
}

}  // namespace

void check_shape(const TrieArrays& trie) {
    require(trie.n_begins >= 3 && trie.n_begins <= TrieView::most_words + 2,
            "it has no orders, or more than 255");
    const std::size_t order = trie.n_begins - 2;
    require(
        trie.begins[0] == 0 && trie.begins[1] == 1 && std::is_sorted(trie.begins, trie.begins + order + 2),
        "the orders do not begin one after the other");
    const std::int64_t total = trie.begins[order + 1];
    require(total < std::numeric_limits<std::uint32_t>::max(), "it has 2^32 n-grams or more");
    require(trie.vocabulary > 0 && trie.begins[2] - 1 == static_cast<std::int64_t>(trie.vocabulary),
            "not every word of the vocabulary has a unigram");
    const auto inner = static_cast<std::size_t>(trie.begins[order]);
    require(trie.n_words == static_cast<std::size_t>(total) && trie.n_nodes == inner + 1 &&
                trie.n_leaves == static_cast<std::size_t>(total) - inner,
            "the sizes of its arrays do not fit together");
    for (std::size_t k = 0; k <= order; ++k)
        require(trie.nodes[4 * static_cast<std::size_t>(trie.begins[k]) + 2] == trie.begins[k + 1],
                "the children of an order do not begin with the next order");
    std::vector<bool> seen(trie.vocabulary);
    for (std::size_t id = 0; id < trie.vocabulary; ++id) {
        const std::uint32_t number = trie.numbers[id];
        require(number < trie.vocabulary && !seen[number], "two words have the same number, or one has none");
        seen[number] = true;
    }
}

void check_ngrams(const TrieArrays& trie, ThreadPool& pool) {
    check_shape(trie);
    const std::size_t order = trie.n_begins - 2, inner = trie.n_nodes - 1;
    // Rising and below the vocabulary (see check_nodes), the root's children can only be all words in order.
    pool.run((inner + block - 1) / block, [&](std::size_t i, int) {
        check_nodes(trie, i * block, std::min(inner, (i + 1) * block), order);
    });
    pool.run((trie.n_leaves + block - 1) / block, [&](std::size_t i, int) {
        check_leaves(trie, i * block, std::min(trie.n_leaves, (i + 1) * block), order);
    });
}

}  // namespace stategram
