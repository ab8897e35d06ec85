// Back-off models, as Python sees them.

#include "base/bind.hpp"

#include <tuple>

#include "base/checks.hpp"
#include "base/damaged_model.hpp"
#include "base/threads.hpp"
#include "ngrams/kernels.hpp"
#include "ngrams/packed_layout.hpp"
#include "ngrams/plain_trie.hpp"
#include "ngrams/trie_reader.hpp"

namespace stategram {
namespace {

void bind_trie_reader(nb::module_& m) {
    nb::exception<DamagedModel>(m, "DamagedModel", PyExc_ValueError);
    nb::class_<TrieReader> reader(m, "TrieReader",
                                  "Reads the arrays of a back-off model; their shapes are checked.");
    def_init<In<std::uint32_t>, In<std::int64_t>, Matrix<std::uint8_t>, In<std::uint8_t>, In<std::uint8_t>,
             In<std::uint32_t>, In<float>, bool>(reader,
                                                 "numbers begins widths words records bases values closed");
    def_kernel(reader, "check", &TrieReader::check, "threads",
               "Check every n-gram; ValueError says what is wrong.");
    def_kernel(
        reader, "score_events", &TrieReader::score_events,
        "ids sentence_starts id_map begin_state first_state with_features threads",
        "Return for each event its log10 probability and the length of its n-gram; if wanted, also the "
        "words that\nthe state before it knows, and the log10 weight of that state.\n"
        "\n"
        "`id_map` has the trie's number of each id. The first sentence starts from `first_state`, the "
        "others from\n`begin_state`.");
    def(reader, "advance", &TrieReader::advance_state, "state number",
        "Return the log10 probability of a word, the next state, the length of the n-gram.");
    def(reader, "state_after", &TrieReader::state_after, "state numbers",
        "Return the state after words that follow a state.");
    def_kernel(reader, "distribution", &TrieReader::distribution, "state",
               "Return the probability of each word after a state, by its id.");
    def_kernel(reader, "histories", &TrieReader::histories,
               "ids sentence_starts id_map begin_state first_state threads",
               "Return the state before each event: the n-grams of its last 1, 2, ... words, 2**32 - 1 for "
               "none.\n\nThe other arguments are those of `score_events`.");
    def_kernel(
        reader, "entropies", &TrieReader::entropies, "states n_states masses word_entropies threads",
        "Return sum_w (e(w) p(w) - m(w) p(w) ln p(w)) after each state of `histories`.\n"
        "\n"
        "`masses` and `word_entropies` have m and e by the trie's numbers: with m = 1 for all words but "
        "<s>, and\ne = 0, the sums are entropies.");
    def_kernel(reader, "add_rows", &TrieReader::add_rows, "states weights unigram ids rows threads",
               "Add to each row the weighted distribution after a state of `histories`, by id.\n"
               "\n"
               "`unigram`: the distribution without a history, by id. `ids`: the id of each of the trie's "
               "numbers.");
    def_kernel(
        reader, "plain_level", &TrieReader::plain_level, "length threads",
        "Return the n-grams of a length: last words, log10 probabilities, log10 weights, first children.");
    def(reader, "ngram", &TrieReader::ngram, "length node", "Return the numbers of the words of an n-gram.");
}

void bind_estimates(nb::module_& m) {
    def_kernel(
        m, "interpolate_ngrams", &interpolate_ngrams,
        "first_child counts suffixes lower keep discounts witten_bell begin end probs backoffs threads",
        "Write interpolated probabilities after the histories `begin` to `end` - 1, and their back-off "
        "weights.");
    def_kernel(
        m, "discount_ngrams", &discount_ngrams,
        "first_child counts keep ratios n_predicted begin end probs threads",
        "Write relative frequencies after the histories `begin` to `end` - 1, times a ratio for each count.");
    def_kernel(
        m, "normalise_ngrams", &normalise_ngrams,
        "first_child suffixes lower keep n_predicted begin end probs backoffs sums threads",
        "Write back-off weights of the histories `begin` to `end` - 1, and probabilities of what is not "
        "kept; `sums` is empty, or has what the rounded probabilities after their suffixes sum to and gets "
        "the sums after themselves.");
    def_kernel(m, "counts_of_counts", &counts_of_counts, "counts most",
               "Return how many counts are 0, 1, ..., `most`.");
    def_kernel(m, "log10_floats", &log10_floats, "values logs threads", "Write logarithms to base 10.");
}

void bind_pruning(nb::module_& m) {
    def_kernel(m, "word_frequencies", &word_frequencies,
               "first_child words log_probs keep unigram_log_probs backoffs begin end frequencies",
               "Write how often each word is in text of the model's own, from its bigrams.");
    def_kernel(m, "history_probs", &history_probs, "first_child parents log_probs probs threads",
               "Write probabilities of n-grams as histories, from those one word shorter.");
    def_kernel(m, "ngram_worths", &ngram_worths,
               "first_child history_prob backoffs lower_log_probs log_probs keep worths threads",
               "Write the relative entropy that dropping each n-gram would cost.");
    def_kernel(m, "raise_worths", &raise_worths, "first_child of_children worths threads",
               "Raise the worth of n-grams to that of longer ones which begin with them.");
}

void bind_choice(nb::module_& m) {
    def_kernel(m, "choose_ngrams", &choose_ngrams,
               "targets lower lower_rows occupancies threshold rounds n_words threads",
               "Choose the words that a back-off model should list after each history: how many after each, "
               "their numbers, probabilities and gains.");
}

void bind_plain_trie(nb::module_& m) {
    nb::class_<PlainTrie> trie(m, "PlainTrie",
                               "Backing off in n-grams that are plain arrays; it is checked that they fit "
                               "together.");
    def_init<In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>, In<float>, In<float>, In<std::uint32_t>,
             int>(trie, "numbers begins words log_probs backoffs first_child threads");
    def_kernel(trie, "check", &PlainTrie::check, "threads",
               "Check the values of every n-gram; ValueError says what is wrong.");
    def_kernel(trie, "links", &PlainTrie::links, "threads",
               "Return the longest proper suffix of each n-gram that is there.");
    def_kernel(trie, "lower_log_probs", &PlainTrie::lower_log_probs, "threads",
               "Return log10 p(w | h') of each n-gram hw, h' being h without its first word.");
    def_kernel(trie, "children", &PlainTrie::children, "nodes words threads",
               "Return the child of each node with a word; 0 where there is none.");
    def_kernel(trie, "find_histories", &PlainTrie::find_histories, "rows lengths threads",
               "Return the longest suffix of each row of words that is a history; `lengths` of them count.");
    def_kernel(trie, "log10_probs_after", &PlainTrie::log10_probs_after, "histories words threads",
               "Return the log10 probability of a word after each history.");
    def_kernel(
        trie, "score", &PlainTrie::score, "other numbers threads",
        "Return the log10 probabilities of the n-grams of another model; `numbers` are the trie ids of "
        "its words in this one.");
    def_kernel(trie, "normalising_backoffs", &PlainTrie::normalising_backoffs,
               "n_predicted sum_of_words threads",
               "Return the log10 back-off weights with which the probabilities after each history sum to "
               "one; those of all words sum to `sum_of_words`.");
}

void bind_trie_assembly(nb::module_& m) {
    def_kernel(m, "assemble_level", &assemble_level,
               "words log_probs backoffs first_child ranks next_ranks next_begin begin end words_out "
               "log_probs_out backoffs_out first_child_out threads",
               "Write what is kept of the n-grams of one length to plain arrays.");
}

void bind_trie_packing(nb::module_& m) {
    m.attr("PACKED_PADDING") = bits_padding;
    def_kernel(m, "pack_ngrams", &pack_ngrams,
               "length order words log_probs backoffs first_child children_begin word_bits widths "
               "log_prob_table backoff_table begin end words_out records_out bases_out threads",
               "Pack some of the n-grams of one length.");
    def_kernel(m, "child_bits", &child_bits, "first_child",
               "Return the bits that the first children of n-grams take when packed.");
    def_kernel(m, "distinct_values", &distinct_values, "values limit",
               "Return the different values in rising order; none if there are more than `limit`.");
    m.def(
        "packed_sizes",
        [](int length, int order, std::size_t size, unsigned bits_of_word, In<std::uint8_t> widths) {
            require(widths.size() == 3 && widths[0] <= 32 && widths[1] <= 32 && widths[2] <= 32,
                    "there are no such bits");
            const LevelSizes sizes = level_sizes(length, order, size, bits_of_word, widths.data());
            return std::tuple(sizes.words, sizes.records, sizes.bases);
        },
        nb::arg("length"), nb::arg("order"), nb::arg("size"), nb::arg("word_bits"),
        nb::arg("widths").noconvert(),
        "Return the bytes of words, the bytes of records and the number of bases of so many n-grams of a "
        "length.");
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
    bind_plain_trie(m);
    bind_trie_assembly(m);
    bind_trie_packing(m);
}

}  // namespace stategram
