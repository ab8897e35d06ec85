// Scoring and learning with word trees: rows of evidence, mixed by learned weights.
//
// Events are independent of each other but for caches, which are filled in order; weights are learned in
// order, those of each tree and history by one thread. So nothing depends on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/threads.hpp"
#include "word_tree/cache.hpp"
#include "word_tree/evidence.hpp"
#include "word_tree/left_out.hpp"
#include "word_tree/mixer.hpp"
#include "word_tree/vector_inputs.hpp"

namespace stategram {

// How far back evidence may come from: 0 the sentence, 1 the document, 2 caches too.
constexpr int n_histories = 3;

// The events of a text.
struct TextEvents {
    const std::uint32_t* words;
    std::vector<const std::uint32_t*> streams;
    const std::uint32_t* classes;  // of the last word
    const std::uint8_t* starts;    // 1 at the start of a sentence, 2 at that of a document, else 0
};

// Where vector states of a history start anew.
inline std::vector<std::uint8_t> resets(const std::uint8_t* starts, std::size_t n, int history) {
    std::vector<std::uint8_t> found(n);
    for (std::size_t i = 0; i < n; ++i) found[i] = starts[i] > (history > 0 ? 1 : 0);
    return found;
}

// The weights of a tree, and the sums of the squares of their gradients, while they learn.
struct LearnedWeights {
    std::vector<float> weights, squares;
};

// Events to learn from; the words from `cache_begin` on fill the caches before.
struct LearningBlock {
    std::size_t cache_begin, begin, end;
};

// The evidence of caches for some events: one row per node of the way to each word, tree by tree.
struct CacheRows {
    std::vector<std::size_t> begins;  // by event and tree
    std::vector<float> x;
    std::vector<std::uint8_t> buckets;
};

class TreeModel {
 public:
    // `adaptive_rate`: that of the weights while they learn from what is scored.
    TreeModel(std::shared_ptr<TreeEvidence> evidence, std::vector<VectorInput> vectors,
              std::vector<std::shared_ptr<const AdaptiveSource>> adaptive, std::vector<CacheView> caches,
              const std::uint32_t* counts, std::size_t n_frequent_nodes, std::size_t n_classes,
              float adaptive_rate);

    const TreeEvidence& evidence() const { return *evidence_; }
    const VectorInputs& vectors() const { return vectors_; }
    std::size_t n_classes() const { return n_classes_; }
    std::size_t n_inputs(int history) const {
        const std::size_t of_chains = evidence_->n_inputs(history > 0);
        return history < 2 ? of_chains : of_chains + padded_inputs(n_cache_inputs_);
    }
    MixerShape shape(int history) const {
        return {n_inputs(history), n_node_sets_, evidence_->n_matches(), n_classes_};
    }
    const std::vector<std::uint32_t>& node_sets(std::size_t tree) const { return node_sets_[tree]; }

    TextCache empty_cache() const { return TextCache(evidence_, caches_, adaptive_, vectors_.last_width()); }
    // The vector of an event by which its history is compared with others.
    const float* compared_vector(const EventVectors& vectors, std::size_t event) const {
        return vectors.last(event, vectors_.last_width());
    }
    // Adds the rows of the events [begin, end) and their words to the cache.
    CacheRows read_cache(const TextEvents& text, std::size_t begin, std::size_t end,
                         const EventVectors& vectors, TextCache& cache) const;

    // What one thread needs.
    struct Scratch {
        Scratch(const TreeModel& model, int history);
        std::size_t stride;
        std::vector<float> x;
        std::vector<std::uint8_t> buckets;
        std::vector<std::uint32_t> match;
        std::vector<EventContexts> contexts;
        std::vector<LeftList> left;
        std::vector<EvidenceRows> rows;  // of each tree
    };

    // Where else the evidence of some events comes from; `cache` has rows from the event `cache_begin` on.
    struct Sources {
        const LeftOut* left = nullptr;
        const CacheRows* cache = nullptr;
        std::size_t cache_begin = 0;
        const EventVectors* vectors = nullptr;
    };

    // Calls use(event, rows) for the events [begin, end), in order.
    template <typename Use>
    void visit(const TextEvents& text, std::size_t begin, std::size_t end, int history,
               const Sources& sources, Scratch& scratch, const Use& use) const {
        const std::size_t n_chains = evidence_->n_chains(history > 0), ring = scratch.contexts.size();
        const auto contexts = [&](std::size_t event) -> EventContexts& {
            return scratch.contexts[event % ring];
        };
        for (std::size_t ahead = begin; ahead < end + look_ahead; ++ahead) {
            if (ahead < end) {
                evidence_->hash(text.streams.data(), ahead, n_chains, contexts(ahead));
                evidence_->prefetch_directories(contexts(ahead));
            }
            if (ahead >= begin + 2 && ahead - 2 < end) evidence_->prefetch_buckets(contexts(ahead - 2));
            if (ahead >= begin + 3 && ahead - 3 < end) {
                evidence_->find(contexts(ahead - 3));
                evidence_->prefetch_long_begins(contexts(ahead - 3));
            }
            if (ahead < begin + look_ahead) continue;
            const std::size_t event = ahead - look_ahead;
            evidence_->walk(text.words[event], contexts(event));
            if (sources.left) sources.left->lists(event, scratch.left);
            evidence_->collect(text.words[event], contexts(event), n_chains,
                               sources.left ? scratch.left.data() : nullptr, scratch.rows.data());
            if (sources.vectors) write_vectors(text.words[event], event, *sources.vectors, scratch.rows);
            if (sources.cache)
                copy_cache_rows(text.words[event], event - sources.cache_begin, *sources.cache, scratch);
            use(event, scratch.rows);
        }
    }

