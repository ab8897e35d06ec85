// Flat arrays in, flat arrays out: the only types that cross the border between Python and a kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/big_array.hpp"

namespace stategram {

namespace nb = nanobind;

// A read-only contiguous one-dimensional array given by Python.
template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A contiguous one-dimensional array of Python's that a kernel writes to.
template <typename T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A NumPy array given to Python.
template <typename T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Hands a vector's memory to NumPy without a copy. Needs the GIL.
template <typename T>
Out<T> to_numpy(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(owned->data(), {owned->size()}, owner);
}

// The same for memory that was never filled with zeros. Needs the GIL.
template <typename T>
Out<T> to_numpy(std::unique_ptr<T[]>&& values, std::size_t size) {
    T* owned = values.release();
    nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Out<T>(owned, {size}, owner);
}

template <typename T>
Out<T> to_numpy(BigArray<T>&& values) {
    auto* owned = new BigArray<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<BigArray<T>*>(p); });
    return Out<T>(owned->data(), {owned->size()}, owner);
}

}  // namespace stategram
