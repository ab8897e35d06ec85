// The evidence of all contexts on the way to a word: for each node, what each context says of its two sides.
//
// A chain is a list of values, the nearest first; the context of level j is the first j of them. With the
// counts a0, a1 of the two sides of a node, and the estimate p of the level above,
//
//     Kneser-Ney     p_j(1) = (a1 - D t1 + D (t0 + t1) p_{j-1}(1)) / (a0 + a1)
//     counts         p_j(1) = (a1 - d(a1) + (d(a0) + d(a1)) p_{j-1}(1)) / (a0 + a1)
//
// where for Kneser-Ney a word counts as often as it followed distinct longer contexts, and t is the number of
// distinct words of a side; D is the discount of the level, and d(a) is 0, D1, D2, or D3 from three on. The
// evidence is x_j = logit p_j - logit p_{j-1}; where a context was never seen it is 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "word_tree/context_table.hpp"
#include "word_tree/list_walk.hpp"
#include "word_tree/tree.hpp"

namespace stategram {

// The inputs of each history begin at a multiple of this: a vector of weights never has those of another.
constexpr std::size_t input_padding = 16;
inline std::size_t padded_inputs(std::size_t n) {
    return (n + input_padding - 1) / input_padding * input_padding;
}

// The inputs of what is known without a context, which are the first; those of vector states follow.
constexpr std::size_t n_root_inputs = 2;

constexpr std::size_t max_trees = 16;

// Count buckets of evidence; 0: the context was not seen here.
constexpr std::size_t n_count_buckets = 128;

struct ChainView {
    std::vector<std::uint32_t> streams;  // which value of an event divides each level
    std::size_t first_slot = 0;          // of its levels among those of all chains
    std::size_t first_input = 0;
    bool uses_continuation = true;  // has evidence by Kneser-Ney too
    bool is_document = false;       // knows of earlier sentences

    std::size_t depth() const { return streams.size(); }
    std::size_t inputs_per_level() const { return uses_continuation ? 2 : 1; }
};

struct ChainLevel {
    LevelView view;
    float discount = 0.5F;                        // of Kneser-Ney
    std::vector<std::array<float, 3>> discounts;  // of counts, for each tree
};

// What is known of the two sides of all nodes without any context.
struct RootEstimates {
    // By node: probabilities of the right and the left side, and their log-odds.
    std::vector<float> right, left, logit;
};

// The rows of one event: for each node of the way to its word, the evidence of each input and its bucket.
struct EvidenceRows {
    float* x;
    std::uint8_t* buckets;
    std::uint32_t* match;  // how many levels of the first two chains were seen at the node
    std::size_t stride;
};

// What a block of events adds to the counts of a context, to be taken out.
struct LeftFollower {
    std::uint32_t word, count, contexts, types;
};
struct LeftList {
    const LeftFollower *begin = nullptr, *end = nullptr;
};

// The hashes and the lists of all contexts of one event.
struct EventContexts {
    explicit EventContexts(std::size_t n_slots) : hashes(n_slots), lists(n_slots) {}

    std::vector<std::uint64_t> hashes;  // by slot; 0: there is no context
    std::vector<FoundList> lists;
    std::vector<ListWalk> walks;            // down the long lists, for each a walk in each tree
    std::vector<std::size_t> first_walks;   // by slot
    std::vector<std::uint32_t> open_walks;  // those under way
};

// The counts of the two sides of some nodes by one level: of all events, of distinct longer contexts, and of
// distinct words.
struct SideSums {
    alignas(64) std::uint32_t right_counts[max_depth], left_counts[max_depth];
    alignas(64) std::uint32_t right_contexts[max_depth], left_contexts[max_depth];
    alignas(64) std::uint32_t right_types[max_depth], left_types[max_depth];
};

// The estimates of the level above at some nodes: probabilities of their sides, and log-odds.
struct Estimates {
    alignas(64) float right[max_depth], left[max_depth], logit[max_depth];
};
struct ChainEstimates {
    Estimates continuation, counts;
};

class TreeEvidence {
 public:
    TreeEvidence(std::vector<WordTree> trees, std::vector<ChainView> chains, std::vector<ChainLevel> levels,
                 std::size_t n_vector_inputs, std::size_t n_streams, const std::uint32_t* counts,
                 const std::uint32_t* contexts);

