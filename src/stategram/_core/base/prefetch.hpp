// A wish to have memory in the cache soon.
#pragma once

#include "base/simd.hpp"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace stategram {

// Asks for the cache line of an address that will be read soon. The address is not read: it may be any.
//
// A function that does nothing else has no effect in the eyes of GCC, which leaves out calls of it: such
// functions have to be inlined.
STATEGRAM_INLINE void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#elif defined(_MSC_VER) && defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#else
    (void)address;
#endif
}

}  // namespace stategram
