// Probabilities of the n-grams of one length and back-off weights of their histories, from those one shorter.
//
// The children of a node are the words w seen after the history h; `lower` holds p(w | h') for each n-gram
// h'w, h' being h without its first word. An n-gram that is not kept has no probability of its own: it gets
// what backing off gives it, so that longer n-grams find their lower probability in one place.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/prefetch.hpp"
#include "base/threads.hpp"
#include "ngrams/kernels.hpp"

namespace stategram {
namespace {

// The n-grams of one length, seen from their histories.
struct Ngrams {
    const std::uint32_t *first_child, *suffix;
    const double* lower;
    const std::uint8_t* keep;  // null: all
    std::size_t size;

    bool kept(std::size_t ngram) const { return keep == nullptr || keep[ngram] != 0; }
    double lower_prob(std::size_t ngram) const {
        if (ngram + 16 < size) prefetch(lower + suffix[ngram + 16]);
        return lower[suffix[ngram]];
    }
};

template <typename Use>
void for_histories(std::size_t begin, std::size_t end, int threads, const Use& use) {
    ThreadPool pool(threads);
    for_slices(pool, begin, end, [&](std::size_t first, std::size_t last) {
        for (std::size_t history = first; history < last; ++history) use(history);
    });
}

Ngrams make_ngrams(const In<std::uint32_t>& first_child, const In<std::uint32_t>& suffixes,
                   const In<double>& lower, const In<std::uint8_t>& keep, const InOut<double>& probs,
                   const InOut<double>& backoffs, std::size_t begin, std::size_t end) {
    require(first_child.size() == backoffs.size() + 1 && suffixes.size() == probs.size() && begin <= end &&
                end <= backoffs.size() && (keep.size() == 0 || keep.size() == probs.size()),
            "the arrays of the n-grams do not fit together");
    check_children(first_child.data(), begin, end, probs.size());
    check_suffixes(suffixes.data(), first_child[begin], first_child[end], lower.size());
    return {first_child.data(), suffixes.data(), lower.data(), keep.size() == 0 ? nullptr : keep.data(),
            probs.size()};
}

}  // namespace

// p(w | h) = (c(hw) - D(c)) / c(h) + backoff(h) p(w | h'), D for counts of 1, 2 and more.
//
// Witten-Bell: nothing is taken from a count, but T(h), the number of different words after h, is added to
// c(h). What is taken from counts, or was the share of n-grams that are not kept, is the back-off weight.
void interpolate_ngrams(In<std::uint32_t> first_child, In<std::uint32_t> counts, In<std::uint32_t> suffixes,
                        In<double> lower, In<std::uint8_t> keep, In<double> discounts, bool witten_bell,
                        std::size_t begin, std::size_t end, InOut<double> probs, InOut<double> backoffs,
                        int threads) {
    const Ngrams ngrams = make_ngrams(first_child, suffixes, lower, keep, probs, backoffs, begin, end);
    require(counts.size() == probs.size() && discounts.size() == 3, "the counts do not fit the n-grams");
    const double discount[] = {0.0, discounts[0], discounts[1], discounts[2]};
    const std::uint32_t* count = counts.data();
    double *prob = probs.data(), *backoff = backoffs.data();
    for_histories(begin, end, threads, [&](std::size_t history) {
        const std::size_t first = ngrams.first_child[history], last = ngrams.first_child[history + 1];
        double total = 0.0, free = 0.0;
        std::size_t unseen = 0;  // among all words, after the empty history
        for (std::size_t i = first; i < last; ++i) {
            unseen += count[i] == 0;
            const double taken = discount[std::min(count[i], 3u)];
            total += count[i];
            free += ngrams.kept(i) ? taken : count[i];
        }
        if (witten_bell) {
            const double different = static_cast<double>(last - first - unseen);
            total += different;
            free += different;
        }
        const double scale = total > 0.0 ? 1.0 / total : 0.0;
        // Without a rounding if all is free: a weight of 1 is stored as nothing.
        const double weight = total > 0.0 && free != total ? free * scale : 1.0;
        backoff[history] = weight;
        for (std::size_t i = first; i < last; ++i) {
            const double own = ngrams.kept(i) ? (count[i] - discount[std::min(count[i], 3u)]) * scale : 0.0;
            prob[i] = own + weight * ngrams.lower_prob(i);
        }
    });
}

// p(w | h) = ratio(c(hw)) c(hw) / c(h) for the n-grams that are kept. Where nothing would be left to back off
// with, one event more is taken to have been seen after h; where all `n_predicted` words are kept, nothing
// has to be left.
void discount_ngrams(In<std::uint32_t> first_child, In<std::uint32_t> counts, In<std::uint8_t> keep,
                     In<double> ratios, std::size_t n_predicted, std::size_t begin, std::size_t end,
                     InOut<double> probs, int threads) {
    require(counts.size() == probs.size() && ratios.size() > 0 && begin <= end && end < first_child.size() &&
                (keep.size() == 0 || keep.size() == probs.size()),
            "the counts do not fit the n-grams");
    check_children(first_child.data(), begin, end, probs.size());
    const std::uint32_t *children = first_child.data(), *count = counts.data();
    const std::uint8_t* kept = keep.size() == 0 ? nullptr : keep.data();
    const double* ratio = ratios.data();
    // The last ratio is for all counts above.
    const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(ratios.size() - 1, UINT32_MAX));
    double* prob = probs.data();
    for_histories(begin, end, threads, [&](std::size_t history) {
        const std::size_t first = children[history], last = children[history + 1];
        double total = 0.0, discounted = 0.0;
        std::size_t n_kept = 0;
        bool all_whole = true;
        for (std::size_t i = first; i < last; ++i) {
            if (count[i] == 0) continue;
            const double own =
                kept == nullptr || kept[i] != 0 ? ratio[std::min(count[i], most)] * count[i] : 0.0;
            total += count[i];
            discounted += own;
            n_kept += own > 0.0;
            all_whole &= own == count[i];
        }
        if (n_kept == n_predicted)
            total = discounted;
        else if (all_whole)
            total += 1.0;
        for (std::size_t i = first; i < last; ++i)
            prob[i] = ratio[std::min(count[i], most)] * count[i] / total;
    });
}

