// The log10 probability of each event of a text, many sentences at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ngram_trie.hpp"
#include "threads.hpp"

namespace stategram {

struct ScoredText {
    const std::uint32_t* ids;
    std::size_t size;
    const std::int64_t* sentence_starts;  // one more than sentences, the last is `size`
    std::size_t n_sentences;
    const std::uint32_t* numbers;  // the trie's number of each id
    std::size_t n_ids;
    std::uint32_t begin_state;  // in which sentences start
    std::uint32_t first_state;  // in which the first one starts: it may go on from words before the text
};

// Where one value for each event goes: the log10 probability and the length of the n-gram that gave it; the
// state before the event. Those that are not wanted are null.
struct EventValues {
    double* log10_probs = nullptr;
    std::uint8_t* orders = nullptr;
    std::uint32_t* states = nullptr;
};

void score_text(const TrieView& trie, const ScoredText& text, EventValues values, ThreadPool& pool);

}  // namespace stategram
