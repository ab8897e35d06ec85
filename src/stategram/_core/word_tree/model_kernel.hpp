// Word tree models as Python sees them: arrays are checked, and become views.
#pragma once

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "word_tree/distribution.hpp"
#include "word_tree/model.hpp"
#include "word_tree/search.hpp"

namespace stategram {

// What a model keeps of the words so far, besides the values of contexts.
struct TextState {
    std::optional<TextCache> cache;                             // for adaptive scoring
    std::vector<float> vectors;                                 // the states of all networks
    std::vector<std::shared_ptr<LearnedWeights>> learned = {};  // by tree; none before the first word

    TextState copy() {
        if (cache) cache->share();
        return *this;
    }
};

class TreeModelKernel {
 public:
    using Words = In<std::uint32_t>;
    using Weights = InOut<float>;

    // Long lists in the order of a tree: where they begin, and their bytes.
    using LongArrays = std::pair<In<std::int64_t>, In<std::uint8_t>>;
    // The arrays of one level: directory, entries, and for each tree the long lists; the discount of
    // Kneser-Ney; the discounts of counts for each tree.
    using LevelArrays = std::tuple<In<std::uint32_t>, In<std::uint8_t>, std::vector<LongArrays>, double,
                                   std::vector<std::vector<double>>>;
    // Streams of its values, whether it has evidence by Kneser-Ney, and whether it knows of the document.
    using ChainArrays = std::tuple<std::vector<std::uint32_t>, bool, bool>;
    using CacheArrays = std::pair<std::vector<std::uint32_t>, double>;
    // A network, and for each tree the vectors of its nodes, their scales and biases.
    using NodeArrays = std::tuple<In<std::uint8_t>, In<float>, In<float>>;
    using VectorArrays = std::pair<std::shared_ptr<VectorNetwork>, std::vector<NodeArrays>>;
    // At the start of each event: 1 for that of a sentence, 2 for that of a document, else 0.
    using Starts = In<std::uint8_t>;

    TreeModelKernel(std::vector<std::pair<In<std::uint32_t>, In<std::uint8_t>>> trees,
                    std::vector<ChainArrays> chains, std::vector<LevelArrays> levels, std::size_t n_streams,
                    Words counts, Words contexts, std::size_t n_frequent_nodes, std::size_t n_classes,
                    std::vector<CacheArrays> caches, std::vector<VectorArrays> vectors, double adaptive_rate)
        : n_words_(counts.size()) {
        std::vector<WordTree> built;
        require(!trees.empty() && contexts.size() == n_words_, "each word needs its counts");
        require(adaptive_rate >= 0 && adaptive_rate <= 1, "a rate is from 0 to 1");
        require(n_frequent_nodes < (1U << 31) && n_classes < (1U << 31), "there are too many weights");
        for (std::size_t t = 0; t < trees.size(); ++t) {
            const auto& [codes, lengths] = trees[t];
            require(codes.size() == n_words_ && lengths.size() == n_words_,
                    "each word needs a code in each tree");
            built.emplace_back(codes.data(), lengths.data(), n_words_);
            require(built.back().n_leaves() == built.front().n_leaves(), "the trees have different words");
            for (std::uint32_t word = 0; word < n_words_; ++word)
                require((built.back().length(word) > 0) == (built.front().length(word) > 0),
                        "the trees have different words");
        }
        std::vector<ChainView> chain_views;
        for (const auto& [streams, continuation, is_document] : chains)
            chain_views.push_back({streams, 0, 0, continuation, is_document});
        std::vector<ChainLevel> level_views;
        for (const auto& arrays : levels) level_views.push_back(level_view(arrays, built.size()));
        std::size_t slot = 0;
        for (const ChainView& chain : chain_views) {
            slot += chain.depth();
            require(chain.depth() > 0, "a chain has no values");
            require(slot <= level_views.size(), "each value of a chain needs its counts");
            for (std::size_t j = 0; j < chain.depth(); ++j)
                level_views[slot - 1 - j].view.has_longer = j > 0 && chain.uses_continuation;
        }
        auto evidence =
            std::make_shared<TreeEvidence>(std::move(built), std::move(chain_views), std::move(level_views),
                                           vectors.size(), n_streams, counts.data(), contexts.data());
        std::vector<CacheView> cache_views;
        for (auto& [streams, decay] : caches) cache_views.push_back({streams, decay});
        std::vector<VectorInput> vector_inputs;
        for (const VectorArrays& one : vectors) vector_inputs.push_back(vector_input(one, *evidence));
        std::vector<std::shared_ptr<const AdaptiveSource>> adaptive;
        for (const VectorArrays& one : vectors)
            if (const auto linear = std::dynamic_pointer_cast<const LinearNetwork>(one.first))
                adaptive.push_back(std::make_shared<AdaptiveSource>(
                    AdaptiveSource{linear, vector_input(one, *evidence).trees}));
        kept_levels_ = std::move(levels);
        kept_vectors_ = std::move(vectors);
        model_ = std::make_unique<TreeModel>(evidence, std::move(vector_inputs), std::move(adaptive),
                                             std::move(cache_views), counts.data(), n_frequent_nodes,
                                             n_classes, static_cast<float>(adaptive_rate));
        evidence_ = std::move(evidence);
    }

