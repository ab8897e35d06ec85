// The log10 probability of each event of a text, many sentences at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/threads.hpp"
#include "ngrams/packed_trie.hpp"

namespace stategram {

struct ScoredText {
    const std::uint32_t* ids;
    std::size_t size;
    const std::int64_t* sentence_starts;  // one more than sentences, the last is `size`
    std::size_t n_sentences;
    const std::uint32_t* numbers;  // the trie's number of each id
    std::size_t n_ids;
    NgramState begin_state;  // in which sentences start
    NgramState first_state;  // in which the first one starts: it may go on from words before the text
};

// Where one value for each event goes: the log10 probability and the length of the n-gram that gave it; how
// many words the state before the event knows, and its weight. Those that are not wanted are null.
struct EventValues {
    double* log10_probs = nullptr;
    std::uint8_t* orders = nullptr;
    float* lengths = nullptr;
    float* backoffs = nullptr;
};

void score_text(const PackedTrie& trie, const ScoredText& text, EventValues values, ThreadPool& pool);
// The same without other threads.
void score_text(const PackedTrie& trie, const ScoredText& text, EventValues values);

}  // namespace stategram
