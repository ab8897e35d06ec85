#include "ngrams/plain_trie.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/checks.hpp"
#include "base/damaged_model.hpp"

namespace stategram {

PlainTrie::PlainTrie(In<std::uint32_t> numbers_in, In<std::int64_t> begins_in, In<std::uint32_t> words_in,
                     In<float> log_probs_in, In<float> backoffs_in, In<std::uint32_t> first_child_in,
                     int threads)
    : numbers(std::move(numbers_in)),
      begins(std::move(begins_in)),
      words(std::move(words_in)),
      log_probs(std::move(log_probs_in)),
      backoffs(std::move(backoffs_in)),
      first_child(std::move(first_child_in)) {
    require_sound(begins.size() >= 3, "it has no orders");
    require_sound(begins[0] == 0 && begins[1] == 1 && std::is_sorted(begins.begin(), begins.end()) &&
                      size() < std::numeric_limits<std::uint32_t>::max() && begin(order() + 1) == size(),
                  "the orders do not begin one after the other");
    require_sound(log_probs.size() == size() && backoffs.size() == begin(order()) &&
                      first_child.size() == n_histories() + 1,
                  "the sizes of its arrays do not fit together");
    require_sound(begin(2) - 1 == n_words(), "not every word of the vocabulary has a unigram");
    for (std::size_t level = 0; level <= order(); ++level)
        require_sound(first_child[begin(level)] == begin(level + 1),
                      "the children of an order do not begin with the next order");
    std::vector<bool> seen(n_words());
    for (const std::uint32_t number : numbers) {
        require_sound(number < n_words() && !seen[number], "two words have the same number, or one has none");
        seen[number] = true;
    }
    ThreadPool pool(threads);
    for_slices(pool, 0, n_histories(), [&](std::size_t from, std::size_t to) {
        for (std::size_t node = from; node < to; ++node) {
            const std::size_t first = first_child[node], last = first_child[node + 1];
            require_sound(first <= last && last <= size(), "the children of n-grams are not in order");
            for (std::size_t child = first; child < last; ++child)
                require_sound(words[child] < n_words() && (child == first || words[child - 1] < words[child]),
                              "the words after an n-gram are not in rising order");
        }
    });
    search_.emplace(n_words(), size(), words.data(), first_child.data());
}

void PlainTrie::check(int threads) const {
    ThreadPool pool(threads);
    for_slices(pool, 0, size(), [&](std::size_t from, std::size_t to) {
        for (std::size_t node = from; node < to; ++node) {
            require_sound(log_probs[node] <= 0, "a log probability is above 0 or not a number");
            require_sound(node >= n_histories() || backoffs[node] < std::numeric_limits<float>::infinity(),
                          "a back-off weight is not a number");
        }
    });
}

template <typename Use>
void PlainTrie::for_ngrams(std::size_t length, ThreadPool& pool, const Use& use) const {
    for_slices(pool, begin(length - 1), begin(length), [&](std::size_t from, std::size_t to) {
        for (std::size_t history = from; history < to; ++history)
            use(static_cast<std::uint32_t>(history), first_child[history], first_child[history + 1]);
    });
}

PlainTrie::Found PlainTrie::find(const std::uint32_t* links, std::uint32_t history,
                                 std::uint32_t word) const {
    double weight = 0.0;
    for (;; history = links[history]) {
        if (const std::uint32_t ngram = child(history, word); ngram != 0)
            return {weight + double{log_probs[ngram]}, ngram};
        weight += double{backoffs[history]};
    }
}

const PlainTrie::Links& PlainTrie::linked(ThreadPool& pool) const {
    std::call_once(once_, [&] {
        std::vector<std::uint32_t> suffixes(size(), 0);
        std::vector<float> lower(size(), 0.0f);
        for (std::size_t length = 2; length <= order(); ++length)
            for_ngrams(length, pool, [&](std::uint32_t history, std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) {
                    const Found found = find(suffixes.data(), suffixes[history], words[i]);
                    suffixes[i] = found.ngram;
                    lower[i] = static_cast<float>(found.log_prob);
                }
            });
        links_ = {std::move(suffixes), std::move(lower)};
    });
    return links_;
}

In<std::uint32_t> PlainTrie::links(int threads) const {
    ThreadPool pool(threads);
    return linked(pool).suffixes;
}

In<float> PlainTrie::lower_log_probs(int threads) const {
    ThreadPool pool(threads);
    return linked(pool).lower_log_probs;
}

void PlainTrie::check_histories(const In<std::uint32_t>& histories, const In<std::uint32_t>& of_words) const {
    require(histories.size() == of_words.size(), "there must be a word for each history");
    check_below(histories, n_histories(), "a node cannot be a history");
    check_below(of_words, n_words(), "the number of a word is too great");
}

