// Clustered models for Python: word by word, and all events of a text.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/stepper.hpp"
#include "base/threads.hpp"
#include "mixture/clustered_model.hpp"

namespace stategram {
namespace {

// So many contexts are looked up before the probabilities of the first are read.
constexpr std::size_t events_ahead = 32;

struct Text {
    const std::uint32_t* ids;
    const std::int64_t* sentence_starts;
    std::size_t n_sentences;
    const std::uint32_t* history;  // before the first sentence, the nearest word last
};

struct EventOutput {
    double* log_probs;
    float* states;                // null if not wanted
    std::vector<float*> buckets;  // of each level; null if not wanted
};

// Scores the events [begin, end) of one sentence, whose words begin at `start`.
void score_events(const ClusteredModel& model, const Text& text, std::size_t sentence, std::size_t begin,
                  std::size_t end, const EventOutput& to, std::vector<ContextState>& found) {
    const auto start = static_cast<std::size_t>(text.sentence_starts[sentence]);
    const std::size_t depth = model.depth(), width = model.width();
    for (std::size_t from = begin; from < end; from += events_ahead) {
        const std::size_t to_event = std::min(end, from + events_ahead);
        for (std::size_t i = from; i < to_event; ++i) {
            ContextState* levels = found.data() + (i - from) * depth;
            model.find(
                [&](std::size_t distance) {
                    if (i - start >= distance) return text.ids[i - distance];
                    return sentence > 0 ? begin_id : text.history[width + (i - start) - distance];
                },
                levels);
            model.prefetch(levels, text.ids[i]);
        }
        for (std::size_t i = from; i < to_event; ++i) {
            const ContextState* levels = found.data() + (i - from) * depth;
            to.log_probs[i] = std::log(model.probability(levels, text.ids[i]));
            if (to.states != nullptr) to.states[i] = static_cast<float>(levels[depth - 1].state);
            for (std::size_t level = 0; level < depth; ++level)
                if (to.buckets[level] != nullptr)
                    to.buckets[level][i] = static_cast<float>(levels[level].bucket);
        }
    }
}

// A state has the last words, the nearest last, and what their context is on each level.
class ClusteredStepper final : public Stepper {
 public:
    ClusteredStepper(std::vector<In<std::uint32_t>> maps, std::vector<std::int64_t> distances,
                     std::vector<In<std::uint32_t>> values, std::vector<In<std::uint32_t>> first_child,
                     std::vector<In<std::uint32_t>> states, std::vector<In<std::uint8_t>> buckets,
                     std::vector<In<std::uint32_t>> inherited, StateTables tables, LevelWeights weights,
                     In<double> frequencies, In<std::uint32_t> categories, In<double> word_probs)
        : model_({std::move(maps), std::move(distances), std::move(values), std::move(first_child),
                  std::move(states), std::move(buckets), std::move(inherited)},
                 std::move(tables), std::move(weights), std::move(frequencies), std::move(categories),
                 std::move(word_probs)),
          words_size_(model_.width() * sizeof(std::uint32_t)) {}

    std::size_t n_words() const override { return model_.n_words(); }
    std::size_t state_size() const override { return words_size_ + model_.depth() * sizeof(ContextState); }

    void start(bool sentence_start, std::byte* state) const override {
        for (std::size_t at = 0; at < words_size_; at += sizeof(std::uint32_t))
            store(state + at, sentence_start ? begin_id : unknown_id);
        find_context(state);
    }

    Step advance(const std::byte* state, std::uint32_t id, std::byte* after) const override {
        std::memcpy(after, state + sizeof id, words_size_ - sizeof id);
        store(after + words_size_ - sizeof id, id);
        std::array<ContextState, most_levels> levels;
        std::memcpy(levels.data(), state + words_size_, model_.depth() * sizeof(ContextState));
        for (std::size_t level = 0; level < model_.depth(); ++level)
            require(levels[level].state < model_.n_states() && levels[level].bucket < model_.n_buckets(),
                    "the state is none of this model");
        for (std::size_t at = 0; at < words_size_; at += sizeof id)
            require(load<std::uint32_t>(state + at) < n_words(), "the state is none of this model");
        find_context(after);
        return {std::log10(model_.probability(levels.data(), id)), 0};
    }

