// Backing off in n-grams that are plain arrays (models/plain_trie.py): what a model made of n-grams of others
// needs.
//
//     p(w | h) = p(hw)                     if the model has the n-gram hw
//                backoff(h) p(w | h')      else, h' being h without its first word; backoff(h) = 1 if not
//                there
//
// The link of an n-gram is its longest proper suffix that the model has. If hw is not there, the search goes
// on at the link of h; where it ends, it has found the longest suffix of hw.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "ngrams/kernels.hpp"

namespace stategram {
namespace {

// The n-grams of a model, ordered by their length and then by their words; the root is node 0.
struct PlainNgrams {
    const std::int64_t* begins;
    const std::uint32_t *words, *first_child;
    std::size_t order, inner, size, n_words;

    std::size_t begin(std::size_t length) const { return static_cast<std::size_t>(begins[length]); }

    // The n-gram with one more word, 0 if there is none. The root has a child for each word.
    std::uint32_t child(std::uint32_t node, std::uint32_t word) const {
        if (node == 0) return word + 1;
        const std::uint32_t *first = words + first_child[node], *last = words + first_child[node + 1];
        const std::uint32_t* found = std::lower_bound(first, last, word);
        return found != last && *found == word ? static_cast<std::uint32_t>(found - words) : 0;
    }
};

PlainNgrams checked_ngrams(const In<std::int64_t>& begins, const In<std::uint32_t>& words,
                           const In<std::uint32_t>& first_child) {
    const char* misfit = "the n-grams do not fit together";
    require(begins.size() >= 3 && begins[0] == 0 && begins[1] == 1 &&
                std::is_sorted(begins.data(), begins.data() + begins.size()),
            misfit);
    const std::size_t order = begins.size() - 2;
    const PlainNgrams ngrams{begins.data(),
                             words.data(),
                             first_child.data(),
                             order,
                             static_cast<std::size_t>(begins[order]),
                             words.size(),
                             static_cast<std::size_t>(begins[2]) - 1};
    require(begins[order + 1] == static_cast<std::int64_t>(words.size()) &&
                words.size() < std::numeric_limits<std::uint32_t>::max() &&
                first_child.size() == ngrams.inner + 1,
            misfit);
    check_children(first_child.data(), 0, ngrams.inner, words.size());
    for (std::size_t length = 0; length <= order; ++length)
        require(first_child[ngrams.begin(length)] == begins[length + 1], misfit);
    check_below(words, std::max<std::size_t>(ngrams.n_words, 1), "the number of a word is too great");
    for (std::size_t word = 0; word < ngrams.n_words; ++word)
        require(words[word + 1] == word, "not every word has a unigram");
    return ngrams;
}

// Calls use(history, first, last) for each history of one word less: its n-grams are [first, last).
template <typename Use>
void for_ngrams(const PlainNgrams& ngrams, std::size_t length, ThreadPool& pool, const Use& use) {
    for_slices(pool, ngrams.begin(length - 1), ngrams.begin(length), [&](std::size_t begin, std::size_t end) {
        for (std::size_t history = begin; history < end; ++history)
            use(static_cast<std::uint32_t>(history), ngrams.first_child[history],
                ngrams.first_child[history + 1]);
    });
}

// A model with the links of its n-grams.
struct BackOffModel {
    PlainNgrams ngrams;
    const float *log_probs, *backoffs;
    std::vector<std::uint32_t> links;

    struct Found {
        double log_prob;
        std::uint32_t ngram;
    };

    Found find(std::uint32_t history, std::uint32_t word) const {
        double weight = 0.0;
        for (;; history = links[history]) {
            if (const std::uint32_t ngram = ngrams.child(history, word); ngram != 0)
                return {weight + double{log_probs[ngram]}, ngram};
            weight += double{backoffs[history]};
        }
    }

    // Sets the links; `lower`, if it is given, gets log p(w | h') of each n-gram of two and more words.
    void link(float* lower, ThreadPool& pool) {
        links.assign(ngrams.size, 0);
        for (std::size_t length = 2; length <= ngrams.order; ++length)
            for_ngrams(ngrams, length, pool, [&](std::uint32_t history, std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) {
                    const Found found = find(links[history], ngrams.words[i]);
                    links[i] = found.ngram;
                    if (lower != nullptr) lower[i] = static_cast<float>(found.log_prob);
                }
            });
    }
};

BackOffModel checked_model(const In<std::int64_t>& begins, const In<std::uint32_t>& words,
                           const In<std::uint32_t>& first_child, const In<float>& log_probs,
                           const In<float>& backoffs) {
    const PlainNgrams ngrams = checked_ngrams(begins, words, first_child);
    require(log_probs.size() == ngrams.size && backoffs.size() == ngrams.inner,
            "the probabilities do not fit the n-grams");
    return {ngrams, log_probs.data(), backoffs.data(), {}};
}

}  // namespace

