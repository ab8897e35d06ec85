// A wish to have memory in the cache soon.
#pragma once

namespace stategram {

inline void prefetch(const void* place) {
#if defined(__GNUC__)
    __builtin_prefetch(place);
#else
    (void)place;
#endif
}

}  // namespace stategram
