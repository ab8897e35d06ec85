// The longest n-grams that are counted and read.
#pragma once

namespace stategram {

constexpr int most_words = 9;  // in an n-gram

}  // namespace stategram