std::tuple<Out<float>, Out<std::uint32_t>> lower_log_probs(In<std::int64_t> begins, In<std::uint32_t> words,
                                                           In<std::uint32_t> first_child, In<float> log_probs,
                                                           In<float> backoffs, int threads) {
    BackOffModel model = checked_model(begins, words, first_child, log_probs, backoffs);
    std::vector<float> lower(model.ngrams.size, 0.0f);
    ThreadPool pool(threads);
    model.link(lower.data(), pool);
    return {std::move(lower), std::move(model.links)};
}

Out<double> back_off_log_probs(In<std::int64_t> begins, In<std::uint32_t> words,
                               In<std::uint32_t> first_child, In<float> log_probs, In<float> backoffs,
                               In<std::int64_t> asked_begins, In<std::uint32_t> asked_words,
                               In<std::uint32_t> asked_first_child, In<std::uint32_t> numbers, int threads) {
    BackOffModel model = checked_model(begins, words, first_child, log_probs, backoffs);
    const PlainNgrams asked = checked_ngrams(asked_begins, asked_words, asked_first_child);
    require(numbers.size() == asked.n_words, "not every word has a number in the model");
    check_below(numbers, model.ngrams.n_words, "a word has a number that is not in the model");
    std::vector<double> found(asked.size, 0.0);
    ThreadPool pool(threads);
    model.link(nullptr, pool);
    std::vector<std::uint32_t> states(asked.size, 0);  // the history that the model knows of each n-gram
    for (std::size_t length = 1; length <= asked.order; ++length)
        for_ngrams(asked, length, pool, [&](std::uint32_t history, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const auto [log_prob, ngram] = model.find(states[history], numbers[asked.words[i]]);
                found[i] = log_prob;
                states[i] = ngram < model.ngrams.inner ? ngram : model.links[ngram];
            }
        });
    return found;
}

namespace {

// The weights with which the probabilities after each history sum to one:
//
//     backoff(h) = (1 - sum of p(w | h)) / (S(h') - sum of p(w | h'))      over the words w of n-grams hw
//
// and 1 if these are none, or all words that can be predicted, since it is never asked for. S(h') is what the
// probabilities after h' really sum to: they are rounded, and where little of them is left, 1 - sum of p(w |
// h') may be mostly a rounding error.
class Normalisation {
 public:
    Normalisation(const PlainNgrams& ngrams, const float* log_probs, double sum_of_words)
        : ngrams_(ngrams),
          log_probs_(log_probs),
          log_weights_(ngrams.inner, 0.0f),
          weights_(ngrams.inner, 1.0),
          sums_(ngrams.inner, sum_of_words),
          links_(ngrams.size, 0) {}

    std::vector<float> log_weights(std::size_t n_predicted, ThreadPool& pool) {
        for (std::size_t length = 2; length <= ngrams_.order; ++length)
            for_ngrams(ngrams_, length, pool,
                       [&](std::uint32_t history, std::size_t first, std::size_t last) {
                           normalise(history, first, last, n_predicted);
                       });
        return std::move(log_weights_);
    }

 private:
    void normalise(std::uint32_t history, std::size_t first, std::size_t last, std::size_t n_predicted) {
        double left = 1.0, lower_left = sums_[links_[history]];
        for (std::size_t i = first; i < last; ++i) {
            left -= prob(static_cast<std::uint32_t>(i));
            lower_left -= lower(links_[history], ngrams_.words[i], links_[i]);
        }
        if (first != last && last - first != n_predicted) {
            const double weight = left > 0.0 && lower_left > 0.0 ? left / lower_left : 0.0;
            log_weights_[history] = static_cast<float>(std::log10(weight));
            weights_[history] = std::pow(10.0, double{log_weights_[history]});
        }
        sums_[history] = (1.0 - left) + weights_[history] * lower_left;
    }

    double prob(std::uint32_t ngram) const { return std::pow(10.0, double{log_probs_[ngram]}); }

    // p(word | history), and the n-gram that gave it.
    double lower(std::uint32_t history, std::uint32_t word, std::uint32_t& ngram) const {
        ngram = ngrams_.child(history, word);
        if (ngram != 0) return prob(ngram);
        return weights_[history] * lower(links_[history], word, ngram);
    }

    const PlainNgrams& ngrams_;
    const float* log_probs_;
    std::vector<float> log_weights_;
    std::vector<double> weights_;  // as they are rounded
    std::vector<double> sums_;
    std::vector<std::uint32_t> links_;
};

}  // namespace

Out<float> normalising_backoffs(In<std::int64_t> begins, In<std::uint32_t> words,
                                In<std::uint32_t> first_child, In<float> log_probs, std::size_t n_predicted,
                                double sum_of_words, int threads) {
    const PlainNgrams ngrams = checked_ngrams(begins, words, first_child);
    require(log_probs.size() == ngrams.size, "the probabilities do not fit the n-grams");
    std::vector<float> found;
    ThreadPool pool(threads);
    found = Normalisation(ngrams, log_probs.data(), sum_of_words).log_weights(n_predicted, pool);
    return found;
}

}  // namespace stategram
