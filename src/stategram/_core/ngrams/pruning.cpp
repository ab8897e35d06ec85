// Entropy-based pruning of back-off models (Stolcke 1998).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "ngrams/kernels.hpp"

namespace stategram {

// How often each word is in text of the model's own, from its bigrams: the fixed point of
//
//     f(w) = sum of f(v) p(w | v),      where <s> is as frequent as </s>, after which it stands
//
// Half a step at a time, so that it is reached whatever the bigrams are. The unigrams of a Kneser-Ney model
// are no such frequencies: a word that follows few others has little of them, however often it is there.
void word_frequencies(In<std::uint32_t> first_child, In<std::uint32_t> words, In<float> log_probs,
                      In<std::uint8_t> keep, In<float> unigram_log_probs, In<float> backoffs,
                      std::uint32_t begin, std::uint32_t end, InOut<double> frequencies) {
    const std::size_t n_words = frequencies.size(), size = words.size();
    require(first_child.size() == n_words + 1 && log_probs.size() == size &&
                (keep.size() == 0 || keep.size() == size) && unigram_log_probs.size() == n_words &&
                backoffs.size() == n_words && begin < n_words && end < n_words,
            "the levels do not fit together");
    check_children(first_child.data(), 0, n_words, size);
    check_below(words, n_words, "the number of a word is too great");
    const auto exp10 = [](float log) { return std::pow(10.0, double{log}); };
    std::vector<double> unigrams(n_words), weights(n_words), bigrams(size), next(n_words);
    for (std::size_t i = 0; i < n_words; ++i) {
        unigrams[i] = i == begin ? 0.0 : exp10(unigram_log_probs[i]);
        weights[i] = exp10(backoffs[i]);
    }
    for (std::size_t v = 0; v < n_words; ++v)  // what a bigram gives beyond backing off
        for (std::size_t i = first_child[v]; i < first_child[v + 1]; ++i)
            if (keep.size() == 0 || keep[i] != 0)
                bigrams[i] = exp10(log_probs[i]) - weights[v] * unigrams[words[i]];
    double* f = frequencies.data();
    std::copy(unigrams.begin(), unigrams.end(), f);
    for (int iteration = 0; iteration < 50; ++iteration) {
        f[begin] = f[end];
        const double before = f[end];
        f[end] = 0.0;  // of histories: the next one is that of <s>
        double backed = 0.0, total = 0.0;
        for (std::size_t v = 0; v < n_words; ++v) backed += f[v] * weights[v];
        for (std::size_t w = 0; w < n_words; ++w) next[w] = backed * unigrams[w];
        for (std::size_t v = 0; v < n_words; ++v)
            for (std::size_t i = first_child[v]; i < first_child[v + 1]; ++i)
                next[words[i]] += f[v] * bigrams[i];
        f[end] = before;
        f[begin] = next[begin] = 0.0;
        for (std::size_t w = 0; w < n_words; ++w) total += f[w] = 0.5 * (f[w] + std::max(next[w], 0.0));
        if (total > 0.0)
            for (std::size_t w = 0; w < n_words; ++w) f[w] /= total;
    }
    f[begin] = f[end];
}

// p(hw) = p(h) p(w | h), the probability of each n-gram as a history.
void history_probs(In<std::uint32_t> first_child, In<double> parents, In<float> log_probs,
                   InOut<double> probs, int threads) {
    require(first_child.size() == parents.size() + 1 && log_probs.size() == probs.size(),
            "the levels do not fit together");
    check_children(first_child.data(), 0, parents.size(), probs.size());
    ThreadPool pool(threads);
    for_slices(pool, 0, parents.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t parent = begin; parent < end; ++parent) {
            const std::size_t first = first_child[parent], last = first_child[parent + 1];
            for (std::size_t i = first; i < last; ++i)
                probs[i] = parents[parent] * std::pow(10.0, double{log_probs[i]});
        }
    });
}

// What n-grams of one length are worth: the relative entropy between the model and the model without hw,
//
//     D = -p(h) { p(w | h) [log p(w | h') + log a' - log p(w | h)] + (1 - sum p(v | h)) [log a' - log a] }
//
// The sum is over the words v of n-grams that are kept after h; a is the back-off weight of h, a' what it
// would be without hw. `lower_log_probs` has p(w | h'). One that is not kept is worth less than nothing, one
// without which there would be no probability at all everything.
void ngram_worths(In<std::uint32_t> first_child, In<double> history_prob, In<float> backoffs,
                  In<float> lower_log_probs, In<float> log_probs, In<std::uint8_t> keep, InOut<double> worths,
                  int threads) {
    const std::size_t histories = history_prob.size(), size = log_probs.size();
    require(first_child.size() == histories + 1 && backoffs.size() == histories &&
                lower_log_probs.size() == size && worths.size() == size &&
                (keep.size() == 0 || keep.size() == size),
            "the levels do not fit together");
    const double log_10 = std::log(10.0), infinity = std::numeric_limits<double>::infinity();
    check_children(first_child.data(), 0, histories, size);
    const auto kept = [&](std::size_t i) { return keep.size() == 0 || keep[i] != 0; };
    const auto log_prob = [&](std::size_t i) { return log_10 * log_probs[i]; };
    const auto lower = [&](std::size_t i) { return log_10 * lower_log_probs[i]; };
    ThreadPool pool(threads);
    for_slices(pool, 0, histories, [&](std::size_t begin, std::size_t end) {
        for (std::size_t history = begin; history < end; ++history) {
            const std::size_t first = first_child[history], last = first_child[history + 1];
            double left = 1.0, lower_left = 1.0;
            for (std::size_t i = first; i < last; ++i)
                if (kept(i)) {
                    left -= std::exp(log_prob(i));
                    lower_left -= std::exp(lower(i));
                }
            if (left < 0.0) left = 0.0;
            if (lower_left < 0.0) lower_left = 0.0;
            const double log_a = log_10 * backoffs[history];
            for (std::size_t i = first; i < last; ++i) {
                worths[i] = -infinity;
                if (!kept(i)) continue;
                const double p = std::exp(log_prob(i));
                const double log_a_without = std::log((left + p) / (lower_left + std::exp(lower(i))));
                const double own = p > 0.0 ? p * (lower(i) + log_a_without - log_prob(i)) : 0.0;
                const double others = left > 0.0 ? left * (log_a_without - log_a) : 0.0;
                const double worth = -history_prob[history] * (own + others);
                worths[i] = std::isnan(worth) ? infinity : worth;
            }
        }
    });
}

// An n-gram is worth at least what any longer one is worth that begins with it: it is kept as long as that.
void raise_worths(In<std::uint32_t> first_child, In<double> of_children, InOut<double> worths, int threads) {
    require(first_child.size() == worths.size() + 1, "the levels do not fit together");
    check_children(first_child.data(), 0, worths.size(), of_children.size());
    ThreadPool pool(threads);
    for_slices(pool, 0, worths.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t parent = begin; parent < end; ++parent) {
            const std::size_t first = first_child[parent], last = first_child[parent + 1];
            for (std::size_t i = first; i < last; ++i)
                worths[parent] = std::max(worths[parent], of_children[i]);
        }
    });
}

}  // namespace stategram
