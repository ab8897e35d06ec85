// A cache of the words so far: what was said recently is said again.
//
//     p_k(w) = (c_k(w) + a_k p_k-1(w)) / (c_k + a_k),    k = 1, 2, 3,    a_1 = 5,  a_2 = a_3 = 1
//
// c_k(w): how often w followed the last k - 1 words, a time that is n words ago counting decay_k^n, where n
// is 0 for the last word; c_k: the sum over all w. p_0 is given. After Kuhn and De Mori (1990), "A
// cache-based natural language model for speech recognition", and Jelinek, Merialdo, Roukos and Strauss
// (1991), "A dynamic language model for speech recognition".
//
// Each count is kept with the time to which it has decayed, so that no word touches the counts of others.
// When `capacity` words are kept, the older half is forgotten and the counts are made anew from the rest. So
// the cache is a function of the words that it keeps, however the text was cut into pieces.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/hash.hpp"

namespace stategram {

constexpr std::size_t max_order = 3;
constexpr std::array<double, max_order> priors = {5.0, 1.0, 1.0};
constexpr std::size_t max_capacity = std::size_t{1} << 30;
constexpr std::uint32_t no_word = std::numeric_limits<std::uint32_t>::max();

// Counts by key, in flat arrays, which are quickly copied.
class DecayedCounts {
 public:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    std::size_t find(std::uint64_t key) const {
        if (slots_.empty()) return none;
        const std::uint32_t place = slots_[slot_of(key)];
        return place == 0 ? none : place - 1;
    }

    double at(std::size_t place, double decay, std::uint32_t now) const {
        const Count& count = counts_[place];
        return count.value * std::pow(decay, static_cast<double>(now - count.time));
    }

    std::size_t size() const { return counts_.size(); }
    std::uint64_t key(std::size_t place) const { return counts_[place].key; }

    // Adds 1 at the time `now`; returns the place of the key, which never changes.
    std::size_t add(std::uint64_t key, double decay, std::uint32_t now) {
        if (2 * (counts_.size() + 1) > slots_.size()) grow();
        const std::size_t slot = slot_of(key);
        if (slots_[slot] == 0) {
            counts_.push_back({key, 0.0, now});
            slots_[slot] = static_cast<std::uint32_t>(counts_.size());
        }
        const std::size_t place = slots_[slot] - 1;
        counts_[place].value = at(place, decay, now) + 1.0;
        counts_[place].time = now;
        return place;
    }

 private:
    struct Count {
        std::uint64_t key;
        double value;
        std::uint32_t time;  // to which the value has decayed
    };

    // The slot of the key, or else the free one where it would be.
    std::size_t slot_of(std::uint64_t key) const {
        const std::uint64_t mixed = key * golden_ratio;
        std::size_t slot = static_cast<std::size_t>(mixed ^ (mixed >> 32)) & (slots_.size() - 1);
        while (slots_[slot] != 0 && counts_[slots_[slot] - 1].key != key)
            slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    void grow() {
        slots_.assign(slots_.empty() ? 8 : 2 * slots_.size(), 0);
        for (std::size_t place = 0; place < counts_.size(); ++place)
            slots_[slot_of(counts_[place].key)] = static_cast<std::uint32_t>(place + 1);
    }

    std::vector<Count> counts_;
    std::vector<std::uint32_t> slots_;  // the place of a key plus 1; 0 where free
};

inline std::uint64_t pair_key(std::size_t first, std::uint32_t second) {
    return std::uint64_t{first} << 32 | second;
}

class WordCache {
 public:
    WordCache(std::vector<double> decays, std::uint32_t begin, std::uint32_t end, std::size_t capacity,
              const In<std::uint32_t>& words)
        : decays_(std::move(decays)), begin_(begin), end_(end), capacity_(capacity) {
        require(!decays_.empty() && decays_.size() <= max_order, "the number of decays is not 1 to 3");
        for (const double decay : decays_)
            require(decay > 0 && decay <= 1, "a decay is not above 0 and up to 1");
        require(begin != end, "sentences begin and end with the same word");
        require(capacity >= 2 && capacity <= max_capacity, "the capacity is not 2 to 2^30");
        levels_.resize(decays_.size());
        for (std::size_t i = 0; i < words.size(); ++i) add(words[i]);
    }

    const std::vector<std::uint32_t>& words() const { return words_; }
    auto settings() const { return std::tuple(decays_, begin_, end_, capacity_); }

    // The words that are kept say all.
    bool operator==(const WordCache& other) const {
        return settings() == other.settings() && words_ == other.words_;
    }

    // Writes the log-probability of each word, and adds it.
    void score(const In<std::uint32_t>& ids, const In<std::int64_t>& sentence_starts, const double* unigram,
               double* log_probs) {
        for_events(ids, sentence_starts, [&](std::size_t i) {
            log_probs[i] = std::log(probability(find_contexts(), ids[i], unigram[ids[i]]));
        });
    }

    // Adds to a row for each word of a text the distribution before it, times its weight, and adds the word.
    void add_rows(const In<std::uint32_t>& ids, const In<std::int64_t>& sentence_starts,
                  const In<double>& unigram, const double* weights, double* rows) {
        for_events(ids, sentence_starts, [&](std::size_t i) {
            add_row(unigram.data(), unigram.size(), weights[i], rows + i * unigram.size());
        });
    }

