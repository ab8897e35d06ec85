// The door between Python and the kernels: every kernel file registers its functions here.
#include <nanobind/nanobind.h>

namespace stategram {
void register_bigrams(nanobind::module_& m);
void register_hierarchy(nanobind::module_& m);
}  // namespace stategram

NB_MODULE(_core, m) {
    m.doc() = "Kernels of stategram: flat arrays in, flat arrays out.";
    stategram::register_bigrams(m);
    stategram::register_hierarchy(m);
}