    std::size_t n_trees() const { return trees_.size(); }
    const WordTree& tree(std::size_t number) const { return trees_[number]; }
    // All chains, or those that know of nothing but the sentence, which come first; padded.
    std::size_t n_inputs(bool with_document) const { return with_document ? n_inputs_ : n_sentence_inputs_; }
    std::size_t n_chains(bool with_document) const {
        return with_document ? chains_.size() : n_sentence_chains_;
    }
    std::size_t n_streams() const { return n_streams_; }
    std::size_t n_slots() const { return levels_.size(); }
    std::size_t n_matches() const { return (match_depth(0) + 1) * (match_depth(1) + 1); }
    const std::vector<ChainView>& chains() const { return chains_; }
    const ChainLevel& level(std::size_t slot) const { return levels_[slot]; }
    const RootEstimates& count_root(std::size_t tree) const { return count_roots_[tree]; }

    // The hashes of the contexts of an event from its values, of which there is one for each stream; chains
    // from `n_chains` on are not looked at.
    void hash(const std::uint32_t* const* streams, std::size_t event, std::size_t n_chains,
              EventContexts& contexts) const;
    void prefetch_directories(const EventContexts& contexts) const;
    void prefetch_buckets(const EventContexts& contexts) const;
    void find(EventContexts& contexts) const;
    // Calls use(list) for the contexts of a level until `max_ngrams` were seen: these are in the order of
    // hashes, as good as a random sample.
    void for_each_context(std::size_t slot, std::size_t max_ngrams,
                          const std::function<std::size_t(const FoundList&)>& use) const;
    void prefetch_long_begins(const EventContexts& contexts) const;
    // Walks down all long lists to a word: one step of each at a time, so that they wait for memory together.
    void walk(std::uint32_t word, EventContexts& contexts) const;

    // Fills the rows of an event for each tree, after the walks to its word; `left` has for each slot what to
    // take out, or is null.
    void collect(std::uint32_t word, const EventContexts& contexts, std::size_t n_chains,
                 const LeftList* left, const EvidenceRows* rows) const;

    // Calls use(rank, follower) for the words of a list, in the order of a tree.
    void read_ranked(std::size_t slot, std::size_t tree, const FoundList& list,
                     const std::function<void(std::uint32_t, const Follower&)>& use) const;

    // How often a word followed a context; 0 if it did not.
    std::uint32_t count(std::size_t slot, const FoundList& list, std::uint32_t word) const;

    // The discounts of counts at nodes, from the first `max_ngrams` n-grams of a level.
    std::array<float, 3> node_discounts(std::size_t slot, std::size_t tree, std::size_t max_ngrams) const;
    void set_discounts(std::size_t slot, std::size_t tree, std::array<float, 3> discounts) {
        levels_[slot].discounts[tree] = discounts;
    }

    // The same for single nodes, level by level: clear the rows of `n` nodes and set what is known without a
    // context; begin a chain; add the evidence of one of its levels, which was seen at all of the nodes.
    void begin_nodes(std::size_t tree, const std::uint32_t* nodes, int n, const EvidenceRows& rows) const;
    void begin_chain(std::size_t tree, const std::uint32_t* nodes, int n, ChainEstimates& estimates) const;
    void add_level(std::size_t tree, std::size_t chain, std::size_t number, const SideSums& sums, int n,
                   ChainEstimates& estimates, const EvidenceRows& rows) const;

 private:
    std::size_t match_depth(std::size_t chain) const {
        return chain < chains_.size() ? chains_[chain].depth() : 0;
    }

    std::vector<WordTree> trees_;
    std::vector<ChainView> chains_;
    std::vector<ChainLevel> levels_;
    std::size_t n_streams_ = 0, n_inputs_ = 0, n_sentence_inputs_ = 0, n_sentence_chains_ = 0;
    std::vector<RootEstimates> continuation_roots_, count_roots_;
    std::vector<std::vector<std::uint8_t>> root_buckets_;
};

// The bucket of the two sides of a node: by the total, the smaller side, and the number of distinct words.
std::uint8_t count_bucket(std::uint32_t right, std::uint32_t left, std::uint32_t types);

}  // namespace stategram