    const TreeModel& model() const { return *model_; }
    std::size_t n_inputs(int history) const { return model_->n_inputs(checked(history)); }
    std::size_t n_weights(int history) const { return model_->shape(checked(history)).size(); }
    std::vector<std::size_t> first_inputs() const {
        std::vector<std::size_t> found;
        for (std::size_t k = 0; k < model_->vectors().size(); ++k) found.push_back(n_root_inputs + k);
        for (const ChainView& chain : evidence_->chains()) found.push_back(chain.first_input);
        found.push_back(n_inputs(1));
        found.push_back(n_inputs(2));
        return found;
    }

    // The log-odds of the right side of each node of a tree without a context.
    Out<float> root_log_odds(std::size_t tree) const {
        require(tree < evidence_->n_trees(), "there is no such tree");
        return std::vector<float>(evidence_->count_root(tree).logit);
    }

    std::size_t n_vector_bytes() const { return model_->vectors().state_size() * sizeof(float); }
    // The state at the start of a sentence, or the empty state, before which no words are known.
    TextState start(int history, bool sentence_start) const {
        TextState state{std::nullopt, std::vector<float>(model_->vectors().state_size())};
        if (checked(history) == 2) state.cache = model_->empty_cache();
        if (sentence_start) {
            model_->vectors().start(state.vectors.data());
        } else {
            model_->vectors().clear(state.vectors.data());
            if (state.cache) state.cache->clear_words();
        }
        return state;
    }
    // Resets the state for the next document.
    void start_document(TextState& state) const {
        require(state.vectors.size() == model_->vectors().state_size(), "the state is that of another model");
        model_->vectors().start(state.vectors.data());
        if (state.cache) state.cache->start_document();
    }

    // The discounts of counts at the nodes of each tree, by slot.
    std::vector<std::vector<std::vector<float>>> node_discounts(std::size_t max_ngrams, int threads) {
        std::vector<std::vector<std::vector<float>>> found(
            evidence_->n_slots(), std::vector<std::vector<float>>(evidence_->n_trees()));
        ThreadPool pool(threads);
        pool.run(found.size() * evidence_->n_trees(), [&](std::size_t i, int) {
            const std::size_t slot = i / evidence_->n_trees(), tree = i % evidence_->n_trees();
            const auto discounts = evidence_->node_discounts(slot, tree, max_ngrams);
            evidence_->set_discounts(slot, tree, discounts);
            found[slot][tree].assign(discounts.begin(), discounts.end());
        });
        return found;
    }

