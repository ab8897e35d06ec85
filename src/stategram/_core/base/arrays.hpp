// Flat arrays in, flat arrays out: what crosses the border between Python and a kernel. Kernels know nothing
// of Python; base/bind.hpp makes these of NumPy's arrays, and NumPy's of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/big_array.hpp"

namespace stategram {

// A contiguous array with whatever keeps its memory alive; copies are views of the same values.
template <typename T>
class Array {
 public:
    using value_type = T;

    Array() = default;
    Array(T* values, std::size_t size, std::shared_ptr<const void> owner)
        : values_(values), size_(size), owner_(std::move(owner)) {}
    // Takes over the memory of a std::vector or a BigArray.
    template <typename Values>
        requires(!std::is_reference_v<Values> && !std::derived_from<Values, Array> &&
                 requires(Values& values) {
                     { values.data() } -> std::convertible_to<T*>;
                 })
    Array(Values&& values) {
        const auto owned = std::make_shared<Values>(std::move(values));
        *this = {owned->data(), owned->size(), owned};
    }

    T* data() const { return values_; }
    std::size_t size() const { return size_; }
    T* begin() const { return values_; }
    T* end() const { return values_ + size_; }
    T& operator[](std::size_t i) const { return values_[i]; }
    const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
    T* values_ = nullptr;
    std::size_t size_ = 0;
    std::shared_ptr<const void> owner_;
};

// One that a kernel only reads, one that it writes to, and one that it makes.
template <typename T>
using In = Array<const T>;
template <typename T>
using InOut = Array<T>;
template <typename T>
using Out = Array<T>;

// Rows of the same length, one after the other, that a kernel reads.
template <typename T>
struct Matrix : In<T> {
    std::size_t rows = 0, columns = 0;
};

// Bytes that a kernel reads, and bytes that it makes, in parts to be joined.
struct InBytes : std::string_view {};
template <typename Part = std::string>
struct OutBytes : std::vector<Part> {};

}  // namespace stategram
