// Finding a child of a trie's node. Words have shuffled numbers, so that the children of a node lie evenly
// between 0 and the number of words: their place is guessed, and the search starts there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stategram {

constexpr std::uint32_t no_node = UINT32_MAX;

class PlaceGuess {
 public:
    explicit PlaceGuess(std::uint32_t n_words) : scale_(UINT64_MAX / (n_words == 0 ? 1 : n_words)) {}

    // About where a word should be between two nodes, begin < end.
    std::uint32_t operator()(std::uint32_t begin, std::uint32_t end, std::uint32_t word) const {
        const std::uint64_t share = word * scale_ >> 32;  // of 2^32
        return begin + static_cast<std::uint32_t>((end - begin) * share >> 32);
    }

 private:
    std::uint64_t scale_;
};

// The node with the word among begin .. end - 1, whose words rise; the search spreads from `at`, one of them.
inline std::uint32_t find_from(const std::uint32_t* words, std::uint32_t begin, std::uint32_t end,
                               std::uint32_t at, std::uint32_t word) {
    std::uint32_t low = at, high = at;  // words[low] <= word < words[high]
    std::uint32_t step = 1;
    if (words[at] <= word) {
        for (; end - low > step && words[low + step] <= word; step *= 2) low += step;
        high = end - low > step ? low + step : end;
    } else {
        for (; high - begin > step && words[high - step] > word; step *= 2) high -= step;
        low = high - begin > step ? high - step : begin;
    }
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (words[middle] <= word ? low : high) = middle;
    }
    return low < high && words[low] == word ? low : no_node;
}

}  // namespace stategram
