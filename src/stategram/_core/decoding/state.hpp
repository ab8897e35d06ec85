// The state of a decoder's hypothesis: the bytes of a stepper, or the state of a model that has none.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bind.hpp"

namespace stategram {

class DecoderState {
 public:
    // Set instead of the bytes where a model goes from word to word in Python.
    nb::object of_python;

    std::size_t size() const { return size_; }
    const std::byte* data() const { return size_ <= few_.size() ? few_.data() : many_.data(); }

    // Memory for so many bytes; what was there is lost.
    std::byte* resize(std::size_t size) {
        size_ = size;
        if (size <= few_.size()) return few_.data();
        many_.resize(size);
        return many_.data();
    }

    std::string_view bytes() const { return {reinterpret_cast<const char*>(data()), size_}; }

    bool operator==(const DecoderState& other) const {
        return bytes() == other.bytes() && of_python.is_valid() == other.of_python.is_valid() &&
               (!of_python.is_valid() || of_python.equal(other.of_python));
    }

 private:
    // The states of n-gram models need no memory of their own.
    std::array<std::byte, 40> few_;
    std::size_t size_ = 0;
    std::vector<std::byte> many_;
};

}  // namespace stategram
