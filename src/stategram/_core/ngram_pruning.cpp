// Entropy-based pruning of back-off models (Stolcke 1998).
#include <cmath>
#include <cstdint>

#include "arrays.hpp"
#include "checks.hpp"
#include "threads.hpp"

namespace stategram {
namespace {

// p(hw) = p(h) p(w | h), the probability of each n-gram as a history.
void history_probs(In<std::uint32_t> first_child, In<double> parents, In<float> log_probs,
                   InOut<double> probs, int threads) {
    require(first_child.size() == parents.size() + 1 && log_probs.size() == probs.size(),
            "the levels do not fit together");
    nb::gil_scoped_release release;
    check_children(first_child.data(), 0, parents.size(), probs.size());
    ThreadPool pool(threads);
    for_slices(pool, 0, parents.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t parent = begin; parent < end; ++parent) {
            const std::size_t first = first_child.data()[parent], last = first_child.data()[parent + 1];
            for (std::size_t i = first; i < last; ++i)
                probs.data()[i] = parents.data()[parent] * std::pow(10.0, double{log_probs.data()[i]});
        }
    });
}

// Takes the mark `keep` from the n-grams that are worth little:
//
//     D = -p(h) { p(w | h) [log p(w | h') + log a' - log p(w | h)] + (1 - sum p(v | h)) [log a' - log a] }
//
// The sum is over the kept words v after h; a is the back-off weight of h, a' what it would be without hw.
// One goes if exp(D) - 1 < threshold, unless it is `needed`: a longer n-gram that is kept begins with it.
void prune_ngrams(In<std::uint32_t> first_child, In<double> history_prob, In<float> backoffs,
                  In<std::uint32_t> suffixes, In<float> log_probs, In<float> lower_log_probs,
                  In<std::uint8_t> needed, double threshold, InOut<std::uint8_t> keep, int threads) {
    const std::size_t histories = history_prob.size(), size = log_probs.size();
    require(first_child.size() == histories + 1 && backoffs.size() == histories && suffixes.size() == size &&
                keep.size() == size && (needed.size() == 0 || needed.size() == size),
            "the levels do not fit together");
    const double log_10 = std::log(10.0), least = std::log1p(threshold);
    nb::gil_scoped_release release;
    check_children(first_child.data(), 0, histories, size);
    check_suffixes(suffixes.data(), 0, size, lower_log_probs.size());
    ThreadPool pool(threads);
    for_slices(pool, 0, histories, [&](std::size_t begin, std::size_t end) {
        for (std::size_t history = begin; history < end; ++history) {
            const std::size_t first = first_child.data()[history], last = first_child.data()[history + 1];
            auto log_prob = [&](std::size_t i) { return log_10 * log_probs.data()[i]; };
            auto lower = [&](std::size_t i) { return log_10 * lower_log_probs.data()[suffixes.data()[i]]; };
            double left = 1.0, lower_left = 1.0;
            for (std::size_t i = first; i < last; ++i)
                if (keep.data()[i] != 0) {
                    left -= std::exp(log_prob(i));
                    lower_left -= std::exp(lower(i));
                }
            if (left < 0.0) left = 0.0;
            if (lower_left < 0.0) lower_left = 0.0;
            const double log_a = log_10 * backoffs.data()[history];
            for (std::size_t i = first; i < last; ++i) {
                if (keep.data()[i] == 0 || (needed.size() != 0 && needed.data()[i] != 0)) continue;
                const double p = std::exp(log_prob(i));
                const double log_a_without = std::log((left + p) / (lower_left + std::exp(lower(i))));
                const double own = p * (lower(i) + log_a_without - log_prob(i));
                const double others = left > 0.0 ? left * (log_a_without - log_a) : 0.0;
                if (-history_prob.data()[history] * (own + others) < least) keep.data()[i] = 0;
            }
        }
    });
}

// Which n-grams have children that are kept.
void have_kept_children(In<std::uint32_t> first_child, In<std::uint8_t> children_keep,
                        InOut<std::uint8_t> have, int threads) {
    require(first_child.size() == have.size() + 1, "the levels do not fit together");
    nb::gil_scoped_release release;
    check_children(first_child.data(), 0, have.size(), children_keep.size());
    ThreadPool pool(threads);
    for_slices(pool, 0, have.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t parent = begin; parent < end; ++parent) {
            const std::size_t first = first_child.data()[parent], last = first_child.data()[parent + 1];
            std::uint8_t any = 0;
            for (std::size_t i = first; i < last; ++i) any |= children_keep.data()[i];
            have.data()[parent] = any;
        }
    });
}

}  // namespace

void register_ngram_pruning(nb::module_& m) {
    m.def("history_probs", &history_probs, nb::arg("first_child").noconvert(), nb::arg("parents").noconvert(),
          nb::arg("log_probs").noconvert(), nb::arg("probs").noconvert(), nb::arg("threads"),
          "Write probabilities of n-grams as histories, from those one word shorter.");
    m.def("prune_ngrams", &prune_ngrams, nb::arg("first_child").noconvert(),
          nb::arg("history_prob").noconvert(), nb::arg("backoffs").noconvert(),
          nb::arg("suffixes").noconvert(), nb::arg("log_probs").noconvert(),
          nb::arg("lower_log_probs").noconvert(), nb::arg("needed").noconvert(), nb::arg("threshold"),
          nb::arg("keep").noconvert(), nb::arg("threads"),
          "Clear the mark `keep` of n-grams without which the perplexity rises by less than the threshold.");
    m.def("have_kept_children", &have_kept_children, nb::arg("first_child").noconvert(),
          nb::arg("children_keep").noconvert(), nb::arg("have").noconvert(), nb::arg("threads"),
          "Mark the n-grams with children that are kept.");
}

}  // namespace stategram