    Feature feature(const std::string& name) const override {
        const std::size_t contexts = words_size_;
        if (name == "state")
            return [at = contexts + (model_.depth() - 1) * sizeof(ContextState)](const std::byte* state) {
                return static_cast<float>(load<ContextState>(state + at).state);
            };
        for (std::size_t level = 0; level < model_.depth(); ++level)
            if (name == "size-" + std::to_string(level + 1))
                return [at = contexts + level * sizeof(ContextState)](const std::byte* state) {
                    return static_cast<float>(load<ContextState>(state + at).bucket);
                };
        return {};
    }

    auto score_text(In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::uint32_t> history,
                    bool with_states, const std::vector<bool>& with_buckets, int threads) const {
        const std::size_t size = ids.size(), depth = model_.depth();
        require(history.size() == model_.width() && with_buckets.size() == depth,
                "the history does not fit the context");
        check_offsets(sentence_starts, size, "the sentences do not cover the ids");
        check_below(history, n_words(), "an id is not below the number of words");
        std::unique_ptr<double[]> log_probs(new double[size]);
        std::unique_ptr<float[]> states(new float[with_states ? size : 0]);
        std::vector<std::unique_ptr<float[]>> buckets;
        EventOutput to{log_probs.get(), with_states ? states.get() : nullptr, {}};
        for (const bool wanted : with_buckets) {
            buckets.emplace_back(new float[wanted ? size : 0]);
            to.buckets.push_back(wanted ? buckets.back().get() : nullptr);
        }
        {
            nb::gil_scoped_release release;
            check_below(ids, n_words(), "an id is not below the number of words");
            const Text text{ids.data(), sentence_starts.data(), sentence_starts.size() - 1, history.data()};
            ThreadPool pool(threads);
            for_slices(pool, 0, size, [&](std::size_t begin, std::size_t end) {
                std::vector<ContextState> found(events_ahead * depth);
                const std::int64_t *first = text.sentence_starts, *last = first + text.n_sentences + 1;
                auto sentence = static_cast<std::size_t>(
                    std::upper_bound(first, last, static_cast<std::int64_t>(begin)) - first - 1);
                for (; begin < end; ++sentence) {
                    const std::size_t stop = std::min(end, static_cast<std::size_t>(first[sentence + 1]));
                    if (begin < stop) score_events(model_, text, sentence, begin, stop, to, found);
                    begin = std::max(begin, stop);
                }
            });
        }
        nb::typed<nb::list, Out<float>> of_levels;
        for (std::size_t level = 0; level < depth; ++level)
            of_levels.append(to_numpy(std::move(buckets[level]), with_buckets[level] ? size : 0));
        return std::tuple(to_numpy(std::move(log_probs), size),
                          to_numpy(std::move(states), with_states ? size : 0), std::move(of_levels));
    }

 private:
    static constexpr std::size_t most_levels = 255;

    // Writes what the context of a state's words is.
    void find_context(std::byte* state) const {
        std::array<ContextState, most_levels> levels;
        model_.find(
            [&](std::size_t distance) {
                return load<std::uint32_t>(state + words_size_ - distance * sizeof(std::uint32_t));
            },
            levels.data());
        std::memcpy(state + words_size_, levels.data(), model_.depth() * sizeof(ContextState));
    }

    ClusteredModel model_;
    std::size_t words_size_;
};

}  // namespace

void register_clustered(nb::module_& m) {
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
        "`inherited`, the state of unknown contexts by that of the level above (the root has state 0),\n"
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

}  // namespace stategram
