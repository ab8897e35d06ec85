// Scoring and learning with word trees: rows of evidence, mixed by learned weights.
//
// Events are independent of each other but for caches, which are filled in order; weights are learned in
// order, those of each tree and history by one thread. So nothing depends on the number of threads.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "checks.hpp"
#include "left_out.hpp"
#include "text_cache.hpp"
#include "threads.hpp"
#include "tree_evidence.hpp"
#include "tree_mixer.hpp"
#include "tree_search.hpp"

namespace stategram {
namespace {

using Words = In<std::uint32_t>;
using Weights = InOut<float>;

// Long lists in the order of a tree: where they begin, their records, and the bytes of short lists.
using LongArrays = std::tuple<In<std::int64_t>, In<std::uint32_t>, In<std::uint8_t>>;
// The arrays of one level: directory, entries, and for each tree the long lists; the discount of Kneser-Ney;
// the discounts of counts for each tree.
using LevelArrays = std::tuple<In<std::uint32_t>, In<std::uint8_t>, std::vector<LongArrays>, double,
                               std::vector<std::vector<double>>>;
// Streams of its values, whether it has evidence by Kneser-Ney, by counts, and whether it knows of the
// document.
using ChainArrays = std::tuple<std::vector<std::uint32_t>, bool, bool, bool>;
using CacheArrays = std::pair<std::vector<std::uint32_t>, double>;

constexpr std::size_t events_per_slice = 128;
constexpr std::size_t events_per_batch = 4096;
constexpr std::size_t look_ahead = 4;

enum class History { sentence, document, adaptive };

class TreeModelKernel;

class CacheHandle {
 public:
    CacheHandle(TextCache cache, std::shared_ptr<const TreeEvidence> evidence)
        : cache_(std::move(cache)), evidence_(std::move(evidence)) {}
    TextCache& cache() { return cache_; }
    CacheHandle copy() const { return *this; }
    bool belongs_to(const TreeEvidence& evidence) const { return evidence_.get() == &evidence; }

 private:
    TextCache cache_;
    std::shared_ptr<const TreeEvidence> evidence_;  // of which the cache has a pointer
};

class TreeModelKernel {
 public:
    TreeModelKernel(std::vector<std::pair<In<std::uint32_t>, In<std::uint8_t>>> trees,
                    std::vector<ChainArrays> chains, std::vector<LevelArrays> levels, std::size_t n_streams,
                    Words counts, Words contexts, std::size_t n_frequent_nodes, std::size_t n_classes,
                    std::vector<CacheArrays> caches)
        : n_node_sets_(n_frequent_nodes + max_depth), n_classes_(n_classes) {
        std::vector<WordTree> built;
        const std::size_t n_words = counts.size();
        require(!trees.empty() && contexts.size() == n_words, "each word needs its counts");
        require(n_frequent_nodes < (1U << 31) && n_classes < (1U << 31), "there are too many weights");
        for (std::size_t t = 0; t < trees.size(); ++t) {
            const auto& [codes, lengths] = trees[t];
            require(codes.size() == n_words && lengths.size() == n_words,
                    "each word needs a code in each tree");
            built.emplace_back(codes.data(), lengths.data(), n_words);
            node_sets_.push_back(frequent_nodes(built.back(), counts.data(), n_frequent_nodes));
            require(built.back().n_leaves() == built.front().n_leaves(), "the trees have different words");
            for (std::uint32_t word = 0; word < n_words; ++word)
                require((built.back().length(word) > 0) == (built.front().length(word) > 0),
                        "the trees have different words");
        }
        std::vector<ChainView> chain_views;
        for (const auto& [streams, continuation, of_counts, is_document] : chains)
            chain_views.push_back({streams, 0, 0, continuation, of_counts, is_document});
        std::vector<ChainLevel> level_views;
        for (const auto& arrays : levels) level_views.push_back(level_view(arrays, built.size()));
        std::size_t slot = 0;
        for (const ChainView& chain : chain_views) {
            slot += chain.depth();
            require(chain.depth() > 0, "a chain has no values");
            require(slot <= level_views.size(), "each value of a chain needs its counts");
            level_views[slot - 1].view.is_last = true;
        }
        kept_levels_ = std::move(levels);
        evidence_ =
            std::make_shared<TreeEvidence>(std::move(built), std::move(chain_views), std::move(level_views),
                                           n_streams, counts.data(), contexts.data());
        for (auto& [streams, decay] : caches) caches_.push_back({streams, decay});
        n_words_ = n_words;
    }

