// Counts of texts, as Python sees them.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/arrays.hpp"
#include "counts/kernels.hpp"

namespace stategram {
namespace {

void bind_bigrams(nb::module_& m) {
    m.def("count_bigrams", &count_bigrams, nb::arg("ids").noconvert(), nb::arg("first"), nb::arg("types"),
          nb::arg("threads"),
          "Count the pairs (previous, id), `first` standing before the first id.\n"
          "\n"
          "Returns offsets, columns, counts.");
    m.def("transpose_counts", &transpose_counts, nb::arg("offsets").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("counts").noconvert(), nb::arg("n_columns"),
          "Return the same counts with rows and columns exchanged: offsets, columns, counts.");
    m.def("bigram_rows", &bigram_rows, nb::arg("first_child").noconvert(), nb::arg("words").noconvert(),
          nb::arg("counts").noconvert(), nb::arg("numbers").noconvert(), nb::arg("begin"), nb::arg("end"),
          nb::arg("threads"),
          "Return the bigrams of a trie by the ids of their words: offsets, columns, counts.\n"
          "\n"
          "`begin` and `end` are the ids of <s> and </s>; the row of </s> is what follows <s>.");
}

void bind_ngrams(nb::module_& m) {
    m.def("count_ngrams", &count_ngrams, nb::arg("ids").noconvert(), nb::arg("sentence_starts").noconvert(),
          nb::arg("numbers").noconvert(), nb::arg("before"), nb::arg("order"), nb::arg("first"),
          nb::arg("last"), nb::arg("threads"),
          "Count the n-grams whose first word has a number from `first` to `last` - 1.\n"
          "\n"
          "Returns for each length, from 1 to `order`: words, counts, first children.");
    m.def("count_run", &count_run, nb::arg("ids").noconvert(), nb::arg("sentence_starts").noconvert(),
          nb::arg("numbers").noconvert(), nb::arg("begin"), nb::arg("end"), nb::arg("order"),
          nb::arg("bounds").noconvert(), nb::arg("threads"),
          "Count the n-grams whose first word has a number from the first to below the last of `bounds`.\n"
          "\n"
          "`begin` and `end` are the ids of <s> and </s>. Returns a run (counts/runs.hpp), and where\n"
          "in it the n-grams of each bound begin.");
}

void bind_runs(nb::module_& m) {
    m.def(
        "merge_ngrams", &merge_ngrams, nb::arg("runs").noconvert(), nb::arg("numbers").noconvert(),
        nb::arg("end"), nb::arg("order"), nb::arg("kept"), nb::arg("first"), nb::arg("last"),
        "Merge runs of n-grams of `order` words whose first words are `first` to `last` - 1.\n"
        "\n"
        "`end` is the id of </s>. Returns for each length, from 1 to `kept`: words, counts, first children,\n"
        "as count_ngrams does. Raises OverflowError for counts that need more than 32 bits.");
    m.def("merge_runs", &merge_runs, nb::arg("runs").noconvert(), nb::arg("numbers").noconvert(),
          nb::arg("end"), nb::arg("order"), nb::arg("first"), nb::arg("last"),
          "Merge runs of n-grams, as merge_ngrams does; returns them as one run.");
}

void bind_suffixes(nb::module_& m) {
    m.def("link_ngrams", &link_ngrams, nb::arg("words").noconvert(),
          nb::arg("parents_first_child").noconvert(), nb::arg("parents_suffix").noconvert(),
          nb::arg("lower_first_child").noconvert(), nb::arg("lower_words").noconvert(), nb::arg("n_words"),
          nb::arg("begin"), nb::arg("end"), nb::arg("suffixes").noconvert(),
          nb::arg("continuations").noconvert(), nb::arg("threads"),
          "Find the suffixes of the children of the parents `begin` to `end` - 1, and count them.");
}

void bind_context_tree(nb::module_& m) {
    m.def("count_contexts", &count_contexts, nb::arg("ids").noconvert(),
          nb::arg("sentence_starts").noconvert(), nb::arg("before"), nb::arg("maps"), nb::arg("distances"),
          nb::arg("n_values"), nb::arg("first"), nb::arg("last"), nb::arg("threads"),
          "Count the contexts whose first value is `first` to `last` - 1.\n"
          "\n"
          "Returns for each level values, counts, first children; then the same for the words that follow.");
    m.def("sum_rows", &sum_rows, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("counts").noconvert(), nb::arg("rows").noconvert(), nb::arg("group_offsets").noconvert(),
          nb::arg("n_columns"), nb::arg("threads"),
          "Return the sums of groups of rows: offsets, columns, counts.");
    m.def("find_contexts", &find_contexts, nb::arg("ids").noconvert(), nb::arg("sentence_starts").noconvert(),
          nb::arg("before"), nb::arg("maps"), nb::arg("distances"), nb::arg("first_child"),
          nb::arg("symbols"), nb::arg("threads"),
          "Return for each event the node of its context on the deepest level where it is known, and that "
          "level.");
}

}  // namespace

void register_counts(nb::module_& m) {
    bind_bigrams(m);
    bind_ngrams(m);
    bind_runs(m);
    bind_suffixes(m);
    bind_context_tree(m);
}

}  // namespace stategram
