// A search in a large trie is a chain of reads that miss the cache, but the searches of different events do
// not depend on each other: the n-gram of k words that ends with an event is a child of the one of k - 1
// words that ends with the event before. So a chunk of text is scored length by length, and for each length
// all of its events at once: memory is asked for long before it is read.
#include "ngrams/scoring.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace stategram {
namespace {

constexpr std::size_t events_a_block = std::size_t{1} << 14;  // of one thread
constexpr std::size_t events_a_chunk = 64;

class BlockScorer {
 public:
    BlockScorer(const PackedTrie& trie, const ScoredText& text, EventValues values)
        : trie_(trie), text_(text), values_(values), n_histories_(trie.order() - 1) {}

    // The histories of an event depend on the order - 1 words before it and on nothing else: a block begins
    // with those.
    void run(std::size_t from, std::size_t to) {
        const std::int64_t* starts = text_.sentence_starts;
        sentence_ = static_cast<std::size_t>(
            std::upper_bound(starts, starts + text_.n_sentences + 1, static_cast<std::int64_t>(from)) -
            starts - 1);
        const auto start = static_cast<std::size_t>(starts[sentence_]);
        std::size_t at = from - std::min(from - start, static_cast<std::size_t>(n_histories_));
        if (at > start)
            for (int k = 1; k <= n_histories_; ++k) after_chunk(k) = {};
        kept_ = from;
        for (; at < to; at += n_) {
            n_ = std::min(events_a_chunk, to - at);
            score_chunk(at);
        }
    }

 private:
    using Slots = std::array<std::uint8_t, events_a_chunk>;

    NgramHistory& history(int words, std::size_t event) {
        return histories_[static_cast<std::size_t>(words)][event];
    }
    // The histories after the last event of a chunk are the first ones of the next.
    NgramHistory& after_chunk(int words) {
        return histories_[static_cast<std::size_t>(words)][events_a_chunk];
    }

    void score_chunk(std::size_t first) {
        read_words(first);
        for (std::size_t i = 0; i < n_; ++i) {
            found_[i] = numbers_[i];
            order_[i] = 1;
            weights_[i] = 0;
            PackedTrie::prefetch_record(trie_.level(1), numbers_[i]);
        }
        std::size_t n_found = n_;
        for (std::size_t i = 0; i < n_; ++i) hits_[i] = static_cast<std::uint8_t>(i);
        for (int k = 1;; ++k) {
            read_found(k, n_found);
            if (k > n_histories_) break;
            n_found = search(k, n_found);
        }
        if (values_.lengths != nullptr) write_features(first);
        if (values_.log10_probs == nullptr) return;
        for (std::size_t i = first < kept_ ? kept_ - first : 0; i < n_; ++i) {
            values_.log10_probs[first + i] = log_probs_[i] + weights_[i];
            values_.orders[first + i] = order_[i];
        }
    }

    // The numbers of the words of a chunk, and where sentences start in it.
    void read_words(std::size_t first) {
        for (std::size_t i = 0; i < n_; ++i) {
            const std::uint32_t id = text_.ids[first + i];
            if (id >= text_.n_ids)
                throw std::invalid_argument("an id is not below the size of the vocabulary");
            numbers_[i] = text_.numbers[id];
        }
        n_starts_ = 0;
        const std::int64_t* starts = text_.sentence_starts;
        const auto end = static_cast<std::int64_t>(first + n_);
        while (sentence_ < text_.n_sentences && starts[sentence_] < end) {
            if (starts[sentence_] >= static_cast<std::int64_t>(first) &&
                starts[sentence_] < starts[sentence_ + 1]) {
                starts_[n_starts_] =
                    static_cast<std::uint8_t>(starts[sentence_] - static_cast<std::int64_t>(first));
                at_first_[n_starts_++] = sentence_ == 0;
            }
            if (starts[sentence_ + 1] > end) break;
            ++sentence_;
        }
    }

