// One source, several instruction sets: the loader picks the widest that the processor has.
#pragma once

#include <cstddef>
#include <cstdlib>  // defines __GLIBC__ where it is the C library

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define STATEGRAM_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STATEGRAM_SANITIZED
#endif

// Put before a hot function that is not a template. The choice is made by an indirect function of the GNU
// loader, which runs before a sanitizer is ready.
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(STATEGRAM_SANITIZED) && \
    (defined(__clang__) ? __clang_major__ >= 14 : defined(__GNUC__))
#define STATEGRAM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STATEGRAM_CLONES
#endif

// Into every place it is called from, so that it is compiled for the instruction set of its caller.
#if defined(_MSC_VER)
#define STATEGRAM_INLINE __forceinline
#else
#define STATEGRAM_INLINE __attribute__((always_inline)) inline
#endif

// The sum of 2 * half numbers, each of the first half and one of the second added, and so on; overwrites
// them.
template <std::size_t half>
STATEGRAM_INLINE float sum_of_halves(float* numbers) {
    for (std::size_t i = 0; i < half; ++i) numbers[i] += numbers[i + half];
    if constexpr (half > 1) return sum_of_halves<half / 2>(numbers);
    return numbers[0];
}

// No other pointer of the function reaches this memory.
#if defined(_MSC_VER)
#define STATEGRAM_RESTRICT __restrict
#else
#define STATEGRAM_RESTRICT __restrict__
#endif
