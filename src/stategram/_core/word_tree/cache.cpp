#include "word_tree/cache.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checks.hpp"

namespace stategram {
namespace {

constexpr std::size_t max_recent = 64;
// Older words are forgotten, half of them at a time.
constexpr std::size_t max_words = std::size_t{1} << 17;
constexpr double max_scale = 1e15;
constexpr std::size_t powers_size = 512;
constexpr double max_logit = 20.0;

std::uint8_t mass_bucket(double total, double smaller) {
    if (total < 0.02) return 0;
    static constexpr double edges[] = {0.1, 0.3, 0.7, 1.5, 3, 6, 12, 30, 80, 200};
    int bucket = 0;
    for (const double edge : edges) bucket += total >= edge;
    return static_cast<std::uint8_t>(1 + bucket * 2 + (smaller > 0.05 * total));
}

}  // namespace

TextCache::TextCache(std::shared_ptr<const TreeEvidence> evidence, std::vector<CacheView> caches,
                     const std::vector<std::shared_ptr<const AdaptiveSource>>& adaptive,
                     std::size_t vector_width)
    : evidence_(std::move(evidence)),
      caches_(std::move(caches)),
      last_(caches_.size()),
      previous_(caches_.size()),
      keys_(caches_.size()),
      present_(caches_.size()),
      recent_(caches_.size()),
      powers_(caches_.size()),
      scale_(caches_.size(), 1.0),
      masses_(caches_.size()),
      adaptive_(adaptive.begin(), adaptive.end()),
      similar_(vector_width) {
    for (std::size_t c = 0; c < caches_.size(); ++c) {
        require(caches_[c].decay >= 0.01 && caches_[c].decay < 1,
                "the decay of a cache is not between 0.01 and 1");
        for (const std::uint32_t stream : caches_[c].streams)
            require(stream < evidence_->n_streams(), "a cache has a value that is not there");
        if (!caches_[c].streams.empty()) {
            // decay^age = decay^(age mod n) * (decay^n)^(age / n)
            for (const double base : {caches_[c].decay, std::pow(caches_[c].decay, powers_size)})
                for (std::size_t i = 0; i < powers_size; ++i)
                    powers_[c].push_back(std::pow(base, static_cast<double>(i)));
            continue;
        }
        for (std::size_t t = 0; t < evidence_->n_trees(); ++t)
            masses_[c].emplace_back(2 * evidence_->tree(t).n_leaves(), 0.0F);
    }
}

void TextCache::enter(const std::uint32_t* const* streams, std::size_t event, const float* vector) {
    enter_contexts(streams, event);
    if (similar_.is_used()) similar_.enter(vector);
}

void TextCache::enter_contexts(const std::uint32_t* const* streams, std::size_t event) {
    for (std::size_t c = 0; c < caches_.size(); ++c) {
        std::uint64_t key = empty_context;
        for (const std::uint32_t stream : caches_[c].streams)
            key =
                streams[stream][event] == no_value || key == 0 ? 0 : extend_hash(key, streams[stream][event]);
        present_[c] = key;
    }
}

void TextCache::start_document() {
    for (AdaptiveLinear& one : adaptive_) one.reset();
}

void TextCache::clear_words() {
    for (AdaptiveLinear& one : adaptive_) one.clear();
}

void TextCache::share() {
    for (AdaptiveLinear& one : adaptive_) one.share();
}

void TextCache::find(const std::uint32_t* const* streams, std::size_t event, const float* vector) {
    enter_contexts(streams, event);
    if (similar_.is_used()) similar_.find(vector);
    for (AdaptiveLinear& one : adaptive_) one.find();
    for (std::size_t c = 0; c < caches_.size(); ++c) {
        recent_[c].clear();
        if (caches_[c].streams.empty() || present_[c] == 0) continue;
        const auto found = last_[c].find(present_[c]);
        if (found == last_[c].end()) continue;
        // Times are counted from 1, so that 0 is none.
        for (std::uint64_t at = found->second; at > first_ && recent_[c].size() < max_recent;
             at = previous_[c][at - 1 - first_])
            recent_[c].push_back({words_[at - 1 - first_], static_cast<float>(power(c, time_ - at))});
    }
}

double TextCache::power(std::size_t cache, std::uint64_t age) const {
    const std::size_t low = age % powers_size, high = age / powers_size;
    const std::vector<double>& powers = powers_[cache];
    return powers[low] * powers[powers_size + std::min<std::size_t>(high, powers_size - 1)];
}

void TextCache::write(std::size_t cache, double right, double left, std::size_t tree, std::uint32_t node,
                      float* x, std::uint8_t* buckets) const {
    const RootEstimates& root = evidence_->count_root(tree);
    const double logit = std::log((right + double{root.right[node]}) / (left + double{root.left[node]}));
    x[cache] = static_cast<float>(std::clamp(logit - double{root.logit[node]}, -max_logit, max_logit));
    buckets[cache] = mass_bucket(right + left, std::min(right, left));
}

void TextCache::collect(std::size_t tree_number, std::uint32_t word, float* x, std::uint8_t* buckets,
                        std::size_t stride) const {
    const WordTree& tree = evidence_->tree(tree_number);
    const std::uint32_t code = tree.code(word), *path = tree.path(word);
    const int length = tree.length(word);
    const auto add_words = [&](const std::vector<CachedWord>& words, std::size_t input) {
        double sums[max_depth + 1] = {};
        for (const CachedWord& one : words)
            sums[std::min(tree.parting(code, tree.code(one.word)), length)] += double{one.mass};
        double same = sums[length];
        for (int i = length - 1; i >= 0; --i) {
            const bool right = WordTree::bit(code, i);
            write(input, right ? same : sums[i], right ? sums[i] : same, tree_number, path[i],
                  x + static_cast<std::size_t>(i) * stride, buckets + static_cast<std::size_t>(i) * stride);
            same += sums[i];
        }
    };
    for (std::size_t c = 0; c < caches_.size(); ++c) {
        if (caches_[c].streams.empty()) {
            const std::vector<float>& masses = masses_[c][tree_number];
            const double scale = 1 / scale_[c];
            for (int i = 0; i < length; ++i)
                write(c, double{masses[2 * path[i] + 1]} * scale, double{masses[2 * path[i]]} * scale,
                      tree_number, path[i], x + static_cast<std::size_t>(i) * stride,
                      buckets + static_cast<std::size_t>(i) * stride);
            continue;
        }
        add_words(recent_[c], c);
    }
    if (similar_.is_used()) add_words(similar_.words(), match_input() + 1);
    for (std::size_t k = 0; k < adaptive_.size(); ++k)
        for (int i = 0; i < length; ++i)
            write_adaptive(k, tree_number, path[i], x + static_cast<std::size_t>(i) * stride,
                           buckets + static_cast<std::size_t>(i) * stride);
    const std::size_t next = match_.next(first_);
    const std::uint32_t likely = next == LongestMatch::none ? 0 : tree.code(words_[next]);
    const int last = next == LongestMatch::none ? -1 : std::min(tree.parting(code, likely), length - 1);
    for (int i = 0; i < length; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * stride + match_input();
        x[at] = i > last ? 0.0F : WordTree::bit(likely, i) ? 1.0F : -1.0F;
        buckets[at] = match_.bucket(i);
    }
}

void TextCache::write_adaptive(std::size_t number, std::size_t tree, std::uint32_t node, float* x,
                               std::uint8_t* buckets) const {
    x[caches_.size() + number] =
        adaptive_[number].log_odds(tree, node) - evidence_->count_root(tree).logit[node];
    buckets[caches_.size() + number] = 0;
}

void TextCache::node_evidence(std::size_t tree_number, std::uint32_t begin, std::uint32_t node,
                              std::uint32_t end, int depth, const std::vector<double>& similar, float* x,
                              std::uint8_t* buckets) const {
    const WordTree& tree = evidence_->tree(tree_number);
    for (std::size_t c = 0; c < caches_.size(); ++c) {
        double right = 0, left = 0;
        if (caches_[c].streams.empty()) {
            right = double{masses_[c][tree_number][2 * node + 1]} / scale_[c];
            left = double{masses_[c][tree_number][2 * node]} / scale_[c];
        } else {
            for (const CachedWord& one : recent_[c]) {
                const std::uint32_t rank = tree.rank(one.word);
                if (rank < begin || rank >= end) continue;
                (rank >= node ? right : left) += double{one.mass};
            }
        }
        write(c, right, left, tree_number, node, x, buckets);
    }
    if (similar_.is_used())
        write(match_input() + 1, similar[end] - similar[node], similar[node] - similar[begin], tree_number,
              node, x, buckets);
    for (std::size_t k = 0; k < adaptive_.size(); ++k) write_adaptive(k, tree_number, node, x, buckets);
    const std::size_t next = match_.next(first_);
    const std::uint32_t likely = next == LongestMatch::none ? end : tree.rank(words_[next]);
    x[match_input()] = likely < begin || likely >= end ? 0.0F : likely >= node ? 1.0F : -1.0F;
    buckets[match_input()] = match_.bucket(depth);
}

std::vector<double> TextCache::similar_masses(std::size_t tree_number) const {
    const WordTree& tree = evidence_->tree(tree_number);
    std::vector<double> before(tree.n_leaves() + 1, 0.0);
    for (const CachedWord& one : similar_.words()) before[tree.rank(one.word) + 1] += double{one.mass};
    for (std::size_t rank = 1; rank < before.size(); ++rank) before[rank] += before[rank - 1];
    return before;
}

void TextCache::add(std::uint32_t word) {
    for (AdaptiveLinear& one : adaptive_) one.learn(word);
    if (words_.size() == max_words) forget_old();
    words_.push_back(word);
    match_.add(words_, first_);
    similar_.add(word);
    ++time_;
    for (std::size_t c = 0; c < caches_.size(); ++c) {
        if (caches_[c].streams.empty()) {
            scale_[c] /= caches_[c].decay;
            for (std::size_t t = 0; t < evidence_->n_trees(); ++t) {
                const WordTree& tree = evidence_->tree(t);
                std::vector<float>& masses = masses_[c][t];
                const std::uint32_t code = tree.code(word), *path = tree.path(word);
                for (int i = 0; i < tree.length(word); ++i)
                    masses[2 * path[i] + WordTree::bit(code, i)] += static_cast<float>(scale_[c]);
                if (scale_[c] > max_scale)
                    for (float& mass : masses) mass = static_cast<float>(double{mass} / scale_[c]);
            }
            if (scale_[c] > max_scale) scale_[c] = 1.0;
            continue;
        }
        keys_[c].push_back(present_[c]);
        std::uint64_t before = 0;
        if (present_[c] != 0) {
            std::uint64_t& last = last_[c][present_[c]];
            before = last;
            last = time_;
        }
        previous_[c].push_back(before);
    }
}

void TextCache::forget_old() {
    const std::size_t half = max_words / 2;
    first_ += half;
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(half));
    match_.forget(words_, first_);
    for (std::size_t c = 0; c < caches_.size(); ++c) {
        if (caches_[c].streams.empty()) continue;
        previous_[c].erase(previous_[c].begin(), previous_[c].begin() + static_cast<std::ptrdiff_t>(half));
        keys_[c].erase(keys_[c].begin(), keys_[c].begin() + static_cast<std::ptrdiff_t>(half));
        last_[c].clear();
        for (std::size_t i = 0; i < keys_[c].size(); ++i)
            if (keys_[c][i] != 0) last_[c][keys_[c][i]] = first_ + i + 1;
    }
}

}  // namespace stategram
