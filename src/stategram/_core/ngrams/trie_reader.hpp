// Back-off models for Python: the arrays are checked once, then read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "ngrams/distributions.hpp"
#include "ngrams/packed_layout.hpp"
#include "ngrams/scoring.hpp"

namespace stategram {

class TrieReader : PackedModel {
 public:
    using PackedModel::PackedModel;

    void check(int threads) const {
        ThreadPool pool(threads);
        check_ngrams(trie, pool);
    }

    std::tuple<Out<double>, Out<std::uint8_t>, Out<float>, Out<float>> score_events(
        In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::uint32_t> id_map,
        InBytes begin_state, InBytes first_state, bool with_features, int threads) const {
        const std::size_t size = ids.size(), n_features = with_features ? size : 0;
        const NgramState begin = to_state(begin_state), first = to_state(first_state);
        check_text(ids, sentence_starts, id_map);
        BigArray<double> log10_probs(size);
        BigArray<std::uint8_t> orders(size);
        BigArray<float> lengths(n_features), backoffs(n_features);
        ThreadPool pool(threads);
        const ScoredText text{ids.data(),
                              size,
                              sentence_starts.data(),
                              sentence_starts.size() - 1,
                              id_map.data(),
                              id_map.size(),
                              begin,
                              first};
        score_text(trie, text,
                   {log10_probs.data(), orders.data(), with_features ? lengths.data() : nullptr,
                    with_features ? backoffs.data() : nullptr},
                   pool);
        return {std::move(log10_probs), std::move(orders), std::move(lengths), std::move(backoffs)};
    }

    std::tuple<double, OutBytes<>, int> advance_state(InBytes state, std::uint32_t number) const {
        NgramState next;
        const NgramStep step = advance(to_state(state), number, next);
        return {step.log10_prob, to_bytes(next), step.order};
    }

    OutBytes<> state_after(InBytes state, In<std::uint32_t> numbers) const {
        NgramState before = to_state(state), next;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            advance(before, numbers[i], next);
            before = next;
        }
        return to_bytes(before);
    }

    // From no history to the longest: the probabilities of a shorter history times the back-off weight, but
    // for the words that the longer one has itself.
    Out<double> distribution(InBytes state_bytes) const {
        const NgramState state = to_state(state_bytes);
        const std::size_t size = trie.vocabulary();
        std::vector<double> by_number(size), probabilities(size);
        for (std::uint32_t number = 0; number < trie.vocabulary(); ++number)
            by_number[number] = std::pow(10.0, double{PackedTrie::log_prob(trie.level(1), number)});
        for (int k = 1; k <= state.length; ++k) {
            const std::uint32_t node = state.nodes[static_cast<std::size_t>(k - 1)];
            if (node == no_node) continue;
            const NgramHistory history = PackedTrie::history(trie.level(k), node);
            const double weight = std::pow(10.0, double{history.backoff});
            for (double& probability : by_number) probability *= weight;
            const PackedLevel& next = trie.level(k + 1);
            for (std::uint32_t child = history.children.begin; child < history.children.end; ++child) {
                const std::uint32_t number = trie.word(next, child);
                if (number >= size) throw_damaged("the number of a word is not below the vocabulary");
                by_number[number] = std::pow(10.0, double{PackedTrie::log_prob(next, child)});
            }
        }
        for (std::size_t id = 0; id < size; ++id) probabilities[id] = by_number[arrays.numbers[id]];
        return probabilities;
    }

    // The state before each event: for each its n-grams of 1, 2, ... words, no_node where there are none.
    Out<std::uint32_t> histories(In<std::uint32_t> ids, In<std::int64_t> sentence_starts,
                                 In<std::uint32_t> id_map, InBytes begin_state, InBytes first_state,
                                 int threads) const {
        check_text(ids, sentence_starts, id_map);
        check_below(ids, id_map.size(), "an id is not below the size of the vocabulary");
        const NgramState begin = to_state(begin_state), first = to_state(first_state);
        const std::size_t size = ids.size() * width();
        BigArray<std::uint32_t> found(size);
        ThreadPool pool(threads);
        for_slices(pool, 0, sentence_starts.size() - 1, [&](std::size_t from, std::size_t to) {
            for (std::size_t sentence = from; sentence < to; ++sentence) {
                NgramState state = sentence == 0 ? first : begin, next;
                const auto stop = static_cast<std::size_t>(sentence_starts[sentence + 1]);
                for (auto i = static_cast<std::size_t>(sentence_starts[sentence]); i < stop; ++i) {
                    std::fill(state.nodes.begin() + state.length, state.nodes.end(), no_node);
                    std::copy_n(state.nodes.begin(), width(), found.data() + i * width());
                    trie.advance(state, id_map[ids[i]], next);
                    state = next;
                }
            }
        });
        return found;
    }

    Out<double> entropies(In<std::uint32_t> states, std::size_t n_states, In<double> masses,
                          In<double> word_entropies, int threads) const {
        check_states(states, n_states);
        require(masses.size() == trie.vocabulary() && word_entropies.size() == trie.vocabulary(),
                "each word needs a mass and an entropy");
        BigArray<double> found(n_states);
        ThreadPool pool(threads);
        std::vector<NgramEntropies> scratch(static_cast<std::size_t>(pool.size()),
                                            NgramEntropies(trie, {masses.data(), word_entropies.data()}));
        pool.run((n_states + states_a_task - 1) / states_a_task, [&](std::size_t task, int worker) {
            NgramEntropies& own = scratch[static_cast<std::size_t>(worker)];
            const std::size_t end = std::min(n_states, (task + 1) * states_a_task);
            for (std::size_t i = task * states_a_task; i < end; ++i)
                found[i] = own.after(state_at(states, i));
        });
        return found;
    }

