// Memory, and the base class of steppers, as Python sees them.

#include "base/bind.hpp"

#if defined(__linux__)
#include <malloc.h>
#endif

#include "base/stepper.hpp"

namespace stategram {
namespace {

void trim_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace

void register_base(nb::module_& m) {
    def_kernel(
        m, "trim_memory", &trim_memory, "",
        "Give freed memory back to the system that the C library keeps for later; only that of GNU does.");
    nb::class_<Stepper>(m, "Stepper", "A model word by word, for decoders: its states are bytes.");
}

}  // namespace stategram