// backoff(h) = (1 - sum of p(w | h)) / (S(h') - sum of p(w | h')), both over the n-grams that are kept; 1 if
// those are none, or all words that can be predicted, since it is never asked for. What the probabilities
// after h' sum to, S(h'), is 1 if they are exact. For rounded ones `sums` has S(h') and gets S(h): where
// little of them is left, 1 - sum of p(w | h') may be mostly a rounding error. The weights are rounded too.
void normalise_ngrams(In<std::uint32_t> first_child, In<std::uint32_t> suffixes, In<double> lower,
                      In<std::uint8_t> keep, std::size_t n_predicted, std::size_t begin, std::size_t end,
                      InOut<double> probs, InOut<double> backoffs, InOut<double> sums, int threads) {
    const Ngrams ngrams = make_ngrams(first_child, suffixes, lower, keep, probs, backoffs, begin, end);
    const bool rounded = sums.size() != 0;
    require(!rounded || sums.size() == backoffs.size(), "the arrays of the n-grams do not fit together");
    double *prob = probs.data(), *backoff = backoffs.data(), *sum = sums.data();
    for_histories(begin, end, threads, [&](std::size_t history) {
        const std::size_t first = ngrams.first_child[history], last = ngrams.first_child[history + 1];
        double left = 1.0, lower_left = rounded ? sum[history] : 1.0;
        std::size_t n_kept = 0;
        for (std::size_t i = first; i < last; ++i)
            if (ngrams.kept(i)) {
                ++n_kept;
                left -= prob[i];
                lower_left -= ngrams.lower_prob(i);
            }
        double weight = left > 0.0 && lower_left > 0.0 ? left / lower_left : 0.0;
        if (n_kept == 0 || n_kept == n_predicted) weight = 1.0;
        if (rounded) {
            weight = std::pow(10.0, double{static_cast<float>(std::log10(weight))});
            sum[history] = (1.0 - left) + weight * lower_left;
        }
        backoff[history] = weight;
        for (std::size_t i = first; i < last; ++i)
            if (!ngrams.kept(i)) prob[i] = weight * ngrams.lower_prob(i);
    });
}

// How many values are 0, 1, ..., most.
Out<std::int64_t> counts_of_counts(In<std::uint32_t> counts, std::uint32_t most) {
    require(most < UINT32_MAX, "most is above 2^32-2");
    std::vector<std::int64_t> found(std::size_t{most} + 2, 0);
    for (std::size_t i = 0; i < counts.size(); ++i) ++found[std::min(counts[i], most + 1)];
    found.pop_back();
    return found;
}

void log10_floats(In<double> values, InOut<float> logs, int threads) {
    require(values.size() == logs.size(), "the arrays differ in size");
    ThreadPool pool(threads);
    for_slices(pool, 0, values.size(), [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) logs[i] = static_cast<float>(std::log10(values[i]));
    });
}

}  // namespace stategram
