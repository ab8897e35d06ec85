// A back-off model as the arcs of a finite-state acceptor, in the text format of OpenFst.
//
// A state is a history: an n-gram that others start with, or the empty one, or the start of a sentence. An
// arc for each word leads to the longest end of the longer history that is a state; a back-off arc leads to
// the history without its first word. Where n-grams have a back-off weight but are no states, since nothing
// follows them, it is part of the arcs that would lead there.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "formats/number_text.hpp"
#include "ngrams/plain_trie.hpp"

namespace stategram {

class FstWriter : public Exclusive {
 public:
    FstWriter(std::shared_ptr<const PlainTrie> trie, std::uint32_t backoff_label, int threads)
        : keeper_(std::move(trie)),
          trie_(*keeper_),
          links_(trie_.links(threads)),
          backoff_label_(backoff_label),
          pool_(threads) {
        require(trie_.n_words() > end_id, "the vocabulary does not start with the special words");
        labels_.resize(trie_.n_words());
        for (std::size_t id = 0; id < labels_.size(); ++id)
            labels_[trie_.numbers[id]] = static_cast<std::uint32_t>(id + 1);
        number_states();
    }

    std::size_t n_states() const { return states_.size(); }

    OutBytes<> lines(std::size_t begin, std::size_t end) {
        require(begin <= end && end <= states_.size(), "there are no such states");
        OutBytes<> parts;
        parts.resize((end - begin + states_a_task - 1) / states_a_task);
        pool_.run(parts.size(), [&](std::size_t i, int) {
            const std::size_t first = begin + i * states_a_task;
            for (std::size_t state = first; state < std::min(first + states_a_task, end); ++state)
                write_state(parts[i], static_cast<std::uint32_t>(state));
        });
        return parts;
    }

 private:
    static constexpr std::size_t states_a_task = 1 << 12;
    static constexpr std::uint32_t no_state = std::numeric_limits<std::uint32_t>::max();
    static constexpr double ln_10 = 2.302585092994045684;
    // Ids of the vocabulary.
    static constexpr std::size_t begin_id = 1, end_id = 2;

    void number_states() {
        const std::size_t inner = trie_.n_histories();
        numbers_of_states_.assign(inner, no_state);
        const auto add = [&](std::size_t node) {
            numbers_of_states_[node] = static_cast<std::uint32_t>(states_.size());
            states_.push_back(static_cast<std::uint32_t>(node));
        };
        // The first line of a file is of the start state.
        const std::size_t start = trie_.order() == 1 ? 0 : 1 + std::size_t{trie_.numbers[begin_id]};
        add(start);
        for (std::size_t node = 0; node < inner; ++node)
            if (node != start && (node == 0 || trie_.has_children(node))) add(node);
    }

    void write_state(std::string& out, std::uint32_t state) const {
        const std::size_t node = states_[state];
        const std::size_t inner = trie_.n_histories();
        const std::uint32_t end_number = trie_.numbers[end_id];
        for (std::size_t child = trie_.first_child[node]; child < trie_.first_child[node + 1]; ++child) {
            const std::uint32_t word = trie_.words[child];
            const double log_prob = trie_.log_probs[child];
            if (std::isinf(log_prob)) continue;
            if (word == end_number) {
                write_integer(out, state);
                write_weight(out, log_prob);
            } else {
                write_arc(out, state, child < inner ? child : links_[child], labels_[word], labels_[word],
                          log_prob);
            }
        }
        if (node != 0 && !std::isinf(trie_.backoffs[node]))
            write_arc(out, state, links_[node], backoff_label_, 0, trie_.backoffs[node]);
    }

    // An arc to an n-gram, or to the longest suffix of it that is a state.
    void write_arc(std::string& out, std::uint32_t state, std::size_t node, std::uint32_t input,
                   std::uint32_t output, double log_weight) const {
        for (; numbers_of_states_[node] == no_state; node = links_[node]) log_weight += trie_.backoffs[node];
        if (std::isinf(log_weight)) return;
        for (const std::uint32_t number : {state, numbers_of_states_[node], input}) {
            write_integer(out, number);
            out += '\t';
        }
        write_integer(out, output);
        write_weight(out, log_weight);
    }

    static void write_integer(std::string& out, std::uint32_t value) {
        char digits[12];
        out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }

    static void write_weight(std::string& out, double log10) {
        char number[longest_number];
        out += '\t';
        out.append(number, write_number(number, static_cast<float>(-log10 * ln_10)));
        out += '\n';
    }

    std::shared_ptr<const PlainTrie> keeper_;
    const PlainTrie& trie_;
    In<std::uint32_t> links_;
    std::uint32_t backoff_label_;
    std::vector<std::uint32_t> labels_;             // of the words, in the order of their numbers
    std::vector<std::uint32_t> states_;             // the node of each state
    std::vector<std::uint32_t> numbers_of_states_;  // of all nodes but those of the longest n-grams
    ThreadPool pool_;
};

}  // namespace stategram