    void distribution(const double* unigram, std::size_t n_words, double* probabilities) const {
        const Contexts contexts = find_contexts();
        for (std::size_t word = 0; word < n_words; ++word)
            probabilities[word] = probability(contexts, static_cast<std::uint32_t>(word), unigram[word]);
    }

 private:
    // The words that followed contexts of one length.
    struct Level {
        static constexpr std::uint32_t no_follower = std::numeric_limits<std::uint32_t>::max();

        DecayedCounts contexts;             // by the words of the context
        DecayedCounts followers;            // by the place of the context and the word
        std::vector<std::uint32_t> last;    // of the followers of each context, the one that came last,
        std::vector<std::uint32_t> before;  // and of each follower the one before it

        void add(std::uint64_t context, std::uint32_t word, double decay, std::uint32_t now) {
            const std::size_t place = contexts.add(context, decay, now);
            if (place == last.size()) last.push_back(no_follower);
            const std::size_t follower = followers.add(pair_key(place, word), decay, now);
            if (follower < before.size()) return;
            before.push_back(last[place]);
            last[place] = static_cast<std::uint32_t>(follower);
        }
    };

    struct Context {
        std::size_t place;
        double total;
    };
    using Contexts = std::array<Context, max_order>;

    // Calls use(event) before each word of a text is added. All sentences but the first start anew.
    template <typename Use>
    void for_events(const In<std::uint32_t>& ids, const In<std::int64_t>& sentence_starts, const Use& use) {
        for (std::size_t sentence = 0; sentence + 1 < sentence_starts.size(); ++sentence) {
            if (sentence > 0 && last_[0] != begin_) add(begin_);
            const auto stop = static_cast<std::size_t>(sentence_starts[sentence + 1]);
            for (auto i = static_cast<std::size_t>(sentence_starts[sentence]); i < stop; ++i) {
                use(i);
                add(ids[i]);
            }
        }
    }

    // p_k is linear in p_k-1: each count is added once, times what longer contexts leave of it.
    void add_row(const double* unigram, std::size_t n_words, double weight, double* row) const {
        const Contexts contexts = find_contexts();
        for (std::size_t k = levels_.size(); k-- > 0;) {
            if (contexts[k].place == DecayedCounts::none) continue;
            const Level& level = levels_[k];
            const double of_count = weight / (contexts[k].total + priors[k]);
            for (std::uint32_t at = level.last[contexts[k].place]; at != Level::no_follower;
                 at = level.before[at])
                row[static_cast<std::uint32_t>(level.followers.key(at))] +=
                    of_count * level.followers.at(at, decays_[k], time_);
            weight = of_count * priors[k];
        }
        for (std::size_t word = 0; word < n_words; ++word) row[word] += weight * unigram[word];
    }

    std::uint64_t context_key(std::size_t level) const {
        return level == 0 ? 0 : level == 1 ? last_[0] : pair_key(last_[1], last_[0]);
    }

    Contexts find_contexts() const {
        Contexts found{};
        for (std::size_t k = 0; k < levels_.size(); ++k) {
            const DecayedCounts& contexts = levels_[k].contexts;
            const std::size_t place = contexts.find(context_key(k));
            found[k] = {place, place == DecayedCounts::none ? 0.0 : contexts.at(place, decays_[k], time_)};
        }
        return found;
    }

    double probability(const Contexts& contexts, std::uint32_t word, double p) const {
        for (std::size_t k = 0; k < levels_.size(); ++k) {
            if (contexts[k].place == DecayedCounts::none) continue;
            const DecayedCounts& followers = levels_[k].followers;
            const std::size_t place = followers.find(pair_key(contexts[k].place, word));
            const double count = place == DecayedCounts::none ? 0.0 : followers.at(place, decays_[k], time_);
            p = (count + priors[k] * p) / (contexts[k].total + priors[k]);
        }
        return p;
    }

    void add(std::uint32_t word) {
        words_.push_back(word);
        count(word);
        if (words_.size() == capacity_) forget();
    }

    // The beginning of a sentence is no event.
    void count(std::uint32_t word) {
        if (word != begin_) {
            ++time_;
            for (std::size_t k = 0; k < levels_.size(); ++k)
                levels_[k].add(context_key(k), word, decays_[k], time_);
        }
        last_ = word == begin_ || word == end_ ? std::array{begin_, begin_} : std::array{word, last_[0]};
    }

    void forget() {
        words_.erase(words_.begin(), words_.end() - static_cast<std::ptrdiff_t>(capacity_ / 2));
        levels_.assign(decays_.size(), Level());
        last_ = {no_word, no_word};
        time_ = 0;
        for (const std::uint32_t word : words_) count(word);
    }

    std::vector<double> decays_;
    std::uint32_t begin_, end_;
    std::size_t capacity_;
    std::vector<std::uint32_t> words_;                        // that are kept, the oldest first
    std::array<std::uint32_t, 2> last_ = {no_word, no_word};  // the nearest first
    std::uint32_t time_ = 0;                                  // events that are counted
    std::vector<Level> levels_;
};

}  // namespace stategram
