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
    std::uint32_t number;
    int length;  // of the longest history
    int longest;
    std::array<NgramHistory, most_words> histories;  // of 1, 2, ... words; without children if there is none
    std::array<std::uint32_t, most_words> found;     // the word after histories of 0, 1, 2, ... words
};

class BlockScorer {
 public:
    BlockScorer(const PackedTrie& trie, const ScoredText& text, EventValues values)
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
        while (active > 0) {
            for (std::size_t i = 0; i < active; ++i) search(lane_[i]);
            for (std::size_t i = 0; i < active;) {
                if (finish_event(lane_[i]))
                    ++i;
                else
                    lane_[i] = lane_[--active];  // whose event is to be finished, too
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
        lane.length = 0;
        if (lane.at == start) {
            const NgramState& state = sentence_ == 0 ? text_.first_state : text_.begin_state;
            lane.length = state.length;
            for (int k = 1; k <= lane.length; ++k) {
                const std::uint32_t node = state.nodes[static_cast<std::size_t>(k - 1)];
                lane.histories[static_cast<std::size_t>(k)] =
                    node == no_node ? NgramHistory{} : PackedTrie::history(trie_.level(k), node);
            }
        }
        lane.number = numbers_[lane.at - first_];
        start_event(lane);
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

    void start_event(Lane& lane) {
        if (values_.lengths != nullptr && lane.at >= lane.kept) {
            const auto length = static_cast<std::size_t>(lane.length);
            values_.lengths[lane.at] = static_cast<float>(length);
            values_.backoffs[lane.at] = length == 0 ? 0 : lane.histories[length].backoff;
        }
        PackedTrie::prefetch_record(trie_.level(1), lane.number);
    }

    void search(Lane& lane) {
        lane.found[0] = lane.number;
        lane.longest = 0;
        for (int k = 1; k <= lane.length; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const PackedLevel& level = trie_.level(k + 1);
            const std::uint32_t node = trie_.find(level, lane.histories[at].children, lane.number);
            lane.found[at] = node;
            if (node == no_node) continue;
            lane.longest = k;
            PackedTrie::prefetch_record(level, node);
        }
    }

    // Whether the lane has more to do.
    bool finish_event(Lane& lane) {
        const auto longest = static_cast<std::size_t>(lane.longest);
        if (values_.log10_probs != nullptr && lane.at >= lane.kept) {
            double weights = 0;
            for (int k = lane.length; k > lane.longest; --k)
                weights += double{lane.histories[static_cast<std::size_t>(k)].backoff};
            values_.log10_probs[lane.at] =
                PackedTrie::log_prob(trie_.level(lane.longest + 1), lane.found[longest]) + weights;
            values_.orders[lane.at] = static_cast<std::uint8_t>(lane.longest + 1);
        }
        if (++lane.at == lane.end) return take_piece(lane);
        lane.number = numbers_[lane.at - first_];
        lane.length = 0;
        for (int k = std::min(lane.longest + 1, trie_.order() - 1); k > 0; --k) {
            const std::uint32_t node = lane.found[static_cast<std::size_t>(k - 1)];
            NgramHistory& history = lane.histories[static_cast<std::size_t>(k)];
            history = node == no_node ? NgramHistory{} : PackedTrie::history(trie_.level(k), node);
            trie_.prefetch_children(trie_.level(k + 1), history.children, lane.number);
            if (lane.length == 0 && history.matters()) lane.length = k;
        }
        start_event(lane);
        return true;
    }

    const PackedTrie& trie_;
    const ScoredText& text_;
    EventValues values_;
    std::array<Lane, lanes> lane_;
    std::size_t next_ = 0, end_ = 0, sentence_ = 0;
    std::size_t first_ = 0;               // the event of the first number
    std::vector<std::uint32_t> numbers_;  // of the block's words
};

}  // namespace

void score_text(const PackedTrie& trie, const ScoredText& text, EventValues values, ThreadPool& pool) {
    pool.run((text.size + events_a_block - 1) / events_a_block, [&](std::size_t i, int) {
        BlockScorer scorer(trie, text, values);
        scorer.run(i * events_a_block, std::min(text.size, (i + 1) * events_a_block));
    });
}

}  // namespace stategram
