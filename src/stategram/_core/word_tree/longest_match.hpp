// The longest match: where the last words occurred before in the text so far, and the word that followed
// there. On the way to that word its sides have the evidence 1, or -1 on the left; below the node where the
// way to another word parts from it there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace stategram {

class LongestMatch {
 public:
    static constexpr std::size_t none = SIZE_MAX;

    // After the last of `words` was added; `first` is the time of words[0].
    void add(const std::vector<std::uint32_t>& words, std::uint64_t first);
    // Forgets the words before words[0].
    void forget(const std::vector<std::uint32_t>& words, std::uint64_t first);
    // The place in the words so far of the word that followed the match; `none` if there is no match.
    std::size_t next(std::uint64_t first) const {
        return length_ == 0 ? none : static_cast<std::size_t>(next_ - first);
    }
    // By the number of words that match, and the depth of a node.
    std::uint8_t bucket(int depth) const;

 private:
    static std::uint64_t pair(const std::vector<std::uint32_t>& words, std::size_t end) {
        return (std::uint64_t{words[end - 2]} << 32) | words[end - 1];
    }

    std::uint64_t next_ = 0;
    std::size_t length_ = 0;                                  // 0: no match
    std::unordered_map<std::uint64_t, std::uint64_t> after_;  // two words: the time of the word after them
};

}  // namespace stategram
