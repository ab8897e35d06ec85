// Run-time dispatch: a function marked STATEGRAM_CLONES is compiled for AVX-512, AVX2 and the baseline
// processor, and the loader picks the best one that this machine has. Only x86-64 with glibc has the
// mechanism; elsewhere, and under the sanitizers, the baseline alone is built.
#pragma once

#include <cstddef>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define STATEGRAM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STATEGRAM_CLONES
#endif

#if defined(_MSC_VER)
#define STATEGRAM_RESTRICT __restrict
#else
#define STATEGRAM_RESTRICT __restrict__
#endif
