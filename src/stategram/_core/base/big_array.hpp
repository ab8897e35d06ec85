// A large array of numbers on large pages of memory, where the system has them.
//
// Kernels jump between rows and parts of tables of many megabytes. With pages of 4 KiB nearly every jump
// would have its address translated anew.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace stategram {

template <typename T>
class BigArray {
    static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_copyable_v<T>);

 public:
    BigArray() = default;
    // The values are not set.
    explicit BigArray(std::size_t size) : values_(allocate(size)), size_(size) {}
    BigArray(std::size_t size, T value) : BigArray(size) { std::fill_n(values_, size, value); }
    BigArray(BigArray&& other) noexcept { swap(other); }
    BigArray& operator=(BigArray&& other) noexcept {
        swap(other);
        return *this;
    }
    ~BigArray() {
#if defined(__linux__)
        std::free(values_);
#else
        ::operator delete(values_);
#endif
    }

    T* data() { return values_; }
    const T* data() const { return values_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return values_[i]; }
    const T& operator[](std::size_t i) const { return values_[i]; }

 private:
    void swap(BigArray& other) noexcept {
        std::swap(values_, other.values_);
        std::swap(size_, other.size_);
    }

    static T* allocate(std::size_t size) {
        if (size > (std::numeric_limits<std::size_t>::max() - page) / sizeof(T)) throw std::bad_alloc();
#if defined(__linux__)
        const std::size_t bytes = size * sizeof(T);
        if (bytes < 2 * page) {
            void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
            if (memory == nullptr) throw std::bad_alloc();
            return static_cast<T*>(memory);
        }
        const std::size_t rounded = (bytes + page - 1) / page * page;
        void* memory = std::aligned_alloc(page, rounded);
        if (memory == nullptr) throw std::bad_alloc();
        madvise(memory, rounded, MADV_HUGEPAGE);  // a wish; where it fails, all is as before
        return static_cast<T*>(memory);
#else
        return static_cast<T*>(::operator new(size * sizeof(T)));
#endif
    }

    static constexpr std::size_t page = std::size_t{1} << 21;
    T* values_ = nullptr;
    std::size_t size_ = 0;
};

// An array that grows by chunks: it is never twice in memory, as a vector is while it grows.
template <typename T>
class Chunks {
 public:
    // Returns the place of so many further values.
    T* add(std::size_t size) {
        chunks_.emplace_back(size);
        return chunks_.back().data();
    }

    // Returns all values, and is empty then; each chunk is freed as soon as it is copied.
    BigArray<T> join() {
        std::vector<BigArray<T>> chunks = std::exchange(chunks_, {});
        if (chunks.size() == 1) return std::move(chunks[0]);
        std::size_t size = 0;
        for (const BigArray<T>& chunk : chunks) size += chunk.size();
        BigArray<T> joined(size);
        T* end = joined.data();
        for (BigArray<T>& chunk : chunks) {
            end = std::copy_n(chunk.data(), chunk.size(), end);
            chunk = {};
        }
        return joined;
    }

 private:
    std::vector<BigArray<T>> chunks_;
};

}  // namespace stategram
