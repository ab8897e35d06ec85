#include "word_tree/longest_match.hpp"

namespace stategram {
namespace {

constexpr std::size_t max_length = 16;

// The least number of words, and the least depth, of each bucket.
constexpr std::size_t lengths[] = {3, 4, 5, 7, 10, max_length};
constexpr int depths[] = {1, 2, 3, 5, 8};

}  // namespace

void LongestMatch::add(const std::vector<std::uint32_t>& words, std::uint64_t first) {
    const std::size_t n = words.size();
    if (length_ > 0 && words[next(first)] == words.back()) {
        ++next_;
        if (length_ < max_length) ++length_;
    } else {
        length_ = 0;
    }
    if (n < 2) return;
    const auto [found, is_new] = after_.try_emplace(pair(words, n), first + n);
    if (is_new) return;
    if (length_ == 0) {
        next_ = found->second;
        const auto end = static_cast<std::size_t>(next_ - first);
        while (length_ < max_length && length_ < end && words[end - 1 - length_] == words[n - 1 - length_])
            ++length_;
    }
    found->second = first + n;
}

void LongestMatch::forget(const std::vector<std::uint32_t>& words, std::uint64_t first) {
    if (length_ > 0 && next_ < first) length_ = 0;
    after_.clear();
    for (std::size_t end = 2; end <= words.size(); ++end) after_[pair(words, end)] = first + end;
}

std::uint8_t LongestMatch::bucket(int depth) const {
    std::size_t bucket = 0;
    for (const std::size_t length : lengths) bucket += length_ >= length;
    bucket *= std::size(depths) + 1;
    for (const int least : depths) bucket += depth >= least;
    return static_cast<std::uint8_t>(bucket);
}

}  // namespace stategram