Out<std::uint32_t> PlainTrie::children(In<std::uint32_t> nodes, In<std::uint32_t> of_words,
                                       int threads) const {
    require(nodes.size() == of_words.size(), "there must be a word for each node");
    check_below(of_words, n_words(), "the number of a word is too great");
    BigArray<std::uint32_t> found(nodes.size());
    ThreadPool pool(threads);
    for_slices(pool, 0, nodes.size(), [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            found[i] = nodes[i] < n_histories() ? child(nodes[i], of_words[i]) : 0;  // else a leaf
    });
    return found;
}

Out<std::uint32_t> PlainTrie::find_histories(Matrix<std::uint32_t> rows, In<std::uint8_t> lengths,
                                             int threads) const {
    require(rows.rows == lengths.size(), "there must be a length for each row");
    check_below(rows, n_words(), "the number of a word is too great");
    BigArray<std::uint32_t> found(rows.rows);
    ThreadPool pool(threads);
    for_slices(pool, 0, rows.rows, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            const std::uint32_t* const end = rows.data() + (i + 1) * rows.columns;
            found[i] = 0;
            for (std::size_t length = std::min({rows.columns, order() - 1, std::size_t{lengths[i]}});
                 length > 0 && found[i] == 0; --length) {
                std::uint32_t node = child(0, *(end - length));
                for (const std::uint32_t* word = end - length + 1; word < end && node != 0; ++word)
                    node = child(node, *word);
                found[i] = node;
            }
        }
    });
    return found;
}

Out<double> PlainTrie::log10_probs_after(In<std::uint32_t> histories, In<std::uint32_t> of_words,
                                         int threads) const {
    check_histories(histories, of_words);
    BigArray<double> found(histories.size());
    ThreadPool pool(threads);
    const std::uint32_t* links = linked(pool).suffixes.data();
    for_slices(pool, 0, histories.size(), [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) found[i] = find(links, histories[i], of_words[i]).log_prob;
    });
    return found;
}

Out<double> PlainTrie::score(const PlainTrie& other, In<std::uint32_t> numbers_here, int threads) const {
    require(numbers_here.size() == other.n_words(), "not every word has a number in the model");
    check_below(numbers_here, n_words(), "a word has a number that is not in the model");
    std::vector<double> found(other.size(), 0.0);
    ThreadPool pool(threads);
    const std::uint32_t* links = linked(pool).suffixes.data();
    std::vector<std::uint32_t> states(other.size(), 0);  // the history that is known here of each n-gram
    for (std::size_t length = 1; length <= other.order(); ++length)
        other.for_ngrams(length, pool, [&](std::uint32_t history, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const auto [log_prob, ngram] = find(links, states[history], numbers_here[other.words[i]]);
                found[i] = log_prob;
                states[i] = ngram < n_histories() ? ngram : links[ngram];
            }
        });
    return found;
}

//     backoff(h) = (1 - sum of p(w | h)) / (S(h') - sum of p(w | h'))      over the words w of n-grams hw
//
// and 1 if these are none, or all words that can be predicted, since it is never asked for. S(h') is what the
// probabilities after h' really sum to: they are rounded, and where little of them is left, 1 - sum of p(w |
// h') may be mostly a rounding error.
Out<float> PlainTrie::normalising_backoffs(std::size_t n_predicted, double sum_of_words, int threads) const {
    std::vector<std::uint32_t> links(size(), 0);  // found on the way
    std::vector<float> log_weights(n_histories(), 0.0f);
    std::vector<double> weights(n_histories(), 1.0);  // as they are rounded
    std::vector<double> sums(n_histories(), sum_of_words);
    const auto prob = [&](std::size_t ngram) { return std::pow(10.0, double{log_probs[ngram]}); };
    // p(word | history), and the n-gram that gave it.
    const auto lower = [&](const auto& again, std::uint32_t history, std::uint32_t word,
                           std::uint32_t& ngram) -> double {
        ngram = child(history, word);
        return ngram != 0 ? prob(ngram) : weights[history] * again(again, links[history], word, ngram);
    };
    ThreadPool pool(threads);
    for (std::size_t length = 2; length <= order(); ++length)
        for_ngrams(length, pool, [&](std::uint32_t history, std::size_t first, std::size_t last) {
            double left = 1.0, lower_left = sums[links[history]];
            for (std::size_t i = first; i < last; ++i) {
                left -= prob(i);
                lower_left -= lower(lower, links[history], words[i], links[i]);
            }
            if (first != last && last - first != n_predicted) {
                const double weight = left > 0.0 && lower_left > 0.0 ? left / lower_left : 0.0;
                log_weights[history] = static_cast<float>(std::log10(weight));
                weights[history] = std::pow(10.0, double{log_weights[history]});
            }
            sums[history] = (1.0 - left) + weights[history] * lower_left;
        });
    return log_weights;
}

}  // namespace stategram