    void add_rows(In<std::uint32_t> states, In<double> weights, In<double> unigram, In<std::uint32_t> ids,
                  InOut<double> rows, int threads) const {
        const std::size_t n_states = weights.size(), n_words = trie.vocabulary();
        check_states(states, n_states);
        require(unigram.size() == n_words && ids.size() == n_words && rows.size() == n_states * n_words,
                "each word needs a place in each row");
        check_below(ids, n_words, "an id is not below the size of the vocabulary");
        ThreadPool pool(threads);
        std::vector<NgramRows> scratch(static_cast<std::size_t>(pool.size()),
                                       NgramRows(trie, unigram.data(), ids.data()));
        pool.run(n_states, [&](std::size_t i, int worker) {
            scratch[static_cast<std::size_t>(worker)].add(state_at(states, i), weights[i],
                                                          rows.data() + i * n_words);
        });
    }

    // The n-grams of one length as plain arrays: words, log10 probabilities, weights, first children.
    std::tuple<Out<std::uint32_t>, Out<float>, Out<float>, Out<std::uint32_t>> plain_level(
        int length, int threads) const {
        require(length >= 1 && length <= trie.order(), "there are no such n-grams");
        const PackedLevel& level = trie.level(length);
        const bool leaves = length == trie.order();
        const std::size_t size = level.size, n_inner = leaves ? 0 : size, n_children = leaves ? 0 : size + 1;
        BigArray<std::uint32_t> words(size), first_child(n_children);
        BigArray<float> log_probs(size), backoffs(n_inner);
        ThreadPool pool(threads);
        for_slices(pool, 0, size, [&](std::size_t first, std::size_t last) {
            for (auto node = static_cast<std::uint32_t>(first); node < last; ++node) {
                words[node] = length == 1 ? node : trie.word(level, node);
                log_probs[node] = PackedTrie::log_prob(level, node);
                if (leaves) continue;
                first_child[node] = PackedTrie::first_child(level, node);
                backoffs[node] = PackedTrie::backoff(level, node);
            }
        });
        if (!leaves) first_child[size] = PackedTrie::first_child(level, level.size);
        return {std::move(words), std::move(log_probs), std::move(backoffs), std::move(first_child)};
    }

    // The numbers of the words of an n-gram.
    Out<std::uint32_t> ngram(int length, std::uint32_t node) const {
        require(length >= 1 && length <= trie.order() && node < trie.level(length).size,
                "there is no such n-gram");
        std::vector<std::uint32_t> words(static_cast<std::size_t>(length));
        for (int k = length; k > 1; --k) {
            words[static_cast<std::size_t>(k - 1)] = trie.word(trie.level(k), node);
            const PackedLevel& parents = trie.level(k - 1);
            std::uint32_t low = 0, high = parents.size;  // the last whose children do not begin after it
            while (high - low > 1) {
                const std::uint32_t middle = low + (high - low) / 2;
                (PackedTrie::first_child(parents, middle) <= node ? low : high) = middle;
            }
            node = low;
        }
        words[0] = node;
        for (const std::uint32_t word : words)
            if (word >= trie.vocabulary()) throw_damaged("the number of a word is not below the vocabulary");
        return words;
    }

 private:
    static constexpr std::size_t states_a_task = 4096;

    std::size_t width() const { return static_cast<std::size_t>(trie.order() - 1); }

    void check_states(const In<std::uint32_t>& states, std::size_t n_states) const {
        require(states.size() == n_states * width(), "a state has an n-gram of each length but the greatest");
        for (std::size_t i = 0; i < states.size(); ++i)
            require(states[i] == no_node || states[i] < trie.level(static_cast<int>(i % width()) + 1).size,
                    "no such state");
    }
    NgramState state_at(const In<std::uint32_t>& states, std::size_t i) const {
        NgramState state;
        std::copy_n(states.data() + i * width(), width(), state.nodes.begin());
        state.length = static_cast<std::uint8_t>(width());
        while (state.length > 0 && state.nodes[state.length - std::size_t{1}] == no_node) --state.length;
        return state;
    }

    void check_text(const In<std::uint32_t>& ids, const In<std::int64_t>& sentence_starts,
                    const In<std::uint32_t>& id_map) const {
        check_offsets(sentence_starts, ids.size(), "the sentences do not cover the events");
        check_below(id_map, trie.vocabulary(), "a number is not below the vocabulary");
    }
    static OutBytes<> to_bytes(const NgramState& state) {
        return {{std::string(reinterpret_cast<const char*>(state.nodes.data()),
                             sizeof(std::uint32_t) * state.length)}};
    }
    NgramState to_state(InBytes bytes) const {
        NgramState state;
        const std::size_t length = bytes.size() / sizeof(std::uint32_t);
        require(bytes.size() % sizeof(std::uint32_t) == 0 && length < static_cast<std::size_t>(trie.order()),
                "no such state");
        std::memcpy(state.nodes.data(), bytes.data(), bytes.size());
        state.length = static_cast<std::uint8_t>(length);
        for (int k = 1; k <= state.length; ++k) {
            const std::uint32_t node = state.nodes[static_cast<std::size_t>(k - 1)];
            require(node == no_node || node < trie.level(k).size, "no such state");
        }
        return state;
    }
    NgramStep advance(const NgramState& state, std::uint32_t number, NgramState& next) const {
        require(number < trie.vocabulary(), "a number is not below the vocabulary");
        return trie.advance(state, number, next);
    }
};

}  // namespace stategram
