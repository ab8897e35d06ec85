// Back-off models, as Python sees them.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/damaged_model.hpp"
#include "base/threads.hpp"
#include "ngrams/kernels.hpp"
#include "ngrams/packed_arrays.hpp"
#include "ngrams/packed_layout.hpp"
#include "ngrams/plain_trie.hpp"
#include "ngrams/trie_reader.hpp"

namespace stategram {
namespace {

void bind_trie_reader(nb::module_& m) {
    nb::exception<DamagedModel>(m, "DamagedModel", PyExc_ValueError);
    nb::class_<TrieReader> reader(m, "TrieReader",
                                  "Reads the arrays of a back-off model; their shapes are checked.");
    def_packed_init(reader)
        .def("check", &TrieReader::check, nb::arg("threads"),
             "Check every n-gram; ValueError says what is wrong.")
        .def("score_events", &TrieReader::score_events, nb::arg("ids").noconvert(),
             nb::arg("sentence_starts").noconvert(), nb::arg("id_map").noconvert(), nb::arg("begin_state"),
             nb::arg("first_state"), nb::arg("with_features"), nb::arg("threads"),
             "Return for each event its log10 probability and the length of its n-gram; if wanted, also the "
             "words that\nthe state before it knows, and the log10 weight of that state.\n"
             "\n"
             "`id_map` has the trie's number of each id. The first sentence starts from `first_state`, the "
             "others from\n`begin_state`.")
        .def("advance", &TrieReader::advance_state, nb::arg("state"), nb::arg("number"),
             "Return the log10 probability of a word, the next state, the length of the n-gram.")
        .def("state_after", &TrieReader::state_after, nb::arg("state"), nb::arg("numbers").noconvert(),
             "Return the state after words that follow a state.")
        .def("distribution", &TrieReader::distribution, nb::arg("state"),
             "Return the probability of each word after a state, by its id.")
        .def("histories", &TrieReader::histories, nb::arg("ids").noconvert(),
             nb::arg("sentence_starts").noconvert(), nb::arg("id_map").noconvert(), nb::arg("begin_state"),
             nb::arg("first_state"), nb::arg("threads"),
             "Return the state before each event: the n-grams of its last 1, 2, ... words, 2**32 - 1 for "
             "none.\n\nThe other arguments are those of `score_events`.")
        .def("entropies", &TrieReader::entropies, nb::arg("states").noconvert(), nb::arg("n_states"),
             nb::arg("masses").noconvert(), nb::arg("word_entropies").noconvert(), nb::arg("threads"),
             "Return sum_w (e(w) p(w) - m(w) p(w) ln p(w)) after each state of `histories`.\n"
             "\n"
             "`masses` and `word_entropies` have m and e by the trie's numbers: with m = 1 for all words but "
             "<s>, and\ne = 0, the sums are entropies.")
        .def("add_rows", &TrieReader::add_rows, nb::arg("states").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("unigram").noconvert(), nb::arg("ids").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("threads"),
             "Add to each row the weighted distribution after a state of `histories`, by id.\n"
             "\n"
             "`unigram`: the distribution without a history, by id. `ids`: the id of each of the trie's "
             "numbers.")
        .def(
            "plain_level", &TrieReader::plain_level, nb::arg("length"), nb::arg("threads"),
            "Return the n-grams of a length: last words, log10 probabilities, log10 weights, first children.")
        .def("ngram", &TrieReader::ngram, nb::arg("length"), nb::arg("node"),
             "Return the numbers of the words of an n-gram.");
}

void bind_estimates(nb::module_& m) {
    m.def("interpolate_ngrams", &interpolate_ngrams, nb::arg("first_child").noconvert(),
          nb::arg("counts").noconvert(), nb::arg("suffixes").noconvert(), nb::arg("lower").noconvert(),
          nb::arg("keep").noconvert(), nb::arg("discounts").noconvert(), nb::arg("witten_bell"),
          nb::arg("begin"), nb::arg("end"), nb::arg("probs").noconvert(), nb::arg("backoffs").noconvert(),
          nb::arg("threads"),
          "Write interpolated probabilities after the histories `begin` to `end` - 1, and their back-off "
          "weights.");
    m.def(
        "discount_ngrams", &discount_ngrams, nb::arg("first_child").noconvert(),
        nb::arg("counts").noconvert(), nb::arg("keep").noconvert(), nb::arg("ratios").noconvert(),
        nb::arg("n_predicted"), nb::arg("begin"), nb::arg("end"), nb::arg("probs").noconvert(),
        nb::arg("threads"),
        "Write relative frequencies after the histories `begin` to `end` - 1, times a ratio for each count.");
    m.def("normalise_ngrams", &normalise_ngrams, nb::arg("first_child").noconvert(),
          nb::arg("suffixes").noconvert(), nb::arg("lower").noconvert(), nb::arg("keep").noconvert(),
          nb::arg("n_predicted"), nb::arg("begin"), nb::arg("end"), nb::arg("probs").noconvert(),
          nb::arg("backoffs").noconvert(), nb::arg("sums").noconvert(), nb::arg("threads"),
          "Write back-off weights of the histories `begin` to `end` - 1, and probabilities of what is not "
          "kept; `sums` is empty, or has what the rounded probabilities after their suffixes sum to and gets "
          "the sums after themselves.");
    m.def("counts_of_counts", &counts_of_counts, nb::arg("counts").noconvert(), nb::arg("most"),
          "Return how many counts are 0, 1, ..., `most`.");
    m.def("log10_floats", &log10_floats, nb::arg("values").noconvert(), nb::arg("logs").noconvert(),
          nb::arg("threads"), "Write logarithms to base 10.");
}

void bind_pruning(nb::module_& m) {
    m.def("word_frequencies", &word_frequencies, nb::arg("first_child").noconvert(),
          nb::arg("words").noconvert(), nb::arg("log_probs").noconvert(), nb::arg("keep").noconvert(),
          nb::arg("unigram_log_probs").noconvert(), nb::arg("backoffs").noconvert(), nb::arg("begin"),
          nb::arg("end"), nb::arg("frequencies").noconvert(),
          "Write how often each word is in text of the model's own, from its bigrams.");
    m.def("history_probs", &history_probs, nb::arg("first_child").noconvert(), nb::arg("parents").noconvert(),
          nb::arg("log_probs").noconvert(), nb::arg("probs").noconvert(), nb::arg("threads"),
          "Write probabilities of n-grams as histories, from those one word shorter.");
    m.def("ngram_worths", &ngram_worths, nb::arg("first_child").noconvert(),
          nb::arg("history_prob").noconvert(), nb::arg("backoffs").noconvert(),
          nb::arg("lower_log_probs").noconvert(), nb::arg("log_probs").noconvert(),
          nb::arg("keep").noconvert(), nb::arg("worths").noconvert(), nb::arg("threads"),
          "Write the relative entropy that dropping each n-gram would cost.");
    m.def("raise_worths", &raise_worths, nb::arg("first_child").noconvert(),
          nb::arg("of_children").noconvert(), nb::arg("worths").noconvert(), nb::arg("threads"),
          "Raise the worth of n-grams to that of longer ones which begin with them.");
}

void bind_choice(nb::module_& m) {
    m.def("choose_ngrams", &choose_ngrams, nb::arg("targets").noconvert(), nb::arg("lower").noconvert(),
          nb::arg("lower_rows").noconvert(), nb::arg("occupancies").noconvert(), nb::arg("threshold"),
          nb::arg("rounds"), nb::arg("n_words"), nb::arg("threads"),
          "Choose the words that a back-off model should list after each history: how many after each, "
          "their numbers, probabilities and gains.");
}

void bind_plain_backoff(nb::module_& m) {
    m.def("lower_log_probs", &lower_log_probs, nb::arg("begins").noconvert(), nb::arg("words").noconvert(),
          nb::arg("first_child").noconvert(), nb::arg("log_probs").noconvert(),
          nb::arg("backoffs").noconvert(), nb::arg("threads"),
          "Return log10 p(w | h') of each n-gram hw, h' being h without its first word, and its longest "
          "proper suffix that is there.");
    m.def("back_off_log_probs", &back_off_log_probs, nb::arg("begins").noconvert(),
          nb::arg("words").noconvert(), nb::arg("first_child").noconvert(), nb::arg("log_probs").noconvert(),
          nb::arg("backoffs").noconvert(), nb::arg("asked_begins").noconvert(),
          nb::arg("asked_words").noconvert(), nb::arg("asked_first_child").noconvert(),
          nb::arg("numbers").noconvert(), nb::arg("threads"),
          "Return the log10 probabilities that a model gives to n-grams, its own or not; `numbers` are those "
          "of their words in the model.");
    m.def(
        "normalising_backoffs", &normalising_backoffs, nb::arg("begins").noconvert(),
        nb::arg("words").noconvert(), nb::arg("first_child").noconvert(), nb::arg("log_probs").noconvert(),
        nb::arg("n_predicted"), nb::arg("sum_of_words"), nb::arg("threads"),
        "Return the log10 back-off weights with which the probabilities after each history sum to one; those "
        "of all words sum to `sum_of_words`.");
}

void bind_trie_assembly(nb::module_& m) {
    m.def("assemble_level", &assemble_level, nb::arg("words").noconvert(), nb::arg("log_probs").noconvert(),
          nb::arg("backoffs").noconvert(), nb::arg("first_child").noconvert(), nb::arg("ranks").noconvert(),
          nb::arg("next_ranks").noconvert(), nb::arg("next_begin"), nb::arg("begin"), nb::arg("end"),
          nb::arg("words_out").noconvert(), nb::arg("log_probs_out").noconvert(),
          nb::arg("backoffs_out").noconvert(), nb::arg("first_child_out").noconvert(), nb::arg("threads"),
          "Write what is kept of the n-grams of one length to plain arrays.");
}

void bind_trie_packing(nb::module_& m) {
    m.attr("PACKED_PADDING") = bits_padding;
    m.def("pack_ngrams", &pack_ngrams, nb::arg("length"), nb::arg("order"), nb::arg("words").noconvert(),
          nb::arg("log_probs").noconvert(), nb::arg("backoffs").noconvert(),
          nb::arg("first_child").noconvert(), nb::arg("children_begin"), nb::arg("word_bits"),
          nb::arg("widths").noconvert(), nb::arg("log_prob_table").noconvert(),
          nb::arg("backoff_table").noconvert(), nb::arg("begin"), nb::arg("end"),
          nb::arg("words_out").noconvert(), nb::arg("records_out").noconvert(),
          nb::arg("bases_out").noconvert(), nb::arg("threads"), "Pack some of the n-grams of one length.");
    m.def("child_bits", &child_bits, nb::arg("first_child").noconvert(),
          "Return the bits that the first children of n-grams take when packed.");
    m.def("distinct_values", &distinct_values, nb::arg("values").noconvert(), nb::arg("limit"),
          "Return the different values in rising order; none if there are more than `limit`.");
    m.def(
        "packed_sizes",
        [](int length, int order, std::size_t size, unsigned bits_of_word, In<std::uint8_t> widths) {
            require(widths.size() == 3 && widths(0) <= 32 && widths(1) <= 32 && widths(2) <= 32,
                    "there are no such bits");
            const LevelSizes sizes = level_sizes(length, order, size, bits_of_word, widths.data());
            return std::tuple(sizes.words, sizes.records, sizes.bases);
        },
        nb::arg("length"), nb::arg("order"), nb::arg("size"), nb::arg("word_bits"),
        nb::arg("widths").noconvert(),
        "Return the bytes of words, the bytes of records and the number of bases of so many n-grams of a "
        "length.");
    m.def(
        "check_plain_trie",
        [](In<std::uint32_t> numbers, In<std::int64_t> begins, In<std::uint32_t> words, In<float> log_probs,
           In<float> backoffs, In<std::uint32_t> first_child, int threads) {
            nb::gil_scoped_release release;
            ThreadPool pool(threads);
            check_plain({numbers, begins, words, log_probs, backoffs, first_child}, pool);
        },
        nb::arg("numbers").noconvert(), nb::arg("begins").noconvert(), nb::arg("words").noconvert(),
        nb::arg("log_probs").noconvert(), nb::arg("backoffs").noconvert(), nb::arg("first_child").noconvert(),
        nb::arg("threads"), "Check every n-gram of plain arrays; ValueError says what is wrong.");
    m.def(
        "word_bits",
        [](std::size_t vocabulary) {
            require(vocabulary > 0, "no words");
            return word_bits(vocabulary);
        },
        nb::arg("vocabulary"), "Return the bits of a word's number.");
}

}  // namespace

void register_ngrams(nb::module_& m) {
    bind_trie_reader(m);
    bind_estimates(m);
    bind_pruning(m);
    bind_choice(m);
    bind_plain_backoff(m);
    bind_trie_assembly(m);
    bind_trie_packing(m);
}

}  // namespace stategram
