// Words and their counts, of several tables put together, and the vocabulary that is chosen from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/word_table.hpp"

namespace stategram {

// Words one after the other: word i is letters[offsets[i] .. offsets[i + 1]).
struct WordList {
    std::vector<std::uint8_t> letters;
    std::vector<std::int64_t> offsets{0};

    void add(std::string_view word) {
        letters.insert(letters.end(), word.begin(), word.end());
        offsets.push_back(static_cast<std::int64_t>(letters.size()));
    }
};

// The order of use: add; choose or use; the ids of the vocabulary.
class WordMerger {
 public:
    // Begins with the special words.
    WordMerger();

    // The number of a word here, to which its count is added.
    std::uint32_t add(std::string_view word, std::uint64_t count);
    // Replaces what was added.
    void set_count(std::uint32_t word, std::uint64_t count) { counts_[word] = count; }

    // The `size` most frequent words that occur at least `min_count` times, after the special words.
    WordList choose(std::size_t size, std::uint64_t min_count);
    // The words of a vocabulary that was chosen elsewhere, the special ones first.
    void use(const WordTable& vocabulary);

    // The id of a word that was added, by its number here; that of <unk> if it was not chosen.
    std::uint32_t id(std::uint32_t word) const { return ids_[word]; }
    // The same of any word.
    std::uint32_t id(std::string_view word) const;
    bool is_chosen() const { return !ids_.empty(); }
    // How often each id of the vocabulary occurs.
    std::vector<std::uint64_t> counts() const;

 private:
    WordTable words_;
    std::vector<std::uint64_t> counts_;
    std::vector<std::uint32_t> ids_;  // of all words, once they are chosen
    std::size_t size_ = 0;            // of the vocabulary
};

}  // namespace stategram
