#include "word_tree/model.hpp"

#include <utility>

#include "base/hash.hpp"

namespace stategram {
namespace {

constexpr std::size_t events_per_slice = 256;

// The set of weights of each node: frequent ones have their own, others share those of their depth.
std::vector<std::uint32_t> frequent_nodes(const WordTree& tree, const std::uint32_t* counts,
                                          std::size_t n_frequent) {
    const std::size_t n = tree.n_leaves();
    std::vector<std::uint64_t> frequencies(n, 0);
    std::vector<std::uint32_t> sets(n, 0), order;
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        const std::uint32_t word = tree.word_at(rank), *path = tree.path(word);
        for (int depth = 0; depth < tree.length(word); ++depth) {
            frequencies[path[depth]] += counts[word];
            sets[path[depth]] = static_cast<std::uint32_t>(n_frequent) + static_cast<std::uint32_t>(depth);
        }
    }
    for (std::uint32_t node = 1; node < n; ++node) order.push_back(node);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return frequencies[a] > frequencies[b]; });
    for (std::size_t i = 0; i < std::min(n_frequent, order.size()); ++i)
        sets[order[i]] = static_cast<std::uint32_t>(i);
    return sets;
}

}  // namespace

TreeModel::TreeModel(std::shared_ptr<TreeEvidence> evidence, std::vector<VectorInput> vectors,
                     std::vector<std::shared_ptr<const AdaptiveSource>> adaptive,
                     std::vector<CacheView> caches, const std::uint32_t* counts, std::size_t n_frequent_nodes,
                     std::size_t n_classes, float adaptive_rate)
    : evidence_(std::move(evidence)),
      vectors_(evidence_, std::move(vectors)),
      adaptive_(std::move(adaptive)),
      caches_(std::move(caches)),
      n_node_sets_(n_frequent_nodes + max_depth),
      n_classes_(n_classes),
      adaptive_rate_(adaptive_rate) {
    for (std::size_t t = 0; t < evidence_->n_trees(); ++t)
        node_sets_.push_back(frequent_nodes(evidence_->tree(t), counts, n_frequent_nodes));
    n_cache_inputs_ = empty_cache().n_inputs();
}

TreeModel::Scratch::Scratch(const TreeModel& model, int history) : stride(model.n_inputs(history)) {
    const std::size_t n_trees = model.evidence_->n_trees(), n_slots = model.evidence_->n_slots();
    x.resize(n_trees * max_depth * stride);
    buckets.resize(x.size());
    match.resize(n_trees * max_depth);
    for (std::size_t i = 0; i < 2 * look_ahead; ++i) contexts.emplace_back(n_slots);
    left.resize(n_slots);
    for (std::size_t t = 0; t < n_trees; ++t)
        rows.push_back(
            {&x[t * max_depth * stride], &buckets[t * max_depth * stride], &match[t * max_depth], stride});
}

CacheRows TreeModel::read_cache(const TextEvents& text, std::size_t begin, std::size_t end,
                                const EventVectors& vectors, TextCache& cache) const {
    CacheRows rows;
    const std::size_t width = n_cache_inputs_;
    for (std::size_t event = begin; event < end; ++event) {
        if (text.starts && text.starts[event] == 2) cache.start_document();
        cache.find(text.streams.data(), event, compared_vector(vectors, event));
        for (std::size_t t = 0; t < evidence_->n_trees(); ++t) {
            const auto length = static_cast<std::size_t>(evidence_->tree(t).length(text.words[event]));
            rows.begins.push_back(rows.x.size());
            rows.x.resize(rows.x.size() + length * width);
            rows.buckets.resize(rows.x.size());
            cache.collect(t, text.words[event], rows.x.data() + rows.begins.back(),
                          rows.buckets.data() + rows.begins.back(), width);
        }
        cache.add(text.words[event]);
    }
    return rows;
}

void TreeModel::write_vectors(std::uint32_t word, std::size_t event, const EventVectors& vectors,
                              const std::vector<EvidenceRows>& rows) const {
    for (std::size_t t = 0; t < evidence_->n_trees(); ++t)
        vectors_.write(t, evidence_->tree(t).path(word), evidence_->tree(t).length(word), vectors, event,
                       rows[t].x + n_root_inputs, rows[t].stride);
}

void TreeModel::copy_cache_rows(std::uint32_t word, std::size_t event, const CacheRows& cache,
                                Scratch& scratch) const {
    const std::size_t first = evidence_->n_inputs(true), width = n_cache_inputs_,
                      n_trees = evidence_->n_trees();
    for (std::size_t t = 0; t < n_trees; ++t) {
        const std::size_t from = cache.begins[event * n_trees + t];
        for (std::size_t i = 0; i < static_cast<std::size_t>(evidence_->tree(t).length(word)); ++i) {
            std::copy_n(cache.x.data() + from + i * width, width,
                        scratch.rows[t].x + i * scratch.stride + first);
            std::copy_n(cache.buckets.data() + from + i * width, width,
                        scratch.rows[t].buckets + i * scratch.stride + first);
        }
    }
}

