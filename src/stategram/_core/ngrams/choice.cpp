// Which words a back-off model should list after a history, and with which probability.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/simd.hpp"
#include "base/threads.hpp"
#include "ngrams/kernels.hpp"

namespace stategram {
namespace {

constexpr std::size_t block = 64;

struct Choice {
    std::vector<std::uint32_t> words;
    std::vector<float> probs, gains;
};

// t log(t / b) - t + b is at most (t - b)^2 / b: whether any of a block may be worth more than `least`.
STATEGRAM_CLONES bool any_worth(const float* t, const float* q, float backoff, float least,
                                std::size_t size) {
    int any = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const float b = backoff * q[i], d = t[i] - b;
        any |= d * d > least * b ? 1 : 0;
    }
    return any != 0;
}

// Keeps the words w with occupancy * (t log(t / b) - t + b) > threshold, where t is the target and b =
// backoff
// * q what the word has if it is left to the lower order. The back-off weight follows from what is kept.
void choose_words(const float* target, const float* lower, std::size_t n_words, double occupancy,
                  double threshold, int rounds, Choice& choice) {
    if (!(occupancy > 0.0)) return;
    const double least = threshold / occupancy;
    // The bound is computed in single precision; a little less than `least` loses nothing.
    const float safe_least = static_cast<float>(least * 0.999);
    double backoff = 1.0;
    for (int round = 0; round < rounds; ++round) {
        choice.words.clear();
        choice.probs.clear();
        choice.gains.clear();
        double left = 1.0, lower_left = 1.0;
        for (std::size_t first = 0; first < n_words; first += block) {
            const std::size_t last = first + block < n_words ? first + block : n_words;
            if (!any_worth(target + first, lower + first, static_cast<float>(backoff), safe_least,
                           last - first))
                continue;
            for (std::size_t w = first; w < last; ++w) {
                const double t = double{target[w]}, b = backoff * double{lower[w]};
                if (!(t > 0.0) || (t - b) * (t - b) <= least * b) continue;
                const double gain = t * std::log(t / b) - t + b;
                if (!(gain > least)) continue;
                choice.words.push_back(static_cast<std::uint32_t>(w));
                choice.probs.push_back(target[w]);
                choice.gains.push_back(static_cast<float>(occupancy * gain));
                left -= t;
                lower_left -= double{lower[w]};
            }
        }
        const double next = left > 0.0 && lower_left > 1e-9 ? left / lower_left : backoff;
        if (next == backoff) break;
        backoff = next;
    }
}

}  // namespace

// For each history how many words are chosen; their numbers, probabilities and gains one after the other.
std::tuple<Out<std::uint32_t>, Out<std::uint32_t>, Out<float>, Out<float>> choose_ngrams(
    In<float> targets, In<float> lower, In<std::uint32_t> lower_rows, In<double> occupancies,
    double threshold, int rounds, std::size_t n_words, int threads) {
    const std::size_t n_histories = occupancies.size();
    require(n_words > 0 && targets.size() == n_histories * n_words && lower.size() % n_words == 0 &&
                lower_rows.size() == n_histories,
            "the rows do not fit together");
    require(threshold > 0.0 && rounds > 0, "the threshold and the number of rounds must be above 0");
    check_below(lower_rows, lower.size() / n_words, "a row of the lower order is not there");
    std::vector<std::uint32_t> counts(n_histories), words;
    std::vector<float> probs, gains;
    std::vector<Choice> choices(n_histories);
    ThreadPool pool(threads);
    for_slices(pool, 0, n_histories, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            choose_words(targets.data() + i * n_words, lower.data() + lower_rows[i] * n_words, n_words,
                         occupancies[i], threshold, rounds, choices[i]);
    });
    for (std::size_t i = 0; i < n_histories; ++i) {
        const Choice& choice = choices[i];
        counts[i] = static_cast<std::uint32_t>(choice.words.size());
        words.insert(words.end(), choice.words.begin(), choice.words.end());
        probs.insert(probs.end(), choice.probs.begin(), choice.probs.end());
        gains.insert(gains.end(), choice.gains.begin(), choice.gains.end());
    }
    return {std::move(counts), std::move(words), std::move(probs), std::move(gains)};
}

}  // namespace stategram
