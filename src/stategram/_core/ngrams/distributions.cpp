#include "ngrams/distributions.hpp"

#include <cmath>

#include "base/simd.hpp"
#include "base/stepper.hpp"

namespace stategram {
namespace {

constexpr double ln_10 = 2.302585092994045684;

STATEGRAM_CLONES void add_scaled(double* row, const double* values, double factor, std::size_t size) {
    double* STATEGRAM_RESTRICT out = row;
    for (std::size_t i = 0; i < size; ++i) out[i] += factor * values[i];
}

std::uint32_t checked_word(const PackedTrie& trie, const PackedLevel& level, std::uint32_t node) {
    const std::uint32_t number = trie.word(level, node);
    require_sound(number < trie.vocabulary(), "the number of a word is not below the vocabulary");
    return number;
}

}  // namespace

void NgramEntropies::Sums::add(double factor, const WordValues& values, std::uint32_t number,
                               double log_prob) {
    const double prob = std::exp(log_prob);
    if (prob <= 0) return;  // p ln p is 0 there
    masses += factor * values.masses[number] * prob;
    logs += factor * values.masses[number] * prob * log_prob;
    entropies += factor * values.entropies[number] * prob;
}

NgramEntropies::NgramEntropies(const PackedTrie& trie, WordValues values) : trie_(trie), values_(values) {
    for (std::uint32_t number = 0; number < trie.vocabulary(); ++number)
        of_no_words_.add(1, values, number, ln_10 * double{PackedTrie::log_prob(trie.level(1), number)});
}

double NgramEntropies::after(const NgramState& state) {
    Histories histories;
    int known = 0;
    for (int k = state.length; k > 0; --k) {
        const auto at = static_cast<std::size_t>(k);
        const std::uint32_t node = state.nodes[at - 1];
        if (node == no_node) continue;
        if (known == 0 && known_[at].contains(node)) known = k;
        histories[at] = PackedTrie::history(trie_.level(k), node);
    }
    Sums sums = of_no_words_;
    if (known > 0) {
        const auto at = static_cast<std::size_t>(known);
        sums = known_[at].at(state.nodes[at - 1]);
    }
    for (int k = known + 1; k <= state.length; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (state.nodes[at - 1] == no_node) continue;
        sums = extend(sums, histories, k);
        known_[at].emplace(state.nodes[at - 1], sums);
    }
    return sums.entropies - sums.logs;
}

NgramEntropies::Sums NgramEntropies::extend(const Sums& shorter, const Histories& histories, int k) const {
    const NgramHistory& history = histories[static_cast<std::size_t>(k)];
    const PackedLevel& level = trie_.level(k + 1);
    Sums own, others = shorter;
    for (std::uint32_t child = history.children.begin; child < history.children.end; ++child) {
        const std::uint32_t number = checked_word(trie_, level, child);
        own.add(1, values_, number, ln_10 * double{PackedTrie::log_prob(level, child)});
        others.add(-1, values_, number, log_prob(histories, k - 1, number));
    }
    const double log_weight = ln_10 * double{history.backoff}, weight = std::exp(log_weight);
    if (weight <= 0) return own;
    own.masses += weight * others.masses;
    own.logs += weight * (others.logs + log_weight * others.masses);
    own.entropies += weight * others.entropies;
    return own;
}

// The natural-log probability of a word after the last k words.
double NgramEntropies::log_prob(const Histories& histories, int k, std::uint32_t number) const {
    double weights = 0;
    for (; k > 0; --k) {
        const NgramHistory& history = histories[static_cast<std::size_t>(k)];
        const PackedLevel& level = trie_.level(k + 1);
        const std::uint32_t node = trie_.find(level, history.children, number);
        if (node != no_node) return ln_10 * (weights + double{PackedTrie::log_prob(level, node)});
        weights += double{history.backoff};
    }
    return ln_10 * (weights + double{PackedTrie::log_prob(trie_.level(1), number)});
}

NgramRows::NgramRows(const PackedTrie& trie, const double* unigram, const std::uint32_t* ids)
    : trie_(trie), unigram_(unigram), ids_(ids), own_(trie.vocabulary()), is_own_(trie.vocabulary()) {}

void NgramRows::add(const NgramState& state, double weight, double* row) {
    double factor = weight;
    found_.clear();
    for (int k = state.length; k > 0; --k) {
        const std::uint32_t node = state.nodes[static_cast<std::size_t>(k - 1)];
        if (node == no_node) continue;
        const NgramHistory history = PackedTrie::history(trie_.level(k), node);
        const PackedLevel& level = trie_.level(k + 1);
        for (std::uint32_t child = history.children.begin; child < history.children.end; ++child) {
            const std::uint32_t id = ids_[checked_word(trie_, level, child)];
            if (is_own_[id] != 0 || id == begin_id) continue;  // a longer history has it
            is_own_[id] = 1;
            found_.push_back(id);
            own_[id] = factor * std::exp(ln_10 * double{PackedTrie::log_prob(level, child)});
        }
        factor *= std::exp(ln_10 * double{history.backoff});
    }
    for (const std::uint32_t id : found_) own_[id] += row[id];
    add_scaled(row, unigram_, factor, own_.size());
    for (const std::uint32_t id : found_) {
        row[id] = own_[id];
        is_own_[id] = 0;
    }
}

}  // namespace stategram