    std::size_t n_inputs(int history) const {
        const std::size_t of_chains = evidence_->n_inputs(history > 0);
        return history < 2 ? of_chains : of_chains + padded_inputs(caches_.size());
    }
    MixerShape shape(int history) const {
        return {n_inputs(history), n_node_sets_, evidence_->n_matches(), n_classes_};
    }
    std::size_t n_weights(int history) const { return shape(history).size(); }

    CacheHandle empty_cache() const { return {TextCache(*evidence_, caches_), evidence_}; }

    // The discounts of counts at the nodes of each tree, by slot.
    std::vector<std::vector<std::vector<float>>> node_discounts(std::size_t max_ngrams, int threads) {
        std::vector<std::vector<std::vector<float>>> found(
            evidence_->n_slots(), std::vector<std::vector<float>>(evidence_->n_trees()));
        nb::gil_scoped_release release;
        ThreadPool pool(threads);
        pool.run(found.size() * evidence_->n_trees(), [&](std::size_t i, int) {
            const std::size_t slot = i / evidence_->n_trees(), tree = i % evidence_->n_trees();
            const auto discounts = evidence_->node_discounts(slot, tree, max_ngrams);
            evidence_->set_discounts(slot, tree, discounts);
            found[slot][tree].assign(discounts.begin(), discounts.end());
        });
        return found;
    }

    // Returns the natural-log probabilities by each tree, one after the other.
    auto score(Words words, std::vector<Words> streams, Words classes, int history,
               std::vector<In<float>> weights, CacheHandle* cache, int threads) const {
        check_events(words, streams, classes);
        check_weights(history, weights);
        check_cache(history, cache);
        const std::size_t n = words.size(), n_trees = evidence_->n_trees();
        auto log_probs = std::make_unique<double[]>(n * n_trees);
        {
            nb::gil_scoped_release release;
            ThreadPool pool(threads);
            const Batch text{words.data(), pointers(streams), classes.data()};
            std::vector<Scratch> scratch;
            for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(*this, history);
            for (std::size_t begin = 0; begin < n; begin += events_per_batch) {
                const std::size_t end = std::min(n, begin + events_per_batch);
                CacheRows cache_rows;
                if (cache) cache_rows.fill(*this, text, begin, end, cache->cache());
                const std::size_t slices = (end - begin + events_per_slice - 1) / events_per_slice;
                pool.run(slices, [&](std::size_t slice, int worker) {
                    const std::size_t first = begin + slice * events_per_slice,
                                      last = std::min(end, first + events_per_slice);
                    Scratch& own = scratch[static_cast<std::size_t>(worker)];
                    visit(text, first, last, history, nullptr, cache ? &cache_rows : nullptr, begin, own,
                          [&](std::size_t event, const std::vector<EvidenceRows>& rows) {
                              for (std::size_t t = 0; t < n_trees; ++t)
                                  log_probs[t * n + event] =
                                      log_prob(t, text, event, rows[t], shape(history), weights[t].data());
                          });
                });
            }
        }
        return to_numpy(std::move(log_probs), n * n_trees);
    }

    // Returns the probability of each word by each tree after one history: its values are the first of each
    // stream.
    auto distributions(std::vector<Words> streams, std::uint32_t of_class, int history,
                       std::vector<In<float>> weights, CacheHandle* cache, int threads) const {
        std::vector<std::vector<double>> found(evidence_->n_trees(), std::vector<double>(n_words_, 0.0));
        {
            std::vector<TreeSearch> trees = searches(streams, of_class, history, weights, cache);
            nb::gil_scoped_release release;
            ThreadPool pool(threads);
            pool.run(trees.size(), [&](std::size_t t, int) { trees[t].distribution(found[t].data()); });
        }
        std::vector<Out<double>> arrays;
        for (std::vector<double>& of_tree : found) arrays.push_back(to_numpy(std::move(of_tree)));
        return arrays;
    }

