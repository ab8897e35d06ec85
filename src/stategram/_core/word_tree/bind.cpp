// Word trees, as Python sees them.
#include "base/bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <utility>
#include <vector>

#include "word_tree/evidence.hpp"
#include "word_tree/kernels.hpp"
#include "word_tree/long_lists.hpp"
#include "word_tree/model_kernel.hpp"
#include "word_tree/stepper.hpp"

namespace stategram {
namespace {

void bind_codes(nb::module_& m) {
    def_kernel(
        m, "word_tree_codes", &word_tree_codes, "counts labels merges begin end",
        "Return the path to each word in a binary tree, its bits aligned to the left, and its length.\n\n"
        "`labels`: the class of each word, -1 for none; `merges`: the hierarchy of the classes, two sides "
        "for\n"
        "each merger. The word `begin` is not in the tree; the root decides between `end` and all others.");
}

void bind_chain_counts(nb::module_& m) {
    m.attr("NO_VALUE") = no_value;
    m.attr("N_COUNT_BUCKETS") = n_count_buckets;
    m.attr("EMPTY_CONTEXT") = empty_context;
    def_kernel(m, "extend_context_hashes", &extend_context_hashes, "hashes values threads",
               "Add a value to each context, in place; a context without a value, NO_VALUE, becomes 0.");
    def_kernel(
        m, "count_chain_level", &count_chain_level, "hashes words next min_count threads",
        nb::arg("events_per_pass") = default_pass,
        "Return the followers of each context.\n\n"
        "`hashes`: the context of each event, 0 if it has none. `next`: the value by which the next level\n"
        "divides contexts; None if no longer ones are to be counted. Contexts of fewer than `min_count`\n"
        "events are left out, and their hashes set to 0. Only `events_per_pass` events, or those of a few\n"
        "thousand contexts, are sorted at a time; the result does not depend on it.\n"
        "The result: directory, entries, beginnings of the long lists, their words, counts and numbers of\n"
        "longer contexts, number of contexts, of n-grams, and of those in one and in two longer contexts.");
}

void bind_long_lists(nb::module_& m) {
    def_kernel(m, "divide_long_lists", &divide_long_lists,
               "begins words counts contexts codes lengths has_longer threads",
               "Return long lists in the order of a tree: where the bytes of each begin, and the bytes.");
}

void bind_model(nb::module_& m) {
    using Kernel = TreeModelKernel;
    using Words = Kernel::Words;
    nb::class_<TextState> state(m, "TextState", "What a model keeps of the words so far.");
    state.def("copy", &TextState::copy, "Return a copy.");
    state.def(
        "__init__",
        [](TextState* made, const nb::bytes& vectors) {
            new (made) TextState{std::nullopt, std::vector<float>(vectors.size() / sizeof(float))};
            std::copy_n(vectors.c_str(), made->vectors.size() * sizeof(float),
                        reinterpret_cast<char*>(made->vectors.data()));
        },
        nb::arg("vectors"), "Make one without a cache of what `vectors` returned.");
    state.def(
        "vectors",
        [](const TextState& of) { return nb::bytes(of.vectors.data(), of.vectors.size() * sizeof(float)); },
        "Return the states of all networks; equal ones have the same future.");
    nb::class_<Kernel> kernel(m, "TreeModelKernel", "Word trees and the counts of chains of contexts.");
    def_init<std::vector<std::pair<In<std::uint32_t>, In<std::uint8_t>>>, std::vector<Kernel::ChainArrays>,
             std::vector<Kernel::LevelArrays>, std::size_t, Words, Words, std::size_t, std::size_t,
             std::vector<Kernel::CacheArrays>, std::vector<Kernel::VectorArrays>, double>(
        kernel,
        "trees chains levels n_streams counts contexts n_frequent_nodes n_classes caches vectors "
        "adaptive_rate");
    def(kernel, "n_inputs", &Kernel::n_inputs, "history");
    def(kernel, "n_weights", &Kernel::n_weights, "history");
    def(kernel, "root_log_odds", &Kernel::root_log_odds, "tree");
    kernel.def("n_vector_bytes", &Kernel::n_vector_bytes);
    def(kernel, "start", &Kernel::start, "history sentence_start");
    def(kernel, "start_document", &Kernel::start_document, "state");
    def_kernel(kernel, "node_discounts", &Kernel::node_discounts, "max_ngrams threads");
    def_kernel(kernel, "score", &Kernel::score, "words streams classes starts history weights state threads");
    def_kernel(kernel, "contributions", &Kernel::contributions,
               "tree word streams of_class history weights state",
               "Return for each node of the way to a word what each input adds to the log-odds of the side "
               "taken.");
    kernel.def("first_inputs", &Kernel::first_inputs,
               "Return the first input of each network, of each chain, of the caches, and the number of all "
               "inputs.");
    def_kernel(kernel, "distributions", &Kernel::distributions,
               "streams of_class history weights state threads",
               "Return the probability of each word by each tree after the history of the first event.");
    def_kernel(
        kernel, "add_rows", &Kernel::add_rows,
        "words streams classes starts history weights state tree_weights row_weights rows threads",
        "Add to a row for each event the weighted distribution before it by all trees; words are added "
        "to the cache.");
    def_kernel(kernel, "likeliest", &Kernel::likeliest,
               "streams of_class history weights state tree_weights top",
               "Return the likeliest words after the history of the first event, and their probabilities.");
    def_kernel(
        kernel, "draw", &Kernel::draw, "streams of_class history weights state tree quantile",
        "Return the word after the history of the first event in whose range of a tree a quantile lies.\n"
        "\n"
        "The ranges are as wide as the words are probable: a random quantile draws a word.");
    def_kernel(kernel, "check", &Kernel::check, "threads", "Read every list; ValueError if one is damaged.");
    def_kernel(
        kernel, "learn", &Kernel::learn_blocks,
        "words streams classes starts begins ends cache_begins used weights squares rate leave_out seed "
        "state threads");
}

void bind_stepper(nb::module_& m) {
    nb::class_<TreeStepper, Stepper> stepper(
        m, "TreeStepper",
        "A word tree model; what it knows of the words before is the sentence.\n\n"
        "`streams`: of each its source, one of `labels`, which has the words first, or from their number on "
        "one of\n"
        "`states`, or -1 for none; and how many positions back its value is. `classes`: the class of each "
        "word as the last\n"
        "one; empty if there is only one.");
    def_init<std::shared_ptr<const TreeModelKernel>, TreeStepper::Labels, TreeStepper::States,
             const TreeStepper::Streams&, In<std::uint32_t>, std::vector<In<float>>, In<double>>(
        stepper, "kernel labels states streams classes weights tree_weights");
}

}  // namespace

void register_word_tree(nb::module_& m) {
    bind_codes(m);
    bind_chain_counts(m);
    bind_long_lists(m);
    bind_model(m);
    bind_stepper(m);
}

}  // namespace stategram
