// Words in arrays of Python's: word i is letters[offsets[i] .. offsets[i + 1]).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "text/part_encoder.hpp"
#include "text/word_table.hpp"

namespace stategram {

class WordViews {
 public:
    // Checked here: no word reaches outside of the letters, or holds NUL, with which tables pad words.
    WordViews(const In<std::uint8_t>& letters, const In<std::int64_t>& offsets)
        : letters_(reinterpret_cast<const char*>(letters.data())), offsets_(offsets.data()) {
        check_offsets(offsets, letters.size(), "letters and offsets do not fit together");
        require(
            std::find(letters.data(), letters.data() + letters.size(), 0) == letters.data() + letters.size(),
            "a word holds NUL");
        size_ = offsets.size() - 1;
    }

    std::size_t size() const { return size_; }
    std::string_view operator[](std::size_t i) const {
        return {letters_ + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
    }

 private:
    const char* letters_;
    const std::int64_t* offsets_;
    std::size_t size_ = 0;
};

// The words of a vocabulary, by their ids; throws std::invalid_argument for what is none.
inline WordTable vocabulary_table(const WordViews& words) {
    WordTable table;
    for (std::size_t i = 0; i < words.size(); ++i) {
        require(i >= special_words || words[i] == fixed_words[i],
                "the vocabulary does not start with the special words");
        require(table.find_or_add(words[i]) == i, "a word is there twice");
    }
    require(table.size() >= special_words, "the vocabulary does not start with the special words");
    return table;
}

}  // namespace stategram
