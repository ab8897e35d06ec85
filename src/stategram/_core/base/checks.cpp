#include "base/checks.hpp"

#include <cmath>

#include "base/simd.hpp"

namespace stategram {
namespace {

STATEGRAM_CLONES
std::uint32_t highest(const std::uint32_t* values, std::size_t begin, std::size_t end) {
    std::uint32_t found = 0;
    for (std::size_t i = begin; i < end; ++i) found = std::max(found, values[i]);
    return found;
}

STATEGRAM_CLONES
bool rising(const std::uint32_t* values, std::size_t begin, std::size_t end) {
    std::uint32_t falls = 0;
    for (std::size_t i = begin; i < end; ++i) falls |= values[i] > values[i + 1];
    return falls == 0;
}

STATEGRAM_CLONES
bool rising_by_one(const std::uint32_t* values, std::size_t begin, std::size_t end) {
    std::uint32_t steps = 0;
    for (std::size_t i = begin; i < end; ++i) steps |= values[i + 1] - values[i];
    return steps <= 1 && values[begin] <= values[end];
}

}  // namespace

void check_suffixes(const std::uint32_t* suffixes, std::size_t begin, std::size_t end,
                    std::size_t n_shorter) {
    require(begin == end || highest(suffixes, begin, end) < n_shorter,
            "the levels do not fit together: a suffix is not among the shorter n-grams");
}

void check_children(const std::uint32_t* first_child, std::size_t begin, std::size_t end,
                    std::size_t n_children) {
    require(begin == end || (rising(first_child, begin, end) && first_child[end] <= n_children),
            "the levels do not fit together: the children of a node are not in order or not there");
}

void check_ranks(const std::uint32_t* ranks, std::size_t begin, std::size_t end, std::size_t n_kept) {
    require(begin == end || (rising_by_one(ranks, begin, end) && ranks[end] <= n_kept),
            "the levels do not fit together: the ranks are not those of n-grams that are kept");
}

void check_below(const In<std::uint32_t>& values, std::size_t limit, const char* message) {
    require(values.size() == 0 || highest(values.data(), 0, values.size()) < limit, message);
}

void check_finite(const In<float>& values, const char* message) {
    require(std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }),
            message);
}

std::vector<std::uint32_t> inverse(const In<std::uint32_t>& numbers) {
    std::vector<std::uint32_t> places(numbers.size(), UINT32_MAX);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        require(numbers[i] < places.size() && places[numbers[i]] == UINT32_MAX,
                "the numbers are not each of 0, 1, ... once");
        places[numbers[i]] = static_cast<std::uint32_t>(i);
    }
    return places;
}

}  // namespace stategram