    // Reads the n-grams of k words that were found: their probabilities, and the histories that they are for
    // the events after them.
    void read_found(int k, std::size_t n_found) {
        const PackedLevel& level = trie_.level(k);
        for (std::size_t hit = 0; hit < n_found; ++hit)
            log_probs_[hits_[hit]] = PackedTrie::log_prob(level, found_[hits_[hit]]);
        if (k > n_histories_) return;
        auto& histories = histories_[static_cast<std::size_t>(k)];
        histories[0] = after_chunk(k);
        std::fill(histories.begin() + 1, histories.begin() + n_ + 1, NgramHistory{});
        for (std::size_t hit = 0; hit < n_found; ++hit)
            histories[hits_[hit] + std::size_t{1}] = PackedTrie::history(level, found_[hits_[hit]]);
        const NgramHistory last = histories[n_];
        for (std::size_t i = 0; i < n_starts_; ++i) {
            const NgramState& state = at_first_[i] ? text_.first_state : text_.begin_state;
            const std::uint32_t node =
                k <= state.length ? state.nodes[static_cast<std::size_t>(k - 1)] : no_node;
            histories[starts_[i]] = node == no_node ? NgramHistory{} : PackedTrie::history(level, node);
        }
        histories[events_a_chunk] = last;
    }

    // Looks for the n-grams of k + 1 words; returns how many there are.
    std::size_t search(int k, std::size_t n_found) {
        const PackedLevel& level = trie_.level(k + 1);
        auto& histories = histories_[static_cast<std::size_t>(k)];
        Slots tried;
        std::size_t n_tried = 0;
        const auto consider = [&](std::size_t i) {
            const ChildRange children = histories[i].children;
            tried[n_tried] = static_cast<std::uint8_t>(i);
            n_tried += children.begin != children.end;
            trie_.prefetch_children(level, children, numbers_[i]);
        };
        // Where the end of an n-gram is missing, so is the n-gram.
        if (trie_.closed())
            for (std::size_t hit = 0; hit < n_found; ++hit) consider(hits_[hit]);
        else
            for (std::size_t i = 0; i < n_; ++i) consider(i);
        for (std::size_t i = 0; i < n_; ++i) weights_[i] += double{histories[i].backoff};
        std::size_t n_next = 0;
        for (std::size_t at = 0; at < n_tried; ++at) {
            const std::size_t i = tried[at];
            const std::uint32_t node = trie_.find(level, histories[i].children, numbers_[i]);
            if (node == no_node) continue;
            found_[i] = node;
            order_[i] = static_cast<std::uint8_t>(k + 1);
            weights_[i] = 0;
            hits_[n_next++] = static_cast<std::uint8_t>(i);
            PackedTrie::prefetch_record(level, node);
        }
        return n_next;
    }

    void write_features(std::size_t first) {
        for (std::size_t i = first < kept_ ? kept_ - first : 0; i < n_; ++i) {
            int k = n_histories_;
            while (k > 0 && !history(k, i).matters()) --k;
            values_.lengths[first + i] = static_cast<float>(k);
            values_.backoffs[first + i] = k == 0 ? 0 : history(k, i).backoff;
        }
    }

    const PackedTrie& trie_;
    const ScoredText& text_;
    EventValues values_;
    int n_histories_;
    std::size_t sentence_ = 0;
    std::size_t kept_ = 0;  // events before this one only lead to the right histories
    std::size_t n_ = 0;     // events of the chunk
    std::array<std::uint32_t, events_a_chunk> numbers_;
    // For each length, of each event the history before it; one more for what comes after the chunk.
    std::array<std::array<NgramHistory, events_a_chunk + 1>, most_words> histories_{};
    std::array<std::uint32_t, events_a_chunk> found_;  // the longest n-gram so far
    std::array<double, events_a_chunk> log_probs_, weights_;
    std::array<std::uint8_t, events_a_chunk> order_;
    Slots hits_;
    std::array<std::uint8_t, events_a_chunk> starts_;  // the events with which sentences start
    std::array<bool, events_a_chunk> at_first_;        // whether it is the first sentence
    std::size_t n_starts_ = 0;
};

}  // namespace

void score_text(const PackedTrie& trie, const ScoredText& text, EventValues values, ThreadPool& pool) {
    pool.run((text.size + events_a_block - 1) / events_a_block, [&](std::size_t i, int) {
        BlockScorer scorer(trie, text, values);
        scorer.run(i * events_a_block, std::min(text.size, (i + 1) * events_a_block));
    });
}

void score_text(const PackedTrie& trie, const ScoredText& text, EventValues values) {
    if (text.size > 0) BlockScorer(trie, text, values).run(0, text.size);
}

}  // namespace stategram