    // Returns the natural-log probabilities by each tree, one after the other; the state becomes that after
    // the text.
    Out<double> score(Words words, std::vector<Words> streams, Words classes, Starts starts, int history,
                      std::vector<In<float>> weights, TextState& state, int threads) const {
        check_events(words, streams, classes, starts);
        check_weights(history, weights);
        check_state(history, state);
        const std::size_t n = words.size(), n_trees = evidence_->n_trees();
        BigArray<double> log_probs(n * n_trees);
        ThreadPool pool(threads);
        const TextEvents text{words.data(), pointers(streams), classes.data(), starts.data()};
        const std::vector<std::uint8_t> restarts = resets(starts.data(), n, history);
        std::vector<TreeModel::Scratch> scratch;
        for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(*model_, history);
        EventVectors vectors;
        for (std::size_t begin = 0; begin < n; begin += events_per_batch) {
            const std::size_t end = std::min(n, begin + events_per_batch);
            if (begin % events_per_reading == 0)
                vectors = model_->vectors().read({words.data(), restarts.data()}, begin,
                                                 std::min(n, begin + events_per_reading),
                                                 state.vectors.data(), pool);
            if (state.cache) {
                model_->score_and_learn(text, begin, end, vectors, *state.cache, learning(state, weights),
                                        pool, scratch, log_probs.data(), n);
                continue;
            }
            const TreeModel::Sources sources{nullptr, nullptr, begin, &vectors};
            const std::size_t slices = (end - begin + events_per_slice - 1) / events_per_slice;
            pool.run(slices, [&](std::size_t slice, int worker) {
                const std::size_t first = begin + slice * events_per_slice,
                                  last = std::min(end, first + events_per_slice);
                TreeModel::Scratch& own = scratch[static_cast<std::size_t>(worker)];
                model_->visit(text, first, last, history, sources, own,
                              [&](std::size_t event, const std::vector<EvidenceRows>& rows) {
                                  for (std::size_t t = 0; t < n_trees; ++t)
                                      log_probs[t * n + event] = model_->log_prob(
                                          t, text, event, rows[t], model_->shape(history), weights[t].data());
                              });
            });
        }
        return log_probs;
    }

    // Returns for each node of the way to a word in a tree what each input adds to the log-odds of its side,
    // after the history of the first event.
    Out<double> contributions(std::size_t tree, std::uint32_t word, std::vector<Words> streams,
                              std::uint32_t of_class, int history, std::vector<In<float>> weights,
                              const TextState& state) const {
        check_history(streams, of_class, history, weights, state);
        require(tree < evidence_->n_trees() && word < n_words_ && evidence_->tree(tree).length(word) > 0,
                "there is no such tree, or no such word in it");
        const MixerShape of = model_->shape(history);
        std::vector<double> found;
        const TextEvents text{&word, pointers(streams), &of_class, nullptr};
        TreeModel::Scratch scratch(*model_, history);
        const EventVectors vectors = model_->vectors().vectors_of(state.vectors.data());
        CacheRows cache_rows;
        if (state.cache) {
            TextCache copy = *state.cache;
            cache_rows = model_->read_cache(text, 0, 1, vectors, copy);
        }
        model_->visit(
            text, 0, 1, history, {nullptr, state.cache ? &cache_rows : nullptr, 0, &vectors}, scratch,
            [&](std::size_t, const std::vector<EvidenceRows>& rows) {
                const WordTree& words = evidence_->tree(tree);
                for (int i = 0; i < words.length(word); ++i) {
                    const MixerRow row = model_->mixer_row(tree, words.path(word)[i], of_class, rows[tree],
                                                           static_cast<std::size_t>(i));
                    const double sign = WordTree::bit(words.code(word), i) ? 1.0 : -1.0;
                    for (std::size_t input = 0; input < of.n_inputs; ++input)
                        found.push_back(
                            sign * double{contribution(of, weights_after(state, weights, tree), row, input)});
                }
            });
        return found;
    }

    // Returns the probability of each word by each tree after one history: its values are the first of each
    // stream.
    std::vector<Out<double>> distributions(std::vector<Words> streams, std::uint32_t of_class, int history,
                                           std::vector<In<float>> weights, TextState& state,
                                           int threads) const {
        check_history(streams, of_class, history, weights, state);
        std::vector<std::vector<double>> found(evidence_->n_trees(), std::vector<double>(n_words_, 0.0));
        TextCache* const cache = state.cache ? &*state.cache : nullptr;
        const EventVectors vectors = model_->vectors().vectors_of(state.vectors.data());
        const EventContexts contexts = contexts_at(pointers(streams), 0, history, vectors, cache);
        ThreadPool pool(threads);
        pool.run(found.size(), [&](std::size_t t, int) {
            const TreeDistribution of_tree(reading(t, history, weights_after(state, weights, t)));
            TreeDistribution::Scratch scratch(of_tree);
            std::vector<float> at_nodes;
            model_->vectors().at_all_nodes(t, vectors, 0, 1, at_nodes);
            of_tree.add(contexts, of_class, at_nodes.data(), cache, 1.0, found[t].data(), scratch);
        });
        return std::vector<Out<double>>(std::make_move_iterator(found.begin()),
                                        std::make_move_iterator(found.end()));
    }