    // Returns the `top` likeliest words after one history, and their probabilities.
    auto likeliest(std::vector<Words> streams, std::uint32_t of_class, int history,
                   std::vector<In<float>> weights, CacheHandle* cache, In<double> tree_weights,
                   std::size_t top, int /* threads */) const {
        require(tree_weights.size() == evidence_->n_trees(), "each tree needs a weight");
        require(top > 0, "at least one word is needed");
        std::vector<TreeSearch> trees = searches(streams, of_class, history, weights, cache);
        std::vector<std::uint32_t> words;
        std::vector<double> probabilities;
        {
            nb::gil_scoped_release release;
            for (const auto& [probability, word] :
                 likeliest_words(trees, tree_weights.data(), top, *evidence_)) {
                words.push_back(word);
                probabilities.push_back(probability);
            }
        }
        return std::pair(to_numpy(std::move(words)), to_numpy(std::move(probabilities)));
    }

    // Reads every list; throws if one is damaged.
    void check(int threads) const {
        nb::gil_scoped_release release;
        ThreadPool pool(threads);
        pool.run(evidence_->n_slots(), [&](std::size_t slot, int) {
            const LevelView& view = evidence_->level(slot).view;
            for (std::size_t bucket = 0; bucket < std::size_t{1} << view.bucket_bits; ++bucket) {
                require(view.directory[bucket] <= view.directory[bucket + 1], "a directory does not rise");
                view.for_each_list(bucket, [&](const FoundList& list) {
                    for (std::size_t t = 0; t < evidence_->n_trees(); ++t)
                        evidence_->read_ranked(slot, t, list, [](std::uint32_t, const Follower&) {});
                    return true;
                });
            }
        });
    }

    // Learns the weights of all trees and histories from blocks of events; returns for each the sum of the
    // log-probabilities before each step. The weights of history h and tree t are weights[h * n_trees + t].
    auto learn_blocks(Words words, std::vector<Words> streams, Words classes, In<std::int64_t> begins,
                      In<std::int64_t> ends, In<std::int64_t> cache_begins, In<std::uint8_t> used,
                      std::vector<Weights> weights, std::vector<Weights> squares, float rate, bool leave_out,
                      std::uint64_t seed, int threads) const {
        check_events(words, streams, classes);
        require(used.size() == words.size() && begins.size() == ends.size() &&
                    begins.size() == cache_begins.size(),
                "each block needs its events");
        for (std::size_t i = 0; i < begins.size(); ++i)
            require(cache_begins.data()[i] >= 0 && cache_begins.data()[i] <= begins.data()[i] &&
                        begins.data()[i] <= ends.data()[i] &&
                        static_cast<std::size_t>(ends.data()[i]) <= words.size(),
                    "a block is not in the text");
        const std::size_t n_trees = evidence_->n_trees();
        require(weights.size() == squares.size() && weights.size() % n_trees == 0 &&
                    weights.size() / n_trees <= 3,
                "each tree and history needs weights");
        const int n_histories = static_cast<int>(weights.size() / n_trees);
        for (int h = 0; h < n_histories; ++h)
            for (std::size_t t = 0; t < n_trees; ++t)
                require(weights[static_cast<std::size_t>(h) * n_trees + t].size() == n_weights(h) &&
                            squares[static_cast<std::size_t>(h) * n_trees + t].size() == n_weights(h),
                        "there are too few or too many weights");
        std::vector<double> log_sums(weights.size());
        {
            nb::gil_scoped_release release;
            ThreadPool pool(threads);
            const Batch text{words.data(), pointers(streams), classes.data()};
            const int most = n_histories - 1;
            std::vector<Scratch> scratch;
            for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(*this, most);
            std::size_t block = 0;
            while (block < begins.size()) {
                // Blocks of about a batch of events.
                std::vector<Block> blocks;
                std::size_t n_events = 0;
                for (; block < begins.size() && n_events < events_per_batch; ++block) {
                    blocks.push_back({static_cast<std::size_t>(cache_begins.data()[block]),
                                      static_cast<std::size_t>(begins.data()[block]),
                                      static_cast<std::size_t>(ends.data()[block])});
                    n_events += blocks.back().end - blocks.back().begin;
                }
                learn_batch(text, blocks, used.data(), weights, squares, rate, leave_out, seed + block, most,
                            pool, scratch, log_sums);
            }
        }
        return log_sums;
    }

 private:
    struct Batch {
        const std::uint32_t* words;
        std::vector<const std::uint32_t*> streams;
        const std::uint32_t* classes;
    };

    struct Block {
        std::size_t cache_begin, begin, end;
    };

