// Mixtures, their gates and their parts, as Python sees them.
#include <nanobind/operators.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/stepper.hpp"
#include "mixture/clustered_stepper.hpp"
#include "mixture/gate_likelihood.hpp"
#include "mixture/gate_tables.hpp"
#include "mixture/kernels.hpp"
#include "mixture/state_table.hpp"
#include "mixture/word_cache.hpp"

namespace stategram {
namespace {

Out<std::uint32_t> words_of(const WordCache& cache) {
    return to_numpy(std::vector<std::uint32_t>(cache.words()));
}

auto score(const WordCache& before, In<std::uint32_t> ids, In<std::int64_t> sentence_starts,
           In<double> unigram) {
    check_below(ids, unigram.size(), "an id is not below the number of words");
    check_offsets(sentence_starts, ids.size(), "the sentences do not cover the text");
    std::vector<double> log_probs(ids.size());
    WordCache after = [&] {
        nb::gil_scoped_release release;
        WordCache cache = before;
        cache.score(ids, sentence_starts, unigram.data(), log_probs.data());
        return cache;
    }();
    return std::tuple(to_numpy(std::move(log_probs)), std::move(after));
}

WordCache add_rows(const WordCache& before, In<std::uint32_t> ids, In<std::int64_t> sentence_starts,
                   In<double> unigram, In<double> weights, InOut<double> rows) {
    check_below(ids, unigram.size(), "an id is not below the number of words");
    for (const std::uint32_t word : before.words())
        require(word < unigram.size(), "an id is not below the number of words");
    check_offsets(sentence_starts, ids.size(), "the sentences do not cover the text");
    require(weights.size() == ids.size() && rows.size() == ids.size() * unigram.size(),
            "each word of the text needs a weight and a row");
    nb::gil_scoped_release release;
    WordCache cache = before;
    cache.add_rows(ids, sentence_starts, unigram, weights.data(), rows.data());
    return cache;
}

auto distribution(const WordCache& cache, In<double> unigram) {
    std::vector<double> probabilities(unigram.size());
    {
        nb::gil_scoped_release release;
        cache.distribution(unigram.data(), unigram.size(), probabilities.data());
    }
    return to_numpy(std::move(probabilities));
}

// FNV-1a of the last words: those of different texts differ.
std::size_t hash(const WordCache& cache) {
    const std::vector<std::uint32_t>& words = cache.words();
    std::uint64_t mixed = 0xCBF29CE484222325u ^ words.size();
    for (std::size_t i = words.size() - std::min<std::size_t>(words.size(), 16); i < words.size(); ++i)
        mixed = (mixed ^ words[i]) * 0x100000001B3u;
    return static_cast<std::size_t>(mixed >> 1);
}

void bind_clustered(nb::module_& m) {
    using Levels = std::vector<In<std::uint32_t>>;
    nb::class_<StateTable>(
        m, "StateTable",
        "p(g | s): the probability of the cell of a state and a category, if there is one, and\n"
        "taken[s] * fractions[g]. The cells of a state are those from offsets[s] to offsets[s + 1] - 1.")
        .def(nb::init<In<std::int64_t>, In<std::uint32_t>, In<double>, In<double>, In<double>>(),
             nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("probs").noconvert(),
             nb::arg("taken").noconvert(), nb::arg("fractions").noconvert());
    nb::class_<ClusteredStepper, Stepper>(
        m, "ClusteredStepper",
        "A clustered model: the states of contexts, and the categories of words.\n\n"
        "Of each level of the context tree: `maps`, `distances`, `values`, `states`, `buckets`,\n"
        "`inherited`, which maps the state on the level above (0 for the root) to that of unseen contexts,\n"
        "and `tables`, p(g | s); of all but the last `first_child`. `weights`: of each level and count\n"
        "bucket. `frequencies`: of categories.")
        .def(
            nb::init<Levels, std::vector<std::int64_t>, Levels, Levels, Levels, std::vector<In<std::uint8_t>>,
                     Levels, StateTables, LevelWeights, In<double>, In<std::uint32_t>, In<double>>(),
            nb::arg("maps"), nb::arg("distances"), nb::arg("values"), nb::arg("first_child"),
            nb::arg("states"), nb::arg("buckets"), nb::arg("inherited"), nb::arg("tables"),
            nb::arg("weights").noconvert(), nb::arg("frequencies").noconvert(),
            nb::arg("categories").noconvert(), nb::arg("word_probs").noconvert())
        .def(
            "score_text", &ClusteredStepper::score_text, nb::arg("ids").noconvert(),
            nb::arg("sentence_starts").noconvert(), nb::arg("history").noconvert(), nb::arg("with_states"),
            nb::arg("with_buckets"), nb::arg("threads"),
            "Return for each event its natural-log probability, the state of its context on the last level,\n"
            "and a list of the count buckets on each level; arrays that are not wanted are empty.\n\n"
            "`history`: the words before the first sentence, the nearest last.");
}

void bind_scoring(nb::module_& m) {
    nb::class_<GateTables>(m, "GateTables", "The tables of a gate, for mixtures of so many parts.")
        .def(nb::init<std::size_t>(), nb::arg("n_parts"))
        .def("add", &GateTables::add, nb::arg("names"), nb::arg("part"), nb::arg("begins").noconvert(),
             nb::arg("edges").noconvert(), nb::arg("rows").noconvert(),
             "Add a table that up to two features of a part look up.\n\n"
             "`begins`: the first bucket of each value of the first feature, and the number of buckets. "
             "`edges`:\n"
             "between the buckets of a value. `rows`: the weights of each bucket.");
    m.def("mix_events", &mix_events, nb::arg("gate"), nb::arg("log_probs"), nb::arg("features"),
          nb::arg("mixed").noconvert(), nb::arg("threads"),
          "Write the natural-log probability of each event of a mixture.\n\n"
          "`log_probs`: of each part. `features`: of each table of the gate, those that look it up. Returns "
          "for each\n"
          "part the sum of its log-probabilities, and of its weights.");
}

void bind_weights(nb::module_& m) {
    m.def("em_weights", &em_weights, nb::arg("ratios").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("max_iterations"), nb::arg("tolerance"), nb::arg("threads"),
          "Estimate the weights of a mixture by expectation maximization, starting from given ones.\n"
          "\n"
          "`ratios` has a row for each part: its probabilities of all events, each divided by the greatest "
          "of them.\n"
          "Stops when no other weights could gain `tolerance` nats per event.\n"
          "\n"
          "Returns the weights, the sum of log(sum over parts of weight * ratio), the iterations.");
}

void bind_gate_likelihood(nb::module_& m) {
    nb::class_<GateLikelihood>(
        m, "GateLikelihood",
        "The likelihood of events under gates, whose weights are normalized products of rows of factors.\n\n"
        "`ratios` has a row for each event: the probabilities of the parts, each divided by the greatest.\n"
        "`rows` has for each table and event the row it looks up, numbered over all tables.")
        .def(nb::init<GateLikelihood::Matrix<float>, GateLikelihood::Matrix<std::uint32_t>, std::size_t,
                      int>(),
             nb::arg("ratios").noconvert(), nb::arg("rows").noconvert(), nb::arg("n_rows"),
             nb::arg("threads"))
        .def("value_and_gradient", &GateLikelihood::value_and_gradient, nb::arg("log_factors").noconvert(),
             "Return the sum of log(sum over parts of weight * ratio), and its derivative by each log "
             "factor.\n"
             "\n"
             "`log_factors`: one row after the other, the logarithm of the factor of each part.");
}

void bind_word_cache(nb::module_& m) {
    using Pickled =
        std::tuple<std::vector<double>, std::uint32_t, std::uint32_t, std::size_t, In<std::uint32_t>>;
    nb::class_<WordCache>(
        m, "WordCache",
        "The words so far, with decaying counts of words and of what followed the last words. Immutable.\n\n"
        "`decays`: of words, bigrams and trigrams, for each word of the text. `words`: the words so far, "
        "where\n"
        "`begin`, which is no event, starts a sentence; so does what follows `end`. At most `capacity` are\n"
        "kept, and at least half as many.")
        .def(nb::init<std::vector<double>, std::uint32_t, std::uint32_t, std::size_t, In<std::uint32_t>>(),
             nb::arg("decays"), nb::arg("begin"), nb::arg("end"), nb::arg("capacity"),
             nb::arg("words").noconvert())
        .def_prop_ro("words", &words_of, nb::rv_policy::move, "The words that are kept.")
        .def("score", &score, nb::arg("ids").noconvert(), nb::arg("sentence_starts").noconvert(),
             nb::arg("unigram").noconvert(),
             "Return the natural-log probability of each word of a text, and the cache after it.\n\n"
             "The first sentence goes on from the words so far. `unigram`: the probability of each word\n"
             "without a cache.")
        .def("add_rows", &add_rows, nb::arg("ids").noconvert(), nb::arg("sentence_starts").noconvert(),
             nb::arg("unigram").noconvert(), nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
             "Add to a row for each word of a text the weighted distribution before it; return the cache "
             "after it.\n\nThe other arguments are those of `score`.")
        .def("distribution", &distribution, nb::arg("unigram").noconvert(),
             "Return the probability of each word after the words so far.")
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__hash__", &hash)
        .def("__getstate__",
             [](const WordCache& cache) {
                 return std::tuple_cat(cache.settings(), std::tuple(words_of(cache)));
             })
        .def("__setstate__", [](WordCache& cache, const Pickled& pickled) {
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
