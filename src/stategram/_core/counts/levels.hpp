// The n-grams of one length, as kernels count them and as Python gets them.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"

namespace stategram {

template <typename Values>
struct CountedLevel {
    Values words, counts, first_child;  // the last word of each; the longest n-grams have no children
};

// Of each length: words, counts, first children.
using CountLevels = std::vector<std::tuple<Out<std::uint32_t>, Out<std::uint32_t>, Out<std::uint32_t>>>;

template <typename Values>
CountLevels arrays_of(std::vector<CountedLevel<Values>>&& levels) {
    CountLevels arrays;
    for (auto& level : levels)
        arrays.emplace_back(std::move(level.words), std::move(level.counts), std::move(level.first_child));
    return arrays;
}

}  // namespace stategram