    struct Scratch {
        Scratch(const TreeModelKernel& kernel, int history) : stride(kernel.n_inputs(history)) {
            const std::size_t n_trees = kernel.evidence_->n_trees(), n_slots = kernel.evidence_->n_slots();
            x.resize(n_trees * max_depth * stride);
            buckets.resize(x.size());
            match.resize(n_trees * max_depth);
            for (std::size_t i = 0; i < 2 * look_ahead; ++i)
                contexts.push_back({std::vector<std::uint64_t>(n_slots), std::vector<FoundList>(n_slots)});
            left.resize(n_slots);
            for (std::size_t t = 0; t < n_trees; ++t)
                rows.push_back({&x[t * max_depth * stride], &buckets[t * max_depth * stride],
                                &match[t * max_depth], stride});
        }
        std::size_t stride;
        std::vector<float> x;
        std::vector<std::uint8_t> buckets;
        std::vector<std::uint32_t> match;
        std::vector<EventContexts> contexts;
        std::vector<LeftList> left;
        std::vector<EvidenceRows> rows;
    };

    // The evidence of caches for some events: one row per node of the way to each word, tree by tree.
    struct CacheRows {
        std::vector<std::size_t> begins;  // by event and tree
        std::vector<float> x;
        std::vector<std::uint8_t> buckets;

        void fill(const TreeModelKernel& kernel, const Batch& text, std::size_t begin, std::size_t end,
                  TextCache& cache) {
            const std::size_t n_trees = kernel.evidence_->n_trees(), width = cache.n_caches();
            for (std::size_t event = begin; event < end; ++event) {
                cache.find(text.streams.data(), event);
                for (std::size_t t = 0; t < n_trees; ++t) {
                    const auto length =
                        static_cast<std::size_t>(kernel.evidence_->tree(t).length(text.words[event]));
                    begins.push_back(x.size());
                    x.resize(x.size() + length * width);
                    buckets.resize(x.size());
                    cache.collect(t, text.words[event], x.data() + begins.back(),
                                  buckets.data() + begins.back(), width);
                }
                cache.add(text.words[event]);
            }
        }
    };

    // The set of weights of each node: frequent ones have their own, others share those of their depth.
    static std::vector<std::uint32_t> frequent_nodes(const WordTree& tree, const std::uint32_t* counts,
                                                     std::size_t n_frequent) {
        const std::size_t n = tree.n_leaves();
        std::vector<std::uint64_t> frequencies(n, 0);
        std::vector<std::uint32_t> sets(n, 0), order;
        for (std::uint32_t rank = 0; rank < n; ++rank) {
            const std::uint32_t word = tree.word_at(rank), *path = tree.path(word);
            for (int depth = 0; depth < tree.length(word); ++depth) {
                frequencies[path[depth]] += counts[word];
                sets[path[depth]] =
                    static_cast<std::uint32_t>(n_frequent) + static_cast<std::uint32_t>(depth);
            }
        }
        for (std::uint32_t node = 1; node < n; ++node) order.push_back(node);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return frequencies[a] > frequencies[b]; });
        for (std::size_t i = 0; i < std::min(n_frequent, order.size()); ++i)
            sets[order[i]] = static_cast<std::uint32_t>(i);
        return sets;
    }

    ChainLevel level_view(const LevelArrays& arrays, std::size_t n_trees) const {
        const auto& [directory, entries, of_trees, discount, discounts] = arrays;
        ChainLevel level;
        LevelView& view = level.view;
        view.bucket_bits = static_cast<int>(std::bit_width(directory.size() - 1)) - 1;
        require(directory.size() >= 3 && directory.size() == (std::size_t{1} << view.bucket_bits) + 1,
                "a directory does not have its size");
        view.directory = directory.data();
        view.entries = entries.data();
        view.n_bytes = entries.size();
        require(of_trees.size() == n_trees, "each tree needs its long lists");
        constexpr std::size_t width = sizeof(LongRecord) / sizeof(std::uint32_t);
        for (const auto& [begins, records, bytes] : of_trees) {
            require(records.size() % width == 0 && begins.size() == std::get<0>(of_trees[0]).size(),
                    "the trees have different long lists");
            check_offsets(begins, records.size() / width, "the long lists do not follow each other");
            view.long_lists.push_back({begins.data(), reinterpret_cast<const LongRecord*>(records.data()),
                                       bytes.data(), begins.size() - 1, records.size() / width,
                                       bytes.size()});
        }
        level.discount = static_cast<float>(discount);
        level.discounts.assign(n_trees, {0.5F, 0.75F, 1.0F});
        for (std::size_t t = 0; t < discounts.size() && t < n_trees; ++t) {
            require(discounts[t].size() == 3, "a level needs three discounts");
            for (std::size_t k = 0; k < 3; ++k) level.discounts[t][k] = static_cast<float>(discounts[t][k]);
        }
        return level;
    }

