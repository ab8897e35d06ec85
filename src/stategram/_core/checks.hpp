// Checks of the arrays that Python passes in: after them no value can lead outside of another array.
//
// Sizes are checked once per call. Kernels that are called for one range of nodes at a time check the values
// of that range as they read them: a pass over everything for each range would take longer than the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "arrays.hpp"

namespace stategram {

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// An index into an array of `size` elements.
inline std::size_t checked_index(std::uint32_t index, std::size_t size, const char* message) {
    require(index < size, message);
    return index;
}

struct IndexRange {
    std::size_t begin, end;
};

// The children of a node: [first_child[node], first_child[node + 1]) of `n_children` in all.
inline IndexRange checked_children(const std::uint32_t* first_child, std::size_t node,
                                   std::size_t n_children) {
    const IndexRange range{first_child[node], first_child[node + 1]};
    require(range.begin <= range.end && range.end <= n_children,
            "the children of the nodes are not in order, or are more than there are");
    return range;
}

// All values are below `limit`.
inline void check_below(const In<std::uint32_t>& values, std::size_t limit, const char* message) {
    std::uint32_t highest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) highest = std::max(highest, values.data()[i]);
    require(values.size() == 0 || highest < limit, message);
}

// Groups that follow each other: group i is [offsets[i], offsets[i + 1]), and together they are `size`
// elements.
inline void check_offsets(const In<std::int64_t>& offsets, std::size_t size, const char* message) {
    const std::int64_t *first = offsets.data(), *last = first + offsets.size();
    require(first != last && *first == 0 && last[-1] == static_cast<std::int64_t>(size) &&
                std::is_sorted(first, last),
            message);
}

}  // namespace stategram