    // Adds to a row for each event the distribution before it by all trees, times its weight.
    void add_rows(Words words, std::vector<Words> streams, Words classes, Starts starts, int history,
                  std::vector<In<float>> weights, TextState& state, In<double> tree_weights,
                  In<double> row_weights, InOut<double> rows, int threads) const {
        check_events(words, streams, classes, starts);
        check_weights(history, weights);
        check_state(history, state);
        const std::size_t n = words.size(), n_trees = evidence_->n_trees();
        require(tree_weights.size() == n_trees, "each tree needs a weight");
        require(row_weights.size() == n && rows.size() == n * n_words_,
                "each event needs a weight and a row");
        ThreadPool pool(threads);
        const std::vector<const std::uint32_t*> values = pointers(streams);
        std::vector<TreeDistribution> trees;
        for (std::size_t t = 0; t < n_trees; ++t)
            trees.emplace_back(reading(t, history, weights_after(state, weights, t)));
        std::vector<TreeDistribution::Scratch> scratch(static_cast<std::size_t>(pool.size()),
                                                       TreeDistribution::Scratch(trees[0]));
        const std::vector<std::uint8_t> restarts = resets(starts.data(), n, history);
        const EventVectors vectors =
            model_->vectors().read({words.data(), restarts.data()}, 0, n, state.vectors.data(), pool);
        // The events whose vector evidence at all nodes is in memory at a time.
        const std::size_t row = model_->vectors().size() *
                                VectorInputs::padded_nodes(evidence_->tree(0).n_leaves()),
                          step = std::max<std::size_t>(
                              1, std::min(max_cells / (row + 1), (n + scratch.size() - 1) / scratch.size()));
        std::vector<std::vector<float>> at_nodes(std::max(scratch.size(), n_trees));
        const auto read = [&](std::size_t t, std::size_t begin, std::vector<float>& x) {
            model_->vectors().at_all_nodes(t, vectors, begin, std::min(step, n - begin), x);
        };
        const auto add = [&](std::size_t t, std::size_t event, const EventContexts& contexts,
                             const std::vector<float>& x, double* to, int worker) {
            trees[t].add(contexts, classes[event], x.data() + event % step * row,
                         state.cache ? &*state.cache : nullptr, row_weights[event] * tree_weights[t], to,
                         scratch[static_cast<std::size_t>(worker)]);
        };
        if (!state.cache) {
            pool.run((n + step - 1) / step, [&](std::size_t block, int worker) {
                std::vector<float>& x = at_nodes[static_cast<std::size_t>(worker)];
                for (std::size_t t = 0; t < n_trees; ++t) {
                    read(t, block * step, x);
                    for (std::size_t event = block * step; event < std::min(n, (block + 1) * step); ++event)
                        add(t, event, contexts_at(values, event, history, vectors, nullptr), x,
                            rows.data() + event * n_words_, worker);
                }
            });
            return;
        }
        // Caches and weights depend on all events before.
        const TextEvents text{words.data(), values, classes.data(), starts.data()};
        std::vector<TreeModel::Scratch> of_model;
        for (int i = 0; i < pool.size(); ++i) of_model.emplace_back(*model_, history);
        std::vector<double> log_probs(n * n_trees);
        std::vector<std::vector<double>> own(n_trees);
        for (std::size_t event = 0; event < n; ++event) {
            if (starts[event] == 2) state.cache->start_document();
            const EventContexts contexts = contexts_at(values, event, history, vectors, &*state.cache);
            pool.run(n_trees, [&](std::size_t t, int worker) {
                trees[t].use(weights_after(state, weights, t));
                if (event % step == 0) read(t, event, at_nodes[t]);
                own[t].assign(n_words_, 0.0);
                add(t, event, contexts, at_nodes[t], own[t].data(), worker);
            });
            for (std::size_t t = 0; t < n_trees; ++t)
                for (std::size_t word = 0; word < n_words_; ++word)
                    rows[event * n_words_ + word] += own[t][word];
            model_->score_and_learn(text, event, event + 1, vectors, *state.cache, learning(state, weights),
                                    pool, of_model, log_probs.data(), n);
        }
    }

