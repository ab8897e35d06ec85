// The door between Python and the kernels: every kernel file registers its functions here.
#include <nanobind/nanobind.h>

#if defined(__linux__)
#include <malloc.h>
#endif

#include "exchange/exchange.hpp"

namespace stategram {
void register_bigrams(nanobind::module_& m);
void register_ngram_counts(nanobind::module_& m);
void register_ngram_runs(nanobind::module_& m);
void register_packed_text(nanobind::module_& m);
void register_word_merger(nanobind::module_& m);
void register_ngram_links(nanobind::module_& m);
void register_ngram_estimates(nanobind::module_& m);
void register_trie_assembly(nanobind::module_& m);
void register_trie_packing(nanobind::module_& m);
void register_ngram_pruning(nanobind::module_& m);
void register_plain_ngrams(nanobind::module_& m);
void register_context_tree(nanobind::module_& m);
void register_tied_exchange(nanobind::module_& m);
void register_two_sided_exchange(nanobind::module_& m);
void register_text(nanobind::module_& m);
void register_hierarchy(nanobind::module_& m);
void register_ngrams(nanobind::module_& m);
void register_table_lines(nanobind::module_& m);
void register_mixture_gate(nanobind::module_& m);
void register_mixture_weights(nanobind::module_& m);
void register_arpa_reader(nanobind::module_& m);
void register_arpa_writer(nanobind::module_& m);
void register_fst_writer(nanobind::module_& m);
void register_word_tree_codes(nanobind::module_& m);
void register_chain_counts(nanobind::module_& m);
void register_long_lists(nanobind::module_& m);
void register_tree_model(nanobind::module_& m);
void register_word_cache(nanobind::module_& m);
void register_distribution_rows(nanobind::module_& m);
void register_ngram_choice(nanobind::module_& m);
void register_word_errors(nanobind::module_& m);
void register_bootstrap(nanobind::module_& m);
void register_error_envelope(nanobind::module_& m);
void register_count_files(nanobind::module_& m);
void register_steppers(nanobind::module_& m);
void register_ngram_stepper(nanobind::module_& m);
void register_category_stepper(nanobind::module_& m);
void register_clustered(nanobind::module_& m);
void register_mixture_scoring(nanobind::module_& m);
void register_mixture_stepper(nanobind::module_& m);
void register_decoder(nanobind::module_& m);
}  // namespace stategram

namespace {

void trim_memory() {
#if defined(__GLIBC__)
    nanobind::gil_scoped_release release;
    malloc_trim(0);
#endif
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Kernels of stategram: flat arrays in, flat arrays out.";
    m.def("trim_memory", &trim_memory,
          "Give freed memory back to the system that the C library keeps for later; only that of GNU does.");
    stategram::register_bigrams(m);
    stategram::register_ngram_counts(m);
    stategram::register_ngram_runs(m);
    stategram::register_packed_text(m);
    stategram::register_word_merger(m);
    stategram::register_ngram_links(m);
    stategram::register_ngram_estimates(m);
    stategram::register_trie_assembly(m);
    stategram::register_trie_packing(m);
    stategram::register_ngram_pruning(m);
    stategram::register_plain_ngrams(m);
    stategram::register_context_tree(m);
    stategram::register_tied_exchange(m);
    stategram::register_two_sided_exchange(m);
    stategram::register_text(m);
    stategram::register_hierarchy(m);
    stategram::register_ngrams(m);
    stategram::register_table_lines(m);
    stategram::register_mixture_gate(m);
    stategram::register_mixture_weights(m);
    stategram::register_arpa_reader(m);
    stategram::register_arpa_writer(m);
    stategram::register_fst_writer(m);
    stategram::register_word_tree_codes(m);
    stategram::register_chain_counts(m);
    stategram::register_long_lists(m);
    stategram::register_tree_model(m);
    stategram::register_word_cache(m);
    stategram::register_distribution_rows(m);
    stategram::register_ngram_choice(m);
    stategram::register_word_errors(m);
    stategram::register_bootstrap(m);
    stategram::register_error_envelope(m);
    stategram::register_count_files(m);
    stategram::register_steppers(m);
    stategram::register_ngram_stepper(m);
    stategram::register_category_stepper(m);
    stategram::register_clustered(m);
    stategram::register_mixture_scoring(m);
    stategram::register_mixture_stepper(m);
    stategram::register_decoder(m);
}