    std::vector<TreeSearch> searches(const std::vector<Words>& streams, std::uint32_t of_class, int history,
                                     const std::vector<In<float>>& weights, CacheHandle* cache) const {
        check_weights(history, weights);
        check_cache(history, cache);
        require(streams.size() == evidence_->n_streams() && of_class < n_classes_,
                "the history needs a value of each stream");
        for (const Words& stream : streams)
            require(stream.size() > 0, "the history needs a value of each stream");
        EventContexts contexts{std::vector<std::uint64_t>(evidence_->n_slots()),
                               std::vector<FoundList>(evidence_->n_slots())};
        const std::size_t n_chains = evidence_->n_chains(history > 0);
        const std::vector<const std::uint32_t*> values = pointers(streams);
        evidence_->hash(values.data(), 0, n_chains, contexts);
        evidence_->find(contexts);
        if (cache) cache->cache().find(values.data(), 0);
        std::vector<TreeSearch> found;
        for (std::size_t t = 0; t < evidence_->n_trees(); ++t)
            found.emplace_back(*evidence_, t, contexts,
                               TreeSearch::Settings{n_chains, n_inputs(history), evidence_->n_inputs(true),
                                                    shape(history), weights[t].data(), &node_sets_[t],
                                                    of_class, cache ? &cache->cache() : nullptr});
        return found;
    }

    void check_events(const Words& words, const std::vector<Words>& streams, const Words& classes) const {
        require(streams.size() == evidence_->n_streams() && classes.size() == words.size(),
                "each event needs a value of each stream");
        for (const Words& stream : streams)
            require(stream.size() == words.size(), "each event needs a value of each stream");
        check_below(classes, n_classes_, "the class of the last word is not there");
        for (std::size_t i = 0; i < words.size(); ++i)
            require(words.data()[i] < n_words_ && evidence_->tree(0).length(words.data()[i]) > 0,
                    "an event is not a word of the trees");
    }

    void check_weights(int history, const std::vector<In<float>>& weights) const {
        require(history >= 0 && history < 3, "there are three histories");
        require(weights.size() == evidence_->n_trees(), "each tree needs weights");
        for (const In<float>& one : weights)
            require(one.size() == n_weights(history), "there are too few or too many weights");
    }

    void check_cache(int history, const CacheHandle* cache) const {
        require((history == 2) == (cache != nullptr),
                "a cache is needed for adaptive scoring, and for no other");
        require(!cache || cache->belongs_to(*evidence_), "the cache is the cache of another model");
    }

    static std::vector<const std::uint32_t*> pointers(const std::vector<Words>& streams) {
        std::vector<const std::uint32_t*> found;
        for (const Words& stream : streams) found.push_back(stream.data());
        return found;
    }

