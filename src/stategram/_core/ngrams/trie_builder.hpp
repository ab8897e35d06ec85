// N-grams in any order to plain arrays (models/ngrams/plain.py), level by level.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/most_words.hpp"
#include "base/threads.hpp"
#include "ngrams/plain_search.hpp"

namespace stategram {

// An n-gram as the node of all its words but the last, and that word.
struct NewNgram {
    std::uint32_t parent, word;
    float log_prob, backoff;
};
using NgramChunks = std::vector<std::vector<NewNgram>>;

// The words of an n-gram, in their trie's numbers; those after its end are 0.
using NgramWords = std::array<std::uint32_t, most_words>;

class TrieBuilder {
 public:
    // The values of the words are in the order of their numbers.
    TrieBuilder(std::size_t order, const std::vector<float>& log_probs, const std::vector<float>& backoffs);

    std::size_t order() const { return order_; }
    // The length of the longest n-grams so far.
    std::size_t level() const { return begins_.size() - 2; }

    // Adds the n-grams that are a word longer than the longest so far. Gives parent and word of one that is
    // there twice: the trie is then of no use.
    std::optional<std::pair<std::uint32_t, std::uint32_t>> add_level(const NgramChunks& chunks,
                                                                     ThreadPool& pool);

    // The node of an n-gram, or no_node.
    std::uint32_t find(const std::uint32_t* words, std::size_t length) const;

    // The same for many n-grams at a time: memory is asked for well before it is needed.
    void find_many(const NgramWords* words, std::size_t count, std::size_t length,
                   std::uint32_t* found) const;

    // Adds every start, of 2 .. level() words, of the given n-grams that is missing, with the probability
    // that backing off gives it. Gives their number and, for each node of the last level, its new number.
    std::pair<std::size_t, std::vector<std::uint32_t>> insert_starts(const std::vector<NgramWords>& ngrams,
                                                                     ThreadPool& pool);

    const std::vector<std::int64_t>& begins() const { return begins_; }
    std::vector<std::uint32_t> take_words() { return std::move(words_); }
    std::vector<float> take_log_probs() { return std::move(log_probs_); }
    std::vector<float> take_backoffs() { return std::move(backoffs_); }
    std::vector<std::uint32_t> take_first_child() { return std::move(first_child_); }

 private:
    std::uint32_t begin(std::size_t words) const { return static_cast<std::uint32_t>(begins_[words]); }
    NewNgram ngram(std::uint32_t node) const;  // without its parent
    float backed_off(const std::uint32_t* words, std::size_t length) const;

    void open_level(std::size_t count);
    void put(std::uint32_t node, const NewNgram& ngram);
    void place_children(const NgramChunks& chunks, ThreadPool& pool);
    // Gives the first parent with a word twice among its children.
    std::optional<std::pair<std::uint32_t, std::uint32_t>> sort_children(ThreadPool& pool);

    std::size_t order_;
    std::uint32_t n_words_;
    std::vector<std::int64_t> begins_;
    std::vector<std::uint32_t> words_;
    std::vector<float> log_probs_, backoffs_;
    std::vector<std::uint32_t> first_child_;
    std::optional<PlainSearch> view_;  // of the levels so far
};

}  // namespace stategram