    MixerRow mixer_row(std::size_t tree, std::uint32_t node, std::uint32_t of_class, const EvidenceRows& rows,
                       std::size_t i) const {
        return {rows.x + i * rows.stride, rows.buckets + i * rows.stride, node_sets_[tree][node],
                rows.match[i], of_class};
    }

    // Scores the events [begin, end) one after the other: caches, adaptive states and weights learn each
    // event once it was predicted. Writes their natural-log probabilities by tree t to log_probs + t *
    // stride.
    void score_and_learn(const TextEvents& text, std::size_t begin, std::size_t end,
                         const EventVectors& vectors, TextCache& cache, std::vector<LearnedWeights*> weights,
                         ThreadPool& pool, std::vector<Scratch>& scratch, double* log_probs,
                         std::size_t stride) const;

    // The natural-log probability of an event by a tree.
    double log_prob(std::size_t tree, const TextEvents& text, std::size_t event, const EvidenceRows& rows,
                    const MixerShape& shape, const float* weights) const;

    // The vectors of the events of all blocks, by what is known of the document, and of the sentence.
    struct LearningVectors {
        EventVectors of_document, of_sentence;
    };
    LearningVectors learning_vectors(const TextEvents& text, std::size_t n_events,
                                     const std::vector<LearningBlock>& blocks, bool with_document,
                                     ThreadPool& pool) const;

    // Learns the weights of all histories up to `last` and all trees from blocks of events, in an order that
    // depends on the seed; adds to the sums of the log-probabilities before each step.
    struct Learner {
        int last;
        TextCache*
            cache;  // of the words before the first block, which all blocks continue; null: each has one
        float rate;
        bool leave_out;
        std::vector<float*> weights, squares;  // by history and tree
        std::vector<double> log_sums;
    };
    void learn(const TextEvents& text, const LearningVectors& vectors,
               const std::vector<LearningBlock>& blocks, const std::uint8_t* used, std::uint64_t seed,
               ThreadPool& pool, std::vector<Scratch>& scratch, Learner& learner) const;

 private:
    static constexpr std::size_t look_ahead = 4;

    // The rows of some events, kept: for each tree a row per node of the way to each word.
    struct KeptRows {
        std::vector<std::size_t> events;
        std::vector<std::size_t> firsts;  // by event and tree
        std::vector<std::vector<float>> x;
        std::vector<std::vector<std::uint8_t>> buckets;
        std::vector<std::vector<std::uint32_t>> matches;
        std::vector<std::vector<float>>
            of_sentence;  // the evidence of vector states of the sentence, if asked
    };
    struct Part {
        std::size_t begin, end;
        Sources sources;
    };
    // `used`: the events to keep; null: all. `of_sentence`: vector states of the sentence; may be null.
    KeptRows keep_rows(const TextEvents& text, const std::vector<Part>& parts, const std::uint8_t* used,
                       int history, const EventVectors* of_sentence, ThreadPool& pool,
                       std::vector<Scratch>& scratch) const;
    EvidenceRows rows_of(KeptRows& kept, std::size_t place, std::size_t tree, std::size_t stride) const {
        const std::size_t row = kept.firsts[place * evidence_->n_trees() + tree];
        return {&kept.x[tree][row * stride], &kept.buckets[tree][row * stride], &kept.matches[tree][row],
                stride};
    }
    // One step for each node on the way to a word; returns its log-probability before.
    double learn_event(std::size_t tree, const TextEvents& text, std::size_t event, const EvidenceRows& rows,
                       const MixerShape& shape, float* weights, float* squares, float rate) const;

    void write_vectors(std::uint32_t word, std::size_t event, const EventVectors& vectors,
                       const std::vector<EvidenceRows>& rows) const;
    void copy_cache_rows(std::uint32_t word, std::size_t event, const CacheRows& cache,
                         Scratch& scratch) const;

    std::shared_ptr<TreeEvidence> evidence_;
    VectorInputs vectors_;
    std::vector<std::shared_ptr<const AdaptiveSource>> adaptive_;
    std::vector<CacheView> caches_;
    std::vector<std::vector<std::uint32_t>> node_sets_;  // by tree and node
    std::size_t n_node_sets_, n_classes_, n_cache_inputs_ = 0;
    float adaptive_rate_;
};

}  // namespace stategram