    // Calls use(event, rows) for the events [begin, end), in order.
    template <typename Use>
    void visit(const Batch& text, std::size_t begin, std::size_t end, int history, const LeftOut* left,
               const CacheRows* cache, std::size_t cache_begin, Scratch& scratch, const Use& use) const {
        const std::size_t n_chains = evidence_->n_chains(history > 0), ring = scratch.contexts.size(),
                          n_trees = evidence_->n_trees();
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
                evidence_->prefetch_long_lists(contexts(ahead - 3));
            }
            if (ahead < begin + look_ahead) continue;
            const std::size_t event = ahead - look_ahead;
            if (left) left->lists(event, scratch.left);
            evidence_->collect(text.words[event], contexts(event), n_chains,
                               left ? scratch.left.data() : nullptr, scratch.rows.data());
            if (cache) {
                const std::size_t first = evidence_->n_inputs(true), width = caches_.size();
                for (std::size_t t = 0; t < n_trees; ++t) {
                    const std::size_t from = cache->begins[(event - cache_begin) * n_trees + t];
                    for (std::size_t i = 0;
                         i < static_cast<std::size_t>(evidence_->tree(t).length(text.words[event])); ++i) {
                        std::copy_n(cache->x.data() + from + i * width, width,
                                    scratch.rows[t].x + i * scratch.stride + first);
                        std::copy_n(cache->buckets.data() + from + i * width, width,
                                    scratch.rows[t].buckets + i * scratch.stride + first);
                    }
                }
            }
            use(event, scratch.rows);
        }
    }

    MixerRow mixer_row(std::size_t tree, std::uint32_t node, std::uint32_t of_class, const EvidenceRows& rows,
                       std::size_t i) const {
        return {rows.x + i * rows.stride, rows.buckets + i * rows.stride, node_sets_[tree][node],
                rows.match[i], of_class};
    }

    double log_prob(std::size_t tree, const Batch& text, std::size_t event, const EvidenceRows& rows,
                    const MixerShape& shape, const float* weights) const {
        const WordTree& words = evidence_->tree(tree);
        const std::uint32_t word = text.words[event], code = words.code(word), *path = words.path(word);
        double sum = 0;
        for (int i = 0; i < words.length(word); ++i) {
            const double logit =
                double{mix(shape, weights,
                           mixer_row(tree, path[i], text.classes[event], rows, static_cast<std::size_t>(i)))};
            sum += log_sigmoid(WordTree::bit(code, i) ? logit : -logit);
        }
        return sum;
    }

    void learn_batch(const Batch& text, const std::vector<Block>& blocks, const std::uint8_t* used,
                     std::vector<Weights>& weights, std::vector<Weights>& squares, float rate, bool leave_out,
                     std::uint64_t seed, int most, ThreadPool& pool, std::vector<Scratch>& scratch,
                     std::vector<double>& log_sums) const {
        const std::size_t n_trees = evidence_->n_trees(), stride = n_inputs(most);
        // Where the rows of each event of each block are, for each tree.
        struct Place {
            std::size_t event;
            std::vector<std::size_t> rows;
        };
        std::vector<Place> places;
        std::vector<std::size_t> first_place, n_rows(n_trees, 0);
        for (const auto& [cache_begin, begin, end] : blocks) {
            first_place.push_back(places.size());
            for (std::size_t event = begin; event < end; ++event) {
                if (!used[event]) continue;
                places.push_back({event, n_rows});
                for (std::size_t t = 0; t < n_trees; ++t)
                    n_rows[t] += static_cast<std::size_t>(evidence_->tree(t).length(text.words[event]));
            }
        }
        std::vector<std::vector<float>> x(n_trees);
        std::vector<std::vector<std::uint8_t>> buckets(n_trees);
        std::vector<std::vector<std::uint32_t>> match(n_trees);
        for (std::size_t t = 0; t < n_trees; ++t) {
            x[t].resize(n_rows[t] * stride);
            buckets[t].resize(n_rows[t] * stride);
            match[t].resize(n_rows[t]);
        }
        pool.run(blocks.size(), [&](std::size_t number, int worker) {
            const auto& [cache_begin, begin, end] = blocks[number];
            std::unique_ptr<LeftOut> left;
            if (leave_out)
                left = std::make_unique<LeftOut>(*evidence_, text.words, text.streams.data(), begin, end);
            CacheRows cache_rows;
            if (most == 2) {
                TextCache cache(*evidence_, caches_);
                for (std::size_t event = cache_begin; event < begin; ++event) {
                    cache.enter(text.streams.data(), event);
                    cache.add(text.words[event]);
                }
                cache_rows.fill(*this, text, begin, end, cache);
            }
            std::size_t place = first_place[number];
            visit(text, begin, end, most, left.get(), most == 2 ? &cache_rows : nullptr, begin,
                  scratch[static_cast<std::size_t>(worker)],
                  [&](std::size_t event, const std::vector<EvidenceRows>& rows) {
                      if (!used[event]) return;
                      for (std::size_t t = 0; t < n_trees; ++t) {
                          const auto length =
                              static_cast<std::size_t>(evidence_->tree(t).length(text.words[event]));
                          const std::size_t row = places[place].rows[t];
                          std::copy_n(rows[t].x, length * stride, &x[t][row * stride]);
                          std::copy_n(rows[t].buckets, length * stride, &buckets[t][row * stride]);
                          std::copy_n(rows[t].match, length, &match[t][row]);
                      }
                      ++place;
                  });
        });
        std::vector<std::size_t> order(places.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
        for (std::size_t i = order.size(); i > 1; --i) {
            state = extend_hash(state, static_cast<std::uint32_t>(i));
            std::swap(order[i - 1], order[(state >> 32) % i]);
        }
        pool.run(weights.size(), [&](std::size_t number, int) {
            const std::size_t t = number % n_trees;
            const MixerShape of = shape(static_cast<int>(number / n_trees));
            const WordTree& tree = evidence_->tree(t);
            double sum = 0;
            for (const std::size_t index : order) {
                const Place& place = places[index];
                const std::uint32_t word = text.words[place.event], code = tree.code(word),
                                    *path = tree.path(word);
                const EvidenceRows rows{&x[t][place.rows[t] * stride], &buckets[t][place.rows[t] * stride],
                                        &match[t][place.rows[t]], stride};
                for (int i = 0; i < tree.length(word); ++i) {
                    const bool right = WordTree::bit(code, i);
                    const double logit = double{learn(
                        of, weights[number].data(), squares[number].data(),
                        mixer_row(t, path[i], text.classes[place.event], rows, static_cast<std::size_t>(i)),
                        right, rate)};
                    sum += log_sigmoid(right ? logit : -logit);
                }
            }
            log_sums[number] += sum;
        });
    }

    std::shared_ptr<TreeEvidence> evidence_;
    std::vector<LevelArrays> kept_levels_;
    std::vector<std::vector<std::uint32_t>> node_sets_;
    std::size_t n_node_sets_, n_classes_, n_words_ = 0;
    std::vector<CacheView> caches_;
};

}  // namespace

