// Mixtures, their gates and their parts, as Python sees them.
#include "base/bind.hpp"

#include <nanobind/operators.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checks.hpp"
#include "base/hash.hpp"
#include "base/stepper.hpp"
#include "mixture/clustered_stepper.hpp"
#include "mixture/gate_likelihood.hpp"
#include "mixture/gate_tables.hpp"
#include "mixture/kernels.hpp"
#include "mixture/state_table.hpp"
#include "mixture/word_cache.hpp"

namespace stategram {
namespace {

Out<std::uint32_t> words_of(const WordCache& cache) { return std::vector(cache.words()); }

std::tuple<Out<double>, WordCache> score(const WordCache& before, In<std::uint32_t> ids,
                                         In<std::int64_t> sentence_starts, In<double> unigram) {
    check_below(ids, unigram.size(), "an id is not below the number of words");
    check_offsets(sentence_starts, ids.size(), "the sentences do not cover the text");
    std::vector<double> log_probs(ids.size());
    WordCache after = before;
    after.score(ids, sentence_starts, unigram.data(), log_probs.data());
    return {std::move(log_probs), std::move(after)};
}

WordCache add_rows(const WordCache& before, In<std::uint32_t> ids, In<std::int64_t> sentence_starts,
                   In<double> unigram, In<double> weights, InOut<double> rows) {
    check_below(ids, unigram.size(), "an id is not below the number of words");
    for (const std::uint32_t word : before.words())
        require(word < unigram.size(), "an id is not below the number of words");
    check_offsets(sentence_starts, ids.size(), "the sentences do not cover the text");
    require(weights.size() == ids.size() && rows.size() == ids.size() * unigram.size(),
            "each word of the text needs a weight and a row");
    WordCache after = before;
    after.add_rows(ids, sentence_starts, unigram, weights.data(), rows.data());
    return after;
}

Out<double> distribution(const WordCache& cache, In<double> unigram) {
    std::vector<double> probabilities(unigram.size());
    cache.distribution(unigram.data(), unigram.size(), probabilities.data());
    return probabilities;
}

std::size_t hash(const WordCache& cache) {
    const std::vector<std::uint32_t>& words = cache.words();
    const std::size_t size = std::min<std::size_t>(words.size(), 16);  // the last ones say enough
    return hash_of(words.data() + words.size() - size, size, words.size());
}

void bind_clustered(nb::module_& m) {
    nb::class_<StateTable> table(
        m, "StateTable",
        "p(g | s): the probability of the cell of a state and a category, if there is one, and\n"
        "taken[s] * fractions[g]. The cells of a state are those from offsets[s] to offsets[s + 1] - 1.");
    def_init<In<std::int64_t>, In<std::uint32_t>, In<double>, In<double>, In<double>>(
        table, "offsets columns probs taken fractions");
    nb::class_<ClusteredStepper, Stepper> stepper(
        m, "ClusteredStepper",
        "A clustered model: the states of contexts, and the categories of words.\n\n"
        "`tables`: of each level p(g | s). `weights`: of each level and count bucket. `frequencies`: of "
        "categories.");
    def_init<std::shared_ptr<const StateTree>, StateTables, Matrix<double>, In<double>, In<std::uint32_t>,
             In<double>>(stepper, "tree tables weights frequencies categories word_probs");
    def_kernel(
        stepper, "score_text", &ClusteredStepper::score_text,
        "ids sentence_starts history with_states with_buckets threads",
        "Return for each event its natural-log probability, the state of its context on the last level,\n"
        "and a list of the count buckets on each level; arrays that are not wanted are empty.\n\n"
        "`history`: the words before the first sentence, the nearest last.");
}

void bind_scoring(nb::module_& m) {
    nb::class_<GateTables> tables(m, "GateTables", "The tables of a gate, for mixtures of so many parts.");
    def_init<std::size_t>(tables, "n_parts");
    def(tables, "add", &GateTables::add, "names part begins edges rows",
        "Add a table that up to two features of a part look up.\n\n"
        "`begins`: the first bucket of each value of the first feature, and the number of buckets. "
        "`edges`:\n"
        "between the buckets of a value. `rows`: the weights of each bucket.");
    def_kernel(
        m, "mix_events", &mix_events, "gate log_probs features mixed threads",
        "Write the natural-log probability of each event of a mixture.\n\n"
        "`log_probs`: of each part. `features`: of each table of the gate, those that look it up. Returns "
        "for each\n"
        "part the sum of its log-probabilities, and of its weights.");
}

void bind_weights(nb::module_& m) {
    def_kernel(
        m, "em_weights", &em_weights, "ratios weights max_iterations tolerance threads",
        "Estimate the weights of a mixture by expectation maximization, starting from given ones.\n"
        "\n"
        "`ratios` has a row for each part: its probabilities of all events, each divided by the greatest "
        "of them.\n"
        "Stops when no other weights could gain `tolerance` nats per event.\n"
        "\n"
        "Returns the weights, the sum of log(sum over parts of weight * ratio), the iterations.");
}

void bind_gate_likelihood(nb::module_& m) {
    nb::class_<GateLikelihood> likelihood(
        m, "GateLikelihood",
        "The likelihood of events under gates, whose weights are normalized products of rows of factors.\n\n"
        "`ratios` has a row for each event: the probabilities of the parts, each divided by the greatest.\n"
        "`rows` has for each table and event the row it looks up, numbered over all tables.");
    def_init<Matrix<float>, Matrix<std::uint32_t>, std::size_t, int>(likelihood,
                                                                     "ratios rows n_rows threads");
    def_kernel(likelihood, "value_and_gradient", entering<&GateLikelihood::value_and_gradient>, "log_factors",
               "Return the sum of log(sum over parts of weight * ratio), and its derivative by each log "
               "factor.\n"
               "\n"
               "`log_factors`: one row after the other, the logarithm of the factor of each part.");
}

void bind_word_cache(nb::module_& m) {
    using Pickled =
        std::tuple<std::vector<double>, std::uint32_t, std::uint32_t, std::size_t, In<std::uint32_t>>;
    nb::class_<WordCache> bound(
        m, "WordCache",
        "The words so far, with decaying counts of words and of what followed the last words. Immutable.\n\n"
        "`decays`: of words, bigrams and trigrams, for each word of the text. `words`: the words so far, "
        "where\n"
        "`begin`, which is no event, starts a sentence; so does what follows `end`. At most `capacity` are\n"
        "kept, and at least half as many.");
    def_init<std::vector<double>, std::uint32_t, std::uint32_t, std::size_t, In<std::uint32_t>>(
        bound, "decays begin end capacity words");
    bound.def_prop_ro("words", &words_of, nb::rv_policy::move, "The words that are kept.");
    def_kernel(bound, "score", &score, "ids sentence_starts unigram",
               "Return the natural-log probability of each word of a text, and the cache after it.\n\n"
               "The first sentence goes on from the words so far. `unigram`: the probability of each word\n"
               "without a cache.");
    def_kernel(bound, "add_rows", &add_rows, "ids sentence_starts unigram weights rows",
               "Add to a row for each word of a text the weighted distribution before it; return the cache "
               "after it.\n\nThe other arguments are those of `score`.");
    def_kernel(bound, "distribution", &distribution, "unigram",
               "Return the probability of each word after the words so far.");
    bound.def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"));
    bound.def("__hash__", &hash);
    bound.def("__getstate__", [](const WordCache& cache) {
        return std::tuple_cat(cache.settings(), std::tuple(words_of(cache)));
    });
    bound.def("__setstate__", [](WordCache& cache, const Pickled& pickled) {
        const auto& [decays, begin, end, capacity, words] = pickled;
        new (&cache) WordCache(decays, begin, end, capacity, words);
    });
}

}  // namespace

void register_mixture(nb::module_& m) {
    bind_clustered(m);
    bind_scoring(m);
    bind_weights(m);
    bind_gate_likelihood(m);
    bind_word_cache(m);
}

}  // namespace stategram
