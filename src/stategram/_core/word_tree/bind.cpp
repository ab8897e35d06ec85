// Word trees, as Python sees them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "word_tree/evidence.hpp"
#include "word_tree/kernels.hpp"
#include "word_tree/long_lists.hpp"
#include "word_tree/model_kernel.hpp"

namespace stategram {
namespace {

void bind_codes(nb::module_& m) {
    m.def("word_tree_codes", &word_tree_codes, nb::arg("counts").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("merges").noconvert(), nb::arg("begin"), nb::arg("end"),
          "Return the path to each word in a binary tree, its bits aligned to the left, and its length.\n\n"
          "`labels`: the class of each word, -1 for none; `merges`: the hierarchy of the classes, two sides "
          "for\n"
          "each merger. The word `begin` is not in the tree; the root decides between `end` and all others.");
}

void bind_chain_counts(nb::module_& m) {
    m.attr("NO_VALUE") = no_value;
    m.attr("N_COUNT_BUCKETS") = n_count_buckets;
    m.attr("EMPTY_CONTEXT") = empty_context;
    m.def("extend_context_hashes", &extend_context_hashes, nb::arg("hashes").noconvert(),
          nb::arg("values").noconvert(), nb::arg("threads"),
          "Add a value to each context, in place; a context without a value, NO_VALUE, becomes 0.");
    m.def("tail_checks", &tail_checks, nb::arg("hashes").noconvert(), nb::arg("threads"),
          "Return what tails have of contexts: 16 bits of each hash, 0 if there is no context.");
    m.def(
        "count_chain_level", &count_chain_level, nb::arg("hashes").noconvert(), nb::arg("words").noconvert(),
        nb::arg("next").noconvert().none(), nb::arg("checks").noconvert(), nb::arg("first_check"),
        nb::arg("n_tail"), nb::arg("min_count"), nb::arg("threads"),
        nb::arg("events_per_pass") = default_pass,
        "Return the followers of each context.\n\n"
        "`hashes`: the context of each event, 0 if it has none. `next`: the value by which the next level\n"
        "divides contexts; None if no longer ones are to be counted. `checks`: for each event a row of the "
        "`tail_checks` of\n"
        "longer contexts; a context seen once has `n_tail` of them as its tail, from `first_check` on.\n"
        "Contexts of fewer than `min_count` events are left out. Where longer contexts need not be counted,\n"
        "because they are in a tail, or too rare, the hash is set to 0. Only `events_per_pass` events, or\n"
        "those of a few thousand contexts, are sorted at a time; the result does not depend on it.\n"
        "The result: directory, entries, beginnings of the long lists, their words, counts and numbers of\n"
        "longer contexts, number of contexts, of n-grams, of those in one and in two longer contexts, and\n"
        "how many contexts of each longer level are in tails.");
}

void bind_long_lists(nb::module_& m) {
    m.def("divide_long_lists", &divide_long_lists, nb::arg("begins").noconvert(),
          nb::arg("words").noconvert(), nb::arg("counts").noconvert(), nb::arg("contexts").noconvert(),
          nb::arg("codes").noconvert(), nb::arg("lengths").noconvert(), nb::arg("has_longer"),
          nb::arg("threads"),
          "Return long lists in the order of a tree: where the bytes of each begin, and the bytes.");
}

void bind_model(nb::module_& m) {
    using Kernel = TreeModelKernel;
    using Words = Kernel::Words;
    nb::class_<CacheHandle>(m, "TextCache", "The words so far, for adaptive scoring.")
        .def("copy", &CacheHandle::copy, "Return a copy.");
    nb::class_<Kernel>(m, "TreeModelKernel", "Word trees and the counts of chains of contexts.")
        .def(nb::init<std::vector<std::pair<In<std::uint32_t>, In<std::uint8_t>>>,
                      std::vector<Kernel::ChainArrays>, std::vector<Kernel::LevelArrays>, std::size_t, Words,
                      Words, std::size_t, std::size_t, std::vector<Kernel::CacheArrays>>(),
             nb::arg("trees").noconvert(), nb::arg("chains"), nb::arg("levels").noconvert(),
             nb::arg("n_streams"), nb::arg("counts").noconvert(), nb::arg("contexts").noconvert(),
             nb::arg("n_frequent_nodes"), nb::arg("n_classes"), nb::arg("caches"))
        .def("n_inputs", &Kernel::n_inputs, nb::arg("history"))
        .def("n_weights", &Kernel::n_weights, nb::arg("history"))
        .def("empty_cache", &Kernel::empty_cache)
        .def("node_discounts", &Kernel::node_discounts, nb::arg("max_ngrams"), nb::arg("threads"))
        .def("score", &Kernel::score, nb::arg("words").noconvert(), nb::arg("streams").noconvert(),
             nb::arg("classes").noconvert(), nb::arg("history"), nb::arg("weights").noconvert(),
             nb::arg("cache").none(), nb::arg("threads"))
        .def("contributions", &Kernel::contributions, nb::arg("tree"), nb::arg("word"),
             nb::arg("streams").noconvert(), nb::arg("of_class"), nb::arg("history"),
             nb::arg("weights").noconvert(), nb::arg("cache").none(),
             "Return for each node of the way to a word what each input adds to the log-odds of the side "
             "taken.")
        .def("first_inputs", &Kernel::first_inputs,
             "Return the first input of each chain, of the caches, and the number of all inputs.")
        .def("distributions", &Kernel::distributions, nb::arg("streams").noconvert(), nb::arg("of_class"),
             nb::arg("history"), nb::arg("weights").noconvert(), nb::arg("cache").none(), nb::arg("threads"),
             "Return the probability of each word by each tree after the history of the first event.")
        .def("add_rows", &Kernel::add_rows, nb::arg("words").noconvert(), nb::arg("streams").noconvert(),
             nb::arg("classes").noconvert(), nb::arg("history"), nb::arg("weights").noconvert(),
             nb::arg("cache").none(), nb::arg("tree_weights").noconvert(), nb::arg("row_weights").noconvert(),
             nb::arg("rows").noconvert(), nb::arg("threads"),
             "Add to a row for each event the weighted distribution before it by all trees; words are added "
             "to the cache.")
        .def("likeliest", &Kernel::likeliest, nb::arg("streams").noconvert(), nb::arg("of_class"),
             nb::arg("history"), nb::arg("weights").noconvert(), nb::arg("cache").none(),
             nb::arg("tree_weights").noconvert(), nb::arg("top"), nb::arg("threads"),
             "Return the likeliest words after the history of the first event, and their probabilities.")
        .def(
            "draw", &Kernel::draw, nb::arg("streams").noconvert(), nb::arg("of_class"), nb::arg("history"),
            nb::arg("weights").noconvert(), nb::arg("cache").none(), nb::arg("tree"), nb::arg("quantile"),
            nb::arg("threads"),
            "Return the word after the history of the first event in whose range of a tree a quantile lies.\n"
            "\n"
            "The ranges are as wide as the words are probable: a random quantile draws a word.")
        .def("check", &Kernel::check, nb::arg("threads"), "Read every list; ValueError if one is damaged.")
        .def("learn", &Kernel::learn_blocks, nb::arg("words").noconvert(), nb::arg("streams").noconvert(),
             nb::arg("classes").noconvert(), nb::arg("begins").noconvert(), nb::arg("ends").noconvert(),
             nb::arg("cache_begins").noconvert(), nb::arg("used").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("squares").noconvert(), nb::arg("rate"), nb::arg("leave_out"), nb::arg("seed"),
             nb::arg("threads"));
}

}  // namespace

void register_word_tree(nb::module_& m) {
    bind_codes(m);
    bind_chain_counts(m);
    bind_long_lists(m);
    bind_model(m);
}

}  // namespace stategram
