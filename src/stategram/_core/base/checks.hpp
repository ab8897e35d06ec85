// Checks of the arrays that Python passes in: after them no value leads outside of another array, and no two
// threads write to the same place.
//
// A kernel that is called for a range of nodes at a time checks the values of that range only: a pass over
// everything for each range would take longer than the work. Values that are used once are checked there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/arrays.hpp"

namespace stategram {

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// The suffixes [begin, end) are among the n-grams that are one word shorter.
void check_suffixes(const std::uint32_t* suffixes, std::size_t begin, std::size_t end, std::size_t n_shorter);

struct IndexRange {
    std::size_t begin, end;
};

// The children of one node: [first_child[node], first_child[node + 1]) of `n_children` in all.
inline IndexRange checked_children(const std::uint32_t* first_child, std::size_t node,
                                   std::size_t n_children) {
    const IndexRange range{first_child[node], first_child[node + 1]};
    require(range.begin <= range.end && range.end <= n_children,
            "the levels do not fit together: the children of a node are not in order or not there");
    return range;
}

// The same for the nodes [begin, end): no two of them have a child in common.
void check_children(const std::uint32_t* first_child, std::size_t begin, std::size_t end,
                    std::size_t n_children);

// Places among the n-grams that are kept: n-gram i of [begin, end) is kept if ranks[i + 1] is one more.
void check_ranks(const std::uint32_t* ranks, std::size_t begin, std::size_t end, std::size_t n_kept);

// All values are below `limit`.
void check_below(const In<std::uint32_t>& values, std::size_t limit, const char* message);

// No value is infinite or none at all.
void check_finite(const In<float>& values, const char* message);

// The place of each of the numbers 0, 1, ... in `numbers`, which has every one of them once.
std::vector<std::uint32_t> inverse(const In<std::uint32_t>& numbers);

// Groups that follow each other: group i is [offsets[i], offsets[i + 1]), and together they are `size`
// elements.
inline void check_offsets(const In<std::int64_t>& offsets, std::size_t size, const char* message) {
    const std::int64_t *first = offsets.data(), *last = first + offsets.size();
    require(first != last && *first == 0 && last[-1] == static_cast<std::int64_t>(size) &&
                std::is_sorted(first, last),
            message);
}

}  // namespace stategram
