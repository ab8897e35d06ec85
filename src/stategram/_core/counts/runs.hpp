// Runs: n-grams in rising order with their counts, as bytes that are kept in files and merged.
//
// A run holds the keys of a text, as ngrams.cpp makes them: the `order` words that begin at each place,
// fewer at the end of a sentence. Of each key it has
//   a byte        how many words the key shares with the one before (low 4 bits), and count - 1 (high 4 bits;
//                 15: the varint count - 16 follows)
//   varints       the ids of its other words: frequent words have small ids.
// A key that is shorter than the order ends with </s>, which is nowhere else: lengths are not written.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/checks.hpp"
#include "base/most_words.hpp"
#include "base/varints.hpp"
#include "counts/levels.hpp"
#include "counts/ngram_keys.hpp"

namespace stategram {

// What the keys of a run are made of.
struct RunWords {
    std::span<const std::uint32_t> numbers;  // of each id
    std::span<const std::uint32_t> ids;      // of each number
    std::uint32_t end;                       // the id of </s>
    int order, bits;                         // words of a key, and the bits of each
};

constexpr unsigned most_counts_inline = 15;

// Appends keys to a run. They come in rising order.
template <std::size_t Limbs>
class RunWriter {
 public:
    using Key = NgramKey<Limbs>;

    // `before`: the key before the first one.
    explicit RunWriter(const RunWords& words, const Key& before = {}) : words_(words), before_(before) {}

    void add(const Key& key, std::uint64_t count) {
        const int shared = key.common_bits(before_) / words_.bits;
        const std::uint64_t high = std::min<std::uint64_t>(count - 1, most_counts_inline);
        bytes_.push_back(static_cast<std::uint8_t>(high << 4 | static_cast<unsigned>(shared)));
        if (high == most_counts_inline) append_varint(bytes_, count - 1 - most_counts_inline);
        for (int place = shared; place < words_.order; ++place) {
            const std::uint32_t symbol = key.symbol(place, words_.bits);
            require(symbol > 0, "a sentence does not end with the word that ends sentences");
            const std::uint32_t id = words_.ids[symbol - 1];
            append_varint(bytes_, id);
            if (id == words_.end) break;
        }
        before_ = key;
    }

    std::size_t size() const { return bytes_.size(); }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
    const RunWords& words_;
    Key before_;
    std::vector<std::uint8_t> bytes_;
};

// The keys of a run, one after the other. Bytes that are no run throw std::invalid_argument.
template <std::size_t Limbs>
class RunReader {
 public:
    using Key = NgramKey<Limbs>;

    // All first words have numbers from `first` to `last` - 1.
    RunReader(const RunWords& words, std::span<const std::uint8_t> bytes, std::uint32_t first,
              std::uint32_t last)
        : words_(&words), bytes_(bytes), first_(first), last_(last) {}

    const Key& key() const { return key_; }
    std::uint64_t count() const { return count_; }
    bool is_done() const { return done_; }

    // Goes to the next key; after the last one the reader is done.
    void next() {
        if (bytes_.empty()) {
            done_ = true;
            return;
        }
        const unsigned head = bytes_[0];
        bytes_ = bytes_.subspan(1);
        const int shared = static_cast<int>(head & 15U);
        count_ = (head >> 4) + 1;
        if (head >> 4 == most_counts_inline) {
            const std::uint64_t more = take_varint(bytes_);
            require(more <= UINT64_MAX / 2, "a run is damaged: a count is too large");
            count_ += more;
        }
        require(shared < words_->order && shared <= length_, "a run is damaged: a key shares too many words");
        const Key before = key_;
        key_.keep(words_->bits * shared);
        length_ = shared;
        for (bool ended = false; length_ < words_->order && !ended; ++length_) {
            const std::uint64_t id = take_varint(bytes_);
            require(id < words_->numbers.size(), "a run is damaged: a word is not in the vocabulary");
            ended = id == words_->end;
            key_.put(length_, words_->numbers[static_cast<std::size_t>(id)] + std::uint64_t{1}, words_->bits);
        }
        require(before < key_, "a run is damaged: its keys do not rise");
        const std::uint32_t number = key_.symbol(0, words_->bits) - 1;
        require(number >= first_ && number < last_, "a run is damaged: a first word is out of its range");
    }

 private:
    const RunWords* words_;
    std::span<const std::uint8_t> bytes_;
    std::uint32_t first_, last_;
    Key key_{};
    std::uint64_t count_ = 0;
    int length_ = 0;
    bool done_ = false;
};

// Calls use(key, count) for all keys of several runs in rising order, the counts of equal keys added up. A
// tournament: each node of the tree has the loser of the match there, the winner of all is tree_[0].
template <std::size_t Limbs>
class RunMerger {
 public:
    explicit RunMerger(std::vector<RunReader<Limbs>> readers) : readers_(std::move(readers)) {
        leaves_ = std::bit_ceil(std::max<std::size_t>(readers_.size(), 1));
        for (auto& reader : readers_) reader.next();
        tree_.assign(leaves_, 0);
        tree_[0] = build(1);
    }

