// Counts of texts, as Python sees them.

#include "base/bind.hpp"

#include "counts/kernels.hpp"
#include "counts/state_tree.hpp"

namespace stategram {
namespace {

void bind_bigrams(nb::module_& m) {
    def_kernel(m, "count_bigrams", &count_bigrams, "ids first types threads",
               "Count the pairs (previous, id), `first` standing before the first id.\n"
               "\n"
               "Returns offsets, columns, counts.");
    def_kernel(m, "transpose_counts", &transpose_counts, "offsets columns counts n_columns",
               "Return the same counts with rows and columns exchanged: offsets, columns, counts.");
    def_kernel(m, "bigram_rows", &bigram_rows, "first_child words counts numbers begin end threads",
               "Return the bigrams of a trie by the ids of their words: offsets, columns, counts.\n"
               "\n"
               "`begin` and `end` are the ids of <s> and </s>; the row of </s> is what follows <s>.");
}

void bind_ngrams(nb::module_& m) {
    def_kernel(m, "count_ngrams", &count_ngrams,
               "ids sentence_starts numbers before order first last threads",
               "Count the n-grams whose first word has a number from `first` to `last` - 1.\n"
               "\n"
               "Returns for each length, from 1 to `order`: words, counts, first children.");
    def_kernel(
        m, "count_run", &count_run, "ids sentence_starts numbers begin end order bounds threads",
        "Count the n-grams whose first word has a number from the first to below the last of `bounds`.\n"
        "\n"
        "`begin` and `end` are the ids of <s> and </s>. Returns a run (counts/runs.hpp), and where\n"
        "in it the n-grams of each bound begin.");
}

void bind_runs(nb::module_& m) {
    def_kernel(
        m, "merge_ngrams", &merge_ngrams, "runs numbers end order kept first last",
        "Merge runs of n-grams of `order` words whose first words are `first` to `last` - 1.\n"
        "\n"
        "`end` is the id of </s>. Returns for each length, from 1 to `kept`: words, counts, first children,\n"
        "as count_ngrams does. Raises OverflowError for counts that need more than 32 bits.");
    def_kernel(m, "merge_runs", &merge_runs, "runs numbers end order first last",
               "Merge runs of n-grams, as merge_ngrams does; returns them as one run.");
}

void bind_suffixes(nb::module_& m) {
    def_kernel(m, "link_ngrams", &link_ngrams,
               "words parents_first_child parents_suffix lower_first_child lower_words n_words begin end "
               "suffixes continuations threads",
               "Find the suffixes of the children of the parents `begin` to `end` - 1, and count them.");
}

void bind_context_tree(nb::module_& m) {
    def_kernel(
        m, "count_contexts", &count_contexts,
        "ids sentence_starts before maps distances n_values first last threads",
        "Count the contexts whose first value is `first` to `last` - 1.\n"
        "\n"
        "Returns for each level values, counts, first children; then the same for the words that follow.");
    def_kernel(m, "sum_rows", &sum_rows, "offsets columns counts rows group_offsets n_columns threads",
               "Return the sums of groups of rows: offsets, columns, counts.");
    def_kernel(
        m, "find_contexts", &find_contexts,
        "ids sentence_starts before maps distances first_child symbols threads",
        "Return for each event the node of its context on the deepest level where it is known, and that "
        "level.");
    using Levels = StateTree::Levels;
    nb::class_<StateTree> tree(
        m, "StateTree",
        "The states of contexts.\n\n"
        "Of each level of the context tree: `maps`, the value of each word; `distances`, how many words "
        "back\n"
        "a value is; of its nodes `values`, `states` and `buckets`; `inherited`, which maps the state on "
        "the\n"
        "level above (0 for the root) to that of unseen contexts; of all but the last `first_child`.");
    def_init<Levels, std::vector<std::int64_t>, Levels, Levels, Levels, std::vector<In<std::uint8_t>>,
             Levels>(tree, "maps distances values first_child states buckets inherited");
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
