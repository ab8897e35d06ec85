// The door between Python and the kernels: the bind.cpp of each folder registers what is in it.
#include <nanobind/nanobind.h>

namespace stategram {
void register_base(nanobind::module_& m);
void register_text(nanobind::module_& m);
void register_counts(nanobind::module_& m);
void register_exchange(nanobind::module_& m);
void register_ngrams(nanobind::module_& m);
void register_word_tree(nanobind::module_& m);
void register_vectors(nanobind::module_& m);
void register_mixture(nanobind::module_& m);
void register_decoding(nanobind::module_& m);
void register_formats(nanobind::module_& m);
void register_evaluation(nanobind::module_& m);
}  // namespace stategram

NB_MODULE(_core, m) {
    m.doc() = "Kernels of stategram: flat arrays in, flat arrays out.";
    stategram::register_base(m);
    stategram::register_text(m);
    stategram::register_counts(m);
    stategram::register_exchange(m);
    stategram::register_ngrams(m);
    stategram::register_vectors(m);
    stategram::register_word_tree(m);
    stategram::register_mixture(m);
    stategram::register_decoding(m);
    stategram::register_formats(m);
    stategram::register_evaluation(m);
}
