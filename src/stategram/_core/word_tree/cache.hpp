// The words so far, as evidence: what was said recently is said again.
//
// A cache without a context keeps for each node of each tree how often each side was taken, every word
// counting `decay` times as much as the one after it. A cache with a context does so for the words that
// followed the same context, of which the most recent are visited. With the masses m0, m1 of the sides of a
// node,
//
//     x = logit((m1 + p(1)) / (m0 + m1 + 1)) - logit p(1),    p without any context
//
// The words that followed similar histories give evidence in the same way. Linear states that go on learning
// have an input each, and the longest match has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vectors/adaptive.hpp"
#include "word_tree/evidence.hpp"
#include "word_tree/longest_match.hpp"
#include "word_tree/similar_histories.hpp"

namespace stategram {

struct CacheView {
    std::vector<std::uint32_t> streams;  // the values of its context
    double decay = 0.999;
};

class TextCache {
 public:
    // `vector_width`: of the vectors by which histories are similar; 0: there are none.
    TextCache(std::shared_ptr<const TreeEvidence> evidence, std::vector<CacheView> caches,
              const std::vector<std::shared_ptr<const AdaptiveSource>>& adaptive, std::size_t vector_width);

    bool belongs_to(const TreeEvidence& evidence) const { return evidence_.get() == &evidence; }

    // The number of its inputs: caches, adaptive states, the longest match, and similar histories.
    std::size_t n_inputs() const { return match_input() + 1 + similar_.is_used(); }
    // Adaptive states begin anew, but for what they learned.
    void start_document();
    // Resets them to no known words.
    void clear_words();
    // Before a copy, which then shares what adaptive states learned.
    void share();

    // Sets the contexts of an event and its vector; `find` also finds the words that followed them.
    void enter(const std::uint32_t* const* streams, std::size_t event, const float* vector);
    void find(const std::uint32_t* const* streams, std::size_t event, const float* vector);
    // Writes the evidence at the nodes on the way to a word: for each node an input of each cache.
    void collect(std::size_t tree, std::uint32_t word, float* x, std::uint8_t* buckets,
                 std::size_t stride) const;
    // Adds the word of the event that was entered.
    void add(std::uint32_t word);

    // The evidence at one node of which the words have the ranks [begin, end); `similar` has the masses
    // below.
    void node_evidence(std::size_t tree, std::uint32_t begin, std::uint32_t node, std::uint32_t end,
                       int depth, const std::vector<double>& similar, float* x, std::uint8_t* buckets) const;
    // The mass of similar histories before each rank of a tree; sums of floats, exact in any order.
    std::vector<double> similar_masses(std::size_t tree) const;

 private:
    void enter_contexts(const std::uint32_t* const* streams, std::size_t event);
    void write(std::size_t cache, double right, double left, std::size_t tree, std::uint32_t node, float* x,
               std::uint8_t* buckets) const;
    void write_adaptive(std::size_t number, std::size_t tree, std::uint32_t node, float* x,
                        std::uint8_t* buckets) const;
    std::size_t match_input() const { return caches_.size() + adaptive_.size(); }
    void forget_old();
    double power(std::size_t cache, std::uint64_t age) const;  // of its decay

    std::shared_ptr<const TreeEvidence> evidence_;
    std::vector<CacheView> caches_;
    std::uint64_t time_ = 0;   // words so far
    std::uint64_t first_ = 0;  // the time of the first word that is kept
    std::vector<std::uint32_t> words_;
    // For each cache with a context: the time after its last occurrence, and for each word that of the one
    // before.
    std::vector<std::unordered_map<std::uint64_t, std::uint64_t>> last_;
    std::vector<std::vector<std::uint64_t>> previous_, keys_;
    std::vector<std::uint64_t> present_;           // the contexts of the event at hand
    std::vector<std::vector<CachedWord>> recent_;  // their followers
    std::vector<std::vector<double>> powers_;
    // For each cache without a context: its masses are divided by `scale_`.
    std::vector<double> scale_;
    std::vector<std::vector<std::vector<float>>> masses_;  // by cache and tree: right and left of each node
    std::vector<AdaptiveLinear> adaptive_;
    LongestMatch match_;
    SimilarHistories similar_;
};

}  // namespace stategram