    // Returns the `top` likeliest words after one history, and their probabilities.
    std::pair<Out<std::uint32_t>, Out<double>> likeliest(std::vector<Words> streams, std::uint32_t of_class,
                                                         int history, std::vector<In<float>> weights,
                                                         TextState& state, In<double> tree_weights,
                                                         std::size_t top) const {
        require(tree_weights.size() == evidence_->n_trees(), "each tree needs a weight");
        require(top > 0, "at least one word is needed");
        std::vector<TreeSearch> trees = searches(streams, of_class, history, weights, state);
        std::vector<std::uint32_t> words;
        std::vector<double> probabilities;
        for (const auto& [probability, word] : likeliest_words(trees, tree_weights.data(), top, *evidence_)) {
            words.push_back(word);
            probabilities.push_back(probability);
        }
        return {std::move(words), std::move(probabilities)};
    }

    // Returns the word after one history in whose range of a tree a quantile lies.
    std::uint32_t draw(std::vector<Words> streams, std::uint32_t of_class, int history,
                       std::vector<In<float>> weights, TextState& state, std::size_t tree,
                       double quantile) const {
        require(tree < evidence_->n_trees(), "there is no such tree");
        require(quantile >= 0 && quantile < 1, "a quantile is from 0 to below 1");
        std::vector<TreeSearch> trees = searches(streams, of_class, history, weights, state, tree, tree + 1);
        return trees[0].word_at(quantile);
    }

