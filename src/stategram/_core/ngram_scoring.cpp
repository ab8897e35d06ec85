// A search in a large trie is a chain of reads that miss the cache. A thread therefore keeps many pieces of
// text, its lanes, under way at once: each step of a lane ends by asking for the memory that its next step
// reads, and by the time all other lanes have done theirs it is there.
#include "ngram_scoring.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace stategram {
namespace {

constexpr std::size_t lanes = 24;
constexpr std::size_t events_a_block = std::size_t{1} << 14;
constexpr std::size_t events_a_piece = 256;

struct Lane {
    std::size_t at, end;  // the event to be scored, the end of the piece
    std::size_t kept;     // events before this one only lead to the right state
    double backoffs;      // sum over the nodes that had no such child
    std::uint32_t node;   // the history; once a search has succeeded, the n-gram
    int words;            // of the node
    std::uint32_t number;
    std::uint32_t link, window;
    ChildRange range;
    float backoff;
};

class BlockScorer {
 public:
    BlockScorer(const TrieView& trie, const ScoredText& text, EventValues values)
        : trie_(trie), text_(text), values_(values) {}

    void run(std::size_t from, std::size_t to) {
        read_words(from, to);
        next_ = from;
        end_ = to;
        const std::int64_t* starts = text_.sentence_starts;
        sentence_ = static_cast<std::size_t>(
            std::upper_bound(starts, starts + text_.n_sentences + 1, static_cast<std::int64_t>(from)) -
            starts - 1);
        std::size_t active = 0;
        while (active < lanes && take_piece(lane_[active])) ++active;
        std::array<std::uint8_t, lanes> done;
        while (active > 0) {
            for (std::size_t i = 0; i < active; ++i) read_node(lane_[i]);
            // Whether a child is there can not be guessed; a list of those that have one needs no guess.
            std::size_t n_done = 0;
            for (std::size_t i = 0; i < active; ++i) {
                done[n_done] = static_cast<std::uint8_t>(i);
                n_done += search(lane_[i]);
            }
            // From the last on: a lane that takes the place of one without work has had its turn.
            while (n_done > 0) {
                Lane& lane = lane_[done[--n_done]];
                if (!finish_event(lane)) lane = lane_[--active];
            }
        }
    }

 private:
    // The state before an event depends on the order - 1 words before it and on nothing else, so that a long
    // sentence can be cut anywhere: a piece begins with those words.
    bool take_piece(Lane& lane) {
        if (next_ >= end_) return false;
        while (text_.sentence_starts[sentence_ + 1] <= static_cast<std::int64_t>(next_)) ++sentence_;
        const auto start = static_cast<std::size_t>(text_.sentence_starts[sentence_]);
        const auto stop = static_cast<std::size_t>(text_.sentence_starts[sentence_ + 1]);
        lane.kept = next_;
        next_ = lane.end = std::min({stop, end_, next_ + events_a_piece});
        const auto words = static_cast<std::size_t>(trie_.order() - 1);
        lane.at = lane.kept - start > words ? lane.kept - words : start;
        const std::uint32_t at_start = sentence_ == 0 ? text_.first_state : text_.begin_state;
        start_event(lane, lane.at == start ? at_start : 0);
        return true;
    }

    // The trie's numbers of the words of a block, and of the words before it that lead to its first state.
    void read_words(std::size_t from, std::size_t to) {
        first_ = from - std::min(from, static_cast<std::size_t>(trie_.order() - 1));
        numbers_.resize(to - first_);
        for (std::size_t i = first_; i < to; ++i) {
            const std::uint32_t id = text_.ids[i];
            if (id >= text_.n_ids)
                throw std::invalid_argument("an id is not below the size of the vocabulary");
            numbers_[i - first_] = text_.numbers[id];
        }
    }

    void start_event(Lane& lane, std::uint32_t state) {
        if (values_.states != nullptr && lane.at >= lane.kept) values_.states[lane.at] = state;
        lane.node = state;
        lane.words = trie_.order_of(state);
        lane.number = numbers_[lane.at - first_];
        lane.backoffs = 0;
        trie_.prefetch_row(lane.node, lane.words);
    }

    void read_node(Lane& lane) {
        lane.range = trie_.children(lane.node, lane.words);
        lane.link = trie_.link(lane.node, lane.words);
        lane.backoff = trie_.backoff(lane.node);
        lane.window = trie_.first_window(lane.range, lane.number);
        trie_.prefetch_window(lane.range, lane.window);
    }

    // Whether the n-gram was found. All that follows from the search is chosen, not branched on.
    bool search(Lane& lane) {
        const std::uint32_t child = trie_.find(lane.range, lane.number, lane.window);
        const bool hit = child != TrieView::none, at_root = lane.link == 0;
        lane.backoffs += hit ? 0.0 : double{lane.backoff};
        const std::uint32_t shorter = at_root ? 1 + lane.number : lane.link;
        lane.node = hit ? child : shorter;
        lane.words = hit ? lane.words + 1 : trie_.order_of(shorter);
        trie_.prefetch_row(lane.node, lane.words);
        return hit | at_root;
    }

    // Whether the lane has more to do.
    bool finish_event(Lane& lane) {
        const TrieView::Found ngram = trie_.found(lane.node, lane.words);
        if (values_.log10_probs != nullptr && lane.at >= lane.kept) {
            values_.log10_probs[lane.at] = ngram.log_prob + lane.backoffs;
            values_.orders[lane.at] = static_cast<std::uint8_t>(lane.words);
        }
        if (++lane.at == lane.end) return take_piece(lane);
        start_event(lane, ngram.next);
        return true;
    }

    const TrieView& trie_;
    const ScoredText& text_;
    EventValues values_;
    std::array<Lane, lanes> lane_;
    std::size_t next_ = 0, end_ = 0, sentence_ = 0;
    std::size_t first_ = 0;               // the event of the first number
    std::vector<std::uint32_t> numbers_;  // of the block's words
};

}  // namespace

void score_text(const TrieView& trie, const ScoredText& text, EventValues values, ThreadPool& pool) {
    pool.run((text.size + events_a_block - 1) / events_a_block, [&](std::size_t i, int) {
        BlockScorer scorer(trie, text, values);
        scorer.run(i * events_a_block, std::min(text.size, (i + 1) * events_a_block));
    });
}

}  // namespace stategram