void register_tree_model(nb::module_& m) {
    nb::class_<CacheHandle>(m, "TextCache", "The words so far, for adaptive scoring.")
        .def("copy", &CacheHandle::copy, "Return a copy.");
    nb::class_<TreeModelKernel>(m, "TreeModelKernel", "Word trees and the counts of chains of contexts.")
        .def(nb::init<std::vector<std::pair<In<std::uint32_t>, In<std::uint8_t>>>, std::vector<ChainArrays>,
                      std::vector<LevelArrays>, std::size_t, Words, Words, std::size_t, std::size_t,
                      std::vector<CacheArrays>>(),
             nb::arg("trees").noconvert(), nb::arg("chains"), nb::arg("levels").noconvert(),
             nb::arg("n_streams"), nb::arg("counts").noconvert(), nb::arg("contexts").noconvert(),
             nb::arg("n_frequent_nodes"), nb::arg("n_classes"), nb::arg("caches"))
        .def("n_inputs", &TreeModelKernel::n_inputs, nb::arg("history"))
        .def("n_weights", &TreeModelKernel::n_weights, nb::arg("history"))
        .def("empty_cache", &TreeModelKernel::empty_cache)
        .def("node_discounts", &TreeModelKernel::node_discounts, nb::arg("max_ngrams"), nb::arg("threads"))
        .def("score", &TreeModelKernel::score, nb::arg("words").noconvert(), nb::arg("streams").noconvert(),
             nb::arg("classes").noconvert(), nb::arg("history"), nb::arg("weights").noconvert(),
             nb::arg("cache").none(), nb::arg("threads"))
        .def("distributions", &TreeModelKernel::distributions, nb::arg("streams").noconvert(),
             nb::arg("of_class"), nb::arg("history"), nb::arg("weights").noconvert(), nb::arg("cache").none(),
             nb::arg("threads"),
             "Return the probability of each word by each tree after the history of the first event.")
        .def("likeliest", &TreeModelKernel::likeliest, nb::arg("streams").noconvert(), nb::arg("of_class"),
             nb::arg("history"), nb::arg("weights").noconvert(), nb::arg("cache").none(),
             nb::arg("tree_weights").noconvert(), nb::arg("top"), nb::arg("threads"),
             "Return the likeliest words after the history of the first event, and their probabilities.")
        .def("check", &TreeModelKernel::check, nb::arg("threads"),
             "Read every list; ValueError if one is damaged.")
        .def("learn", &TreeModelKernel::learn_blocks, nb::arg("words").noconvert(),
             nb::arg("streams").noconvert(), nb::arg("classes").noconvert(), nb::arg("begins").noconvert(),
             nb::arg("ends").noconvert(), nb::arg("cache_begins").noconvert(), nb::arg("used").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("squares").noconvert(), nb::arg("rate"),
             nb::arg("leave_out"), nb::arg("seed"), nb::arg("threads"));
}

}  // namespace stategram