    // Reads every list; throws if one is damaged.
    void check(int threads) const {
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
    std::vector<double> learn_blocks(Words words, std::vector<Words> streams, Words classes, Starts starts,
                                     In<std::int64_t> begins, In<std::int64_t> ends,
                                     In<std::int64_t> cache_begins, In<std::uint8_t> used,
                                     std::vector<Weights> weights, std::vector<Weights> squares, float rate,
                                     bool leave_out, std::uint64_t seed, TextState* state,
                                     int threads) const {
        check_events(words, streams, classes, starts);
        require(used.size() == words.size() && begins.size() == ends.size() &&
                    begins.size() == cache_begins.size(),
                "each block needs its events");
        for (std::size_t i = 0; i < begins.size(); ++i)
            require(cache_begins[i] >= 0 && cache_begins[i] <= begins[i] && begins[i] <= ends[i] &&
                        static_cast<std::size_t>(ends[i]) <= words.size(),
                    "a block is not in the text");
        for (std::size_t i = 1; i < begins.size() && model_->vectors().size() > 0; ++i)
            require(ends[i - 1] <= cache_begins[i], "blocks with vector states do not follow each other");
        const std::size_t n_trees = evidence_->n_trees();
        require(weights.size() == squares.size() && weights.size() % n_trees == 0 &&
                    weights.size() / n_trees <= 3,
                "each tree and history needs weights");
        const int n_learned = static_cast<int>(weights.size() / n_trees);
        for (int h = 0; h < n_learned; ++h)
            for (std::size_t t = 0; t < n_trees; ++t)
                require(weights[static_cast<std::size_t>(h) * n_trees + t].size() == n_weights(h) &&
                            squares[static_cast<std::size_t>(h) * n_trees + t].size() == n_weights(h),
                        "there are too few or too many weights");
        TreeModel::Learner learner{n_learned - 1,
                                   state && state->cache ? &*state->cache : nullptr,
                                   rate,
                                   leave_out,
                                   {},
                                   {},
                                   std::vector<double>(weights.size())};
        for (std::size_t i = 0; i < weights.size(); ++i) {
            learner.weights.push_back(weights[i].data());
            learner.squares.push_back(squares[i].data());
        }
        ThreadPool pool(threads);
        const TextEvents text{words.data(), pointers(streams), classes.data(), starts.data()};
        std::vector<TreeModel::Scratch> scratch;
        for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(*model_, learner.last);
        std::vector<LearningBlock> all;
        for (std::size_t i = 0; i < begins.size(); ++i)
            all.push_back({static_cast<std::size_t>(cache_begins[i]), static_cast<std::size_t>(begins[i]),
                           static_cast<std::size_t>(ends[i])});
        TreeModel::LearningVectors vectors = model_->learning_vectors(text, words.size(), all, !state, pool);
        if (state) {
            const std::vector<std::uint8_t> restarts = resets(starts.data(), words.size(), 1);
            vectors.of_document = model_->vectors().read({words.data(), restarts.data()}, 0, words.size(),
                                                         state->vectors.data(), pool);
        }
        std::size_t block = 0;
        while (block < begins.size()) {
            // Blocks of about a batch of events.
            std::vector<LearningBlock> blocks;
            std::size_t n_events = 0;
            for (; block < begins.size() && n_events < events_per_batch; ++block) {
                blocks.push_back(all[block]);
                n_events += blocks.back().end - blocks.back().begin;
            }
            model_->learn(text, vectors, blocks, used.data(), seed + block, pool, scratch, learner);
        }
        return learner.log_sums;
    }

 private:
    static constexpr std::size_t events_per_slice = 128;
    static constexpr std::size_t events_per_batch = 4096;
    static constexpr std::size_t max_cells = std::size_t{1} << 22;  // of vector evidence at all nodes
    static constexpr std::size_t events_per_reading = std::size_t{1} << 15;  // by networks, at a time

    static int checked(int history) {
        require(history >= 0 && history < n_histories, "there are three histories");
        return history;
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
        for (const auto& [begins, bytes] : of_trees) {
            require(begins.size() == of_trees[0].first.size() && bytes.size() >= long_list_padding,
                    "the trees have different long lists");
            const std::size_t n_bytes = bytes.size() - long_list_padding;
            check_offsets(begins, n_bytes, "the long lists do not follow each other");
            view.long_lists.push_back({begins.data(), bytes.data(), begins.size() - 1, n_bytes});
        }
        level.discount = static_cast<float>(discount);
        level.discounts.assign(n_trees, {0.5F, 0.75F, 1.0F});
        require(discounts.empty() || discounts.size() == n_trees, "each tree needs its discounts");
        for (std::size_t t = 0; t < discounts.size(); ++t) {
            require(discounts[t].size() == 3, "a level needs three discounts");
            for (std::size_t k = 0; k < 3; ++k) level.discounts[t][k] = static_cast<float>(discounts[t][k]);
        }
        return level;
    }

    static VectorInput vector_input(const VectorArrays& arrays, const TreeEvidence& evidence) {
        VectorInput input{arrays.first, {}};
        require(input.network && arrays.second.size() == evidence.n_trees(),
                "each tree needs the vectors of its nodes");
        require(input.network->n_words() == evidence.tree(0).n_words(),
                "a vector state has other words than the trees");
        for (const auto& [vectors, scales, bias] : arrays.second) {
            const std::size_t n = evidence.tree(0).n_leaves();
            require(vectors.size() == n * rounded_bytes(input.network->width()) && scales.size() == n &&
                        bias.size() == n,
                    "each node needs a vector");
            for (const In<float>* of : {&scales, &bias})
                check_finite(*of, "a number of the vector of a node is not finite");
            input.trees.push_back({&evidence.tree(input.trees.size()),
                                   RoundedRows(vectors.data(), scales.data(), input.network->width()),
                                   bias.data()});
        }
        return input;
    }

    // The weights of a tree after a text, and all of them while they go on learning: copies share them.
    static const float* weights_after(const TextState& state, const std::vector<In<float>>& weights,
                                      std::size_t tree) {
        return state.learned.empty() ? weights[tree].data() : state.learned[tree]->weights.data();
    }
    static std::vector<LearnedWeights*> learning(TextState& state, const std::vector<In<float>>& weights) {
        std::vector<LearnedWeights*> found;
        for (std::size_t t = 0; t < weights.size(); ++t) {
            if (state.learned.size() == t)
                state.learned.push_back(std::make_shared<LearnedWeights>(LearnedWeights{
                    {weights[t].begin(), weights[t].end()}, std::vector<float>(weights[t].size(), 1.0F)}));
            else if (state.learned[t].use_count() > 1)
                state.learned[t] = std::make_shared<LearnedWeights>(*state.learned[t]);
            found.push_back(state.learned[t].get());
        }
        return found;
    }

    std::vector<TreeSearch> searches(const std::vector<Words>& streams, std::uint32_t of_class, int history,
                                     const std::vector<In<float>>& weights, TextState& state,
                                     std::size_t first = 0, std::size_t last = SIZE_MAX) const {
        check_history(streams, of_class, history, weights, state);
        TextCache* const cache = state.cache ? &*state.cache : nullptr;
        const EventVectors vectors = model_->vectors().vectors_of(state.vectors.data());
        const EventContexts contexts = contexts_at(pointers(streams), 0, history, vectors, cache);
        std::vector<TreeSearch> found;
        for (std::size_t t = first; t < std::min(last, evidence_->n_trees()); ++t)
            found.emplace_back(*evidence_, t, contexts,
                               TreeSearch::Settings{evidence_->n_chains(history > 0),
                                                    model_->n_inputs(history), evidence_->n_inputs(true),
                                                    model_->shape(history), weights_after(state, weights, t),
                                                    &model_->node_sets(t), of_class, cache},
                               &model_->vectors(), vectors);
        return found;
    }

    EventContexts contexts_at(const std::vector<const std::uint32_t*>& values, std::size_t event, int history,
                              const EventVectors& vectors, TextCache* cache) const {
        EventContexts contexts(evidence_->n_slots());
        evidence_->hash(values.data(), event, evidence_->n_chains(history > 0), contexts);
        evidence_->find(contexts);
        if (cache) cache->find(values.data(), event, model_->compared_vector(vectors, event));
        return contexts;
    }

    TreeReading reading(std::size_t tree, int history, const float* weights) const {
        return {evidence_.get(),
                tree,
                evidence_->n_chains(history > 0),
                model_->vectors().size(),
                evidence_->n_inputs(true),
                model_->shape(history),
                weights,
                &model_->node_sets(tree)};
    }

    void check_events(const Words& words, const std::vector<Words>& streams, const Words& classes,
                      const Starts& starts) const {
        require(streams.size() == evidence_->n_streams() && classes.size() == words.size() &&
                    starts.size() == words.size(),
                "each event needs a value of each stream");
        for (const Words& stream : streams)
            require(stream.size() == words.size(), "each event needs a value of each stream");
        check_below(classes, model_->n_classes(), "the class of the last word is not there");
        for (std::size_t i = 0; i < words.size(); ++i)
            require(words[i] < n_words_ && evidence_->tree(0).length(words[i]) > 0,
                    "an event is not a word of the trees");
    }

    void check_history(const std::vector<Words>& streams, std::uint32_t of_class, int history,
                       const std::vector<In<float>>& weights, const TextState& state) const {
        check_weights(history, weights);
        check_state(history, state);
        require(streams.size() == evidence_->n_streams() && of_class < model_->n_classes(),
                "the history needs a value of each stream");
        for (const Words& stream : streams)
            require(stream.size() > 0, "the history needs a value of each stream");
    }

    void check_state(int history, const TextState& state) const {
        require((history == 2) == state.cache.has_value(),
                "a cache is needed for adaptive scoring, and for no other");
        require((!state.cache || state.cache->belongs_to(*evidence_)) &&
                    state.vectors.size() == model_->vectors().state_size(),
                "the state is that of another model");
    }

    void check_weights(int history, const std::vector<In<float>>& weights) const {
        checked(history);
        require(weights.size() == evidence_->n_trees(), "each tree needs weights");
        for (const In<float>& one : weights)
            require(one.size() == n_weights(history), "there are too few or too many weights");
    }

    static std::vector<const std::uint32_t*> pointers(const std::vector<Words>& streams) {
        std::vector<const std::uint32_t*> found;
        for (const Words& stream : streams) found.push_back(stream.data());
        return found;
    }

    std::shared_ptr<TreeEvidence> evidence_;
    std::unique_ptr<TreeModel> model_;
    std::vector<LevelArrays> kept_levels_;  // the arrays that views look at
    std::vector<VectorArrays> kept_vectors_;
    std::size_t n_words_;
};

}  // namespace stategram