    template <typename Use>
    void run(const Use& use) {
        while (!is_done(tree_[0])) {
            const NgramKey<Limbs> key = readers_[tree_[0]].key();
            std::uint64_t count = 0;
            while (!is_done(tree_[0]) && readers_[tree_[0]].key() == key) {
                const std::uint64_t more = readers_[tree_[0]].count();
                require(more <= UINT64_MAX / 2 - count, "a count is above 2^63");
                count += more;
                readers_[tree_[0]].next();
                replay(tree_[0]);
            }
            use(key, count);
        }
    }

 private:
    bool is_done(std::size_t reader) const { return reader >= readers_.size() || readers_[reader].is_done(); }

    bool is_before(std::size_t a, std::size_t b) const {
        if (is_done(a)) return false;
        return is_done(b) || readers_[a].key() < readers_[b].key();
    }

    // Plays all matches below a node; returns their winner.
    std::size_t build(std::size_t node) {
        if (node >= leaves_) return node - leaves_;
        const std::size_t left = build(2 * node), right = build(2 * node + 1);
        const bool left_wins = !is_before(right, left);
        tree_[node] = left_wins ? right : left;
        return left_wins ? left : right;
    }

    // Plays the matches of a reader again that has gone on.
    void replay(std::size_t reader) {
        std::size_t winner = reader;
        for (std::size_t node = (reader + leaves_) / 2; node > 0; node /= 2)
            if (is_before(tree_[node], winner)) std::swap(tree_[node], winner);
        tree_[0] = winner;
    }

    std::vector<RunReader<Limbs>> readers_;
    std::size_t leaves_;
    std::vector<std::size_t> tree_;
};

using GrowingLevel = CountedLevel<std::vector<std::uint32_t>>;

// Keys in rising order to the levels of a trie, of n-grams with at most `order` words.
template <std::size_t Limbs>
class LevelBuilder {
 public:
    // Words of the range that no key begins with have a node too.
    LevelBuilder(int order, int bits, std::uint32_t first, std::uint32_t last)
        : order_(order), bits_(bits), first_(first), levels_(static_cast<std::size_t>(order)) {
        levels_[0].words.resize(last - first);
        levels_[0].counts.assign(last - first, 0);
        for (std::uint32_t i = 0; i < last - first; ++i) levels_[0].words[i] = first + i;
    }

    void add(const NgramKey<Limbs>& key, std::uint64_t count) {
        int place = std::min(key.common_bits(before_) / bits_, order_);
        for (; place < order_; ++place) {
            const std::uint32_t symbol = key.symbol(place, bits_);
            if (symbol == 0) break;
            start(static_cast<std::size_t>(place), symbol - 1);
        }
        for (std::size_t level = 0; level < static_cast<std::size_t>(place); ++level) {
            std::uint32_t& sum = levels_[level].counts[node_[level]];
            if (count > UINT32_MAX - sum) throw std::overflow_error("an n-gram has a count above 2^32-1");
            sum += static_cast<std::uint32_t>(count);
        }
        before_ = key;
    }

    std::vector<GrowingLevel> finish() {
        const std::size_t words = levels_[0].words.size();
        if (order_ > 1) {
            auto& first_child = levels_[0].first_child;
            first_child.resize(words + 1, end_of(1));
        }
        for (std::size_t level = 1; level + 1 < levels_.size(); ++level)
            levels_[level].first_child.push_back(end_of(level + 1));
        return std::move(levels_);
    }

 private:
    std::uint32_t end_of(std::size_t level) const {
        return static_cast<std::uint32_t>(levels_[level].words.size());
    }

    // Opens the next node of a level.
    void start(std::size_t level, std::uint32_t word) {
        GrowingLevel& here = levels_[level];
        if (level == 0) {
            node_[0] = word - first_;
            // Also for the words before it that no key begins with.
            if (order_ > 1) here.first_child.resize(node_[0] + 1, end_of(1));
            return;
        }
        if (here.words.size() >= UINT32_MAX - 1) throw std::overflow_error("more than 2^32-2 n-grams");
        node_[level] = here.words.size();
        here.words.push_back(word);
        here.counts.push_back(0);
        if (level + 1 < levels_.size()) here.first_child.push_back(end_of(level + 1));
    }

    const int order_, bits_;
    const std::uint32_t first_;
    std::vector<GrowingLevel> levels_;
    std::array<std::size_t, most_words> node_{};  // the n-gram of each length that the last key begins with
    NgramKey<Limbs> before_{};
};

}  // namespace stategram
