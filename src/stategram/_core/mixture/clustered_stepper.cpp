// All events of a text at once.
#include "mixture/clustered_stepper.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checks.hpp"
#include "base/threads.hpp"

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

}  // namespace

std::tuple<Out<double>, Out<float>, std::vector<Out<float>>> ClusteredStepper::score_text(
    In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::uint32_t> history, bool with_states,
    const std::vector<bool>& with_buckets, int threads) const {
    const std::size_t size = ids.size(), depth = model_.depth();
    require(history.size() == model_.width() && with_buckets.size() == depth,
            "the history does not fit the context");
    check_offsets(sentence_starts, size, "the sentences do not cover the ids");
    check_below(history, n_words(), "an id is not below the number of words");
    BigArray<double> log_probs(size);
    BigArray<float> states(with_states ? size : 0);
    std::vector<Out<float>> buckets;
    EventOutput to{log_probs.data(), with_states ? states.data() : nullptr, {}};
    for (const bool wanted : with_buckets) {
        buckets.emplace_back(BigArray<float>(wanted ? size : 0));
        to.buckets.push_back(wanted ? buckets.back().data() : nullptr);
    }
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
    return {std::move(log_probs), std::move(states), std::move(buckets)};
}

}  // namespace stategram