double TreeModel::log_prob(std::size_t tree, const TextEvents& text, std::size_t event,
                           const EvidenceRows& rows, const MixerShape& shape, const float* weights) const {
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

TreeModel::LearningVectors TreeModel::learning_vectors(const TextEvents& text, std::size_t n_events,
                                                       const std::vector<LearningBlock>& blocks,
                                                       bool with_document, ThreadPool& pool) const {
    std::vector<std::pair<std::size_t, std::size_t>> sentences, documents;
    for (const auto& [cache_begin, begin, end] : blocks) {
        sentences.emplace_back(begin, end);
        if (with_document) documents.emplace_back(cache_begin, end);
    }
    std::vector<std::uint8_t> of_sentences = resets(text.starts, n_events, 0),
                              of_documents = resets(text.starts, n_events, 1);
    for (const auto& [cache_begin, begin, end] : blocks) {
        if (begin < end) of_sentences[begin] = 1;
        if (cache_begin < end) of_documents[cache_begin] = 1;
    }
    return {vectors_.read_parts({text.words, of_documents.data()}, documents, pool),
            vectors_.read_parts({text.words, of_sentences.data()}, sentences, pool)};
}

void TreeModel::learn(const TextEvents& text, const LearningVectors& vectors,
                      const std::vector<LearningBlock>& blocks, const std::uint8_t* used, std::uint64_t seed,
                      ThreadPool& pool, std::vector<Scratch>& scratch, Learner& learner) const {
    const std::size_t n_trees = evidence_->n_trees(), stride = n_inputs(learner.last);
    const bool with_cache = learner.last == 2;
    std::vector<std::unique_ptr<LeftOut>> left(blocks.size());
    std::vector<CacheRows> cache_rows(blocks.size());
    pool.run(blocks.size(), [&](std::size_t number, int) {
        const auto& [cache_begin, begin, end] = blocks[number];
        if (learner.leave_out)
            left[number] = std::make_unique<LeftOut>(*evidence_, text.words, text.streams.data(), begin, end);
        if (!with_cache || learner.cache) return;
        TextCache cache = empty_cache();
        for (std::size_t event = cache_begin; event < begin; ++event) {
            if (text.starts[event] == 2) cache.start_document();
            cache.enter(text.streams.data(), event, compared_vector(vectors.of_document, event));
            cache.add(text.words[event]);
        }
        cache_rows[number] = read_cache(text, begin, end, vectors.of_document, cache);
    });
    for (std::size_t number = 0; with_cache && learner.cache && number < blocks.size(); ++number)
        cache_rows[number] =
            read_cache(text, blocks[number].begin, blocks[number].end, vectors.of_document, *learner.cache);
    std::vector<Part> parts;
    for (std::size_t block = 0; block < blocks.size(); ++block)
        parts.push_back({blocks[block].begin,
                         blocks[block].end,
                         {left[block].get(), with_cache ? &cache_rows[block] : nullptr, blocks[block].begin,
                          &vectors.of_document}});
    KeptRows kept = keep_rows(text, parts, used, learner.last, &vectors.of_sentence, pool, scratch);
    std::vector<std::size_t> order(kept.events.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::uint64_t state = seed * golden_ratio + 1;
    for (std::size_t i = order.size(); i > 1; --i) {
        state = extend_hash(state, static_cast<std::uint32_t>(i));
        std::swap(order[i - 1], order[(state >> 32) % i]);
    }
    pool.run(learner.weights.size(), [&](std::size_t number, int) {
        const std::size_t t = number % n_trees;
        const MixerShape of = shape(static_cast<int>(number / n_trees));
        double sum = 0;
        std::vector<float> own(max_depth * stride);  // rows with vector states of the sentence
        for (const std::size_t place : order) {
            EvidenceRows rows = rows_of(kept, place, t, stride);
            if (number < n_trees && vectors_.size() > 0) {
                const auto length =
                    static_cast<std::size_t>(evidence_->tree(t).length(text.words[kept.events[place]]));
                const std::size_t first = kept.firsts[place * n_trees + t];
                std::copy_n(rows.x, length * stride, own.data());
                for (std::size_t i = 0; i < length; ++i)
                    std::copy_n(&kept.of_sentence[t][(first + i) * vectors_.size()], vectors_.size(),
                                &own[i * stride + n_root_inputs]);
                rows.x = own.data();
            }
            sum += learn_event(t, text, kept.events[place], rows, of, learner.weights[number],
                               learner.squares[number], learner.rate);
        }
        learner.log_sums[number] += sum;
    });
}

TreeModel::KeptRows TreeModel::keep_rows(const TextEvents& text, const std::vector<Part>& parts,
                                         const std::uint8_t* used, int history,
                                         const EventVectors* of_sentence, ThreadPool& pool,
                                         std::vector<Scratch>& scratch) const {
    const std::size_t n_trees = evidence_->n_trees(), stride = n_inputs(history);
    struct Slice {
        const Part* part;
        std::size_t begin, end, first_place;
    };
    std::vector<Slice> slices;
    std::vector<std::size_t> n_rows(n_trees, 0);
    KeptRows kept;
    for (const Part& part : parts)
        for (std::size_t event = part.begin; event < part.end; ++event) {
            if ((event - part.begin) % events_per_slice == 0)
                slices.push_back(
                    {&part, event, std::min(event + events_per_slice, part.end), kept.events.size()});
            if (used && !used[event]) continue;
            kept.events.push_back(event);
            kept.firsts.insert(kept.firsts.end(), n_rows.begin(), n_rows.end());
            for (std::size_t t = 0; t < n_trees; ++t)
                n_rows[t] += static_cast<std::size_t>(evidence_->tree(t).length(text.words[event]));
        }
    for (std::size_t t = 0; t < n_trees; ++t) {
        kept.x.emplace_back(n_rows[t] * stride);
        kept.buckets.emplace_back(n_rows[t] * stride);
        kept.matches.emplace_back(n_rows[t]);
        kept.of_sentence.emplace_back(of_sentence ? n_rows[t] * vectors_.size() : 0);
    }
    pool.run(slices.size(), [&](std::size_t number, int worker) {
        const Slice& slice = slices[number];
        std::size_t place = slice.first_place;
        visit(text, slice.begin, slice.end, history, slice.part->sources,
              scratch[static_cast<std::size_t>(worker)],
              [&](std::size_t event, const std::vector<EvidenceRows>& rows) {
                  if (used && !used[event]) return;
                  const std::uint32_t word = text.words[event];
                  for (std::size_t t = 0; t < n_trees; ++t) {
                      const auto length = static_cast<std::size_t>(evidence_->tree(t).length(word));
                      const EvidenceRows own = rows_of(kept, place, t, stride);
                      std::copy_n(rows[t].x, length * stride, own.x);
                      std::copy_n(rows[t].buckets, length * stride, own.buckets);
                      std::copy_n(rows[t].match, length, own.match);
                      if (of_sentence && vectors_.size() > 0)
                          vectors_.write(
                              t, evidence_->tree(t).path(word), static_cast<int>(length), *of_sentence, event,
                              &kept.of_sentence[t][kept.firsts[place * n_trees + t] * vectors_.size()],
                              vectors_.size());
                  }
                  ++place;
              });
    });
    return kept;
}

double TreeModel::learn_event(std::size_t tree, const TextEvents& text, std::size_t event,
                              const EvidenceRows& rows, const MixerShape& shape, float* weights,
                              float* squares, float rate) const {
    const WordTree& words = evidence_->tree(tree);
    const std::uint32_t word = text.words[event], code = words.code(word), *path = words.path(word);
    double sum = 0;
    for (int i = 0; i < words.length(word); ++i) {
        const bool right = WordTree::bit(code, i);
        const double logit = double{stategram::learn(
            shape, weights, squares,
            mixer_row(tree, path[i], text.classes[event], rows, static_cast<std::size_t>(i)), right, rate)};
        sum += log_sigmoid(right ? logit : -logit);
    }
    return sum;
}

void TreeModel::score_and_learn(const TextEvents& text, std::size_t begin, std::size_t end,
                                const EventVectors& vectors, TextCache& cache,
                                std::vector<LearnedWeights*> weights, ThreadPool& pool,
                                std::vector<Scratch>& scratch, double* log_probs, std::size_t stride) const {
    const CacheRows cache_rows = read_cache(text, begin, end, vectors, cache);
    KeptRows kept = keep_rows(text, {{begin, end, {nullptr, &cache_rows, begin, &vectors}}}, nullptr, 2,
                              nullptr, pool, scratch);
    pool.run(evidence_->n_trees(), [&](std::size_t t, int) {
        auto& [of_tree, squares] = *weights[t];
        for (std::size_t place = 0; place < kept.events.size(); ++place) {
            const std::size_t event = kept.events[place];
            const EvidenceRows rows = rows_of(kept, place, t, n_inputs(2));
            // No decision on the way to a word may depend on those before it.
            log_probs[t * stride + event] = log_prob(t, text, event, rows, shape(2), of_tree.data());
            learn_event(t, text, event, rows, shape(2), of_tree.data(), squares.data(), adaptive_rate_);
        }
    });
}

}  // namespace stategram
