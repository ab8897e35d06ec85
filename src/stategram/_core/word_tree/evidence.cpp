#include "word_tree/evidence.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/checks.hpp"
#include "base/simd.hpp"

namespace stategram {
namespace {

constexpr float min_probability = 1e-7F;
constexpr float max_evidence = 20.0F;

// The natural logarithm of a positive normal number, to about one unit in the last place; it vectorizes.
STATEGRAM_INLINE float log_of(float x) {
    const auto bits = std::bit_cast<std::int32_t>(x);
    const std::int32_t exponent = (bits - 0x3f3504f3) >> 23;  // x = m 2^exponent, sqrt(1/2) <= m < sqrt(2)
    const float m = std::bit_cast<float>(bits - exponent * (1 << 23)) - 1.0F;
    const float square = m * m;
    float y = 7.0376836292e-2F;
    y = y * m - 1.1514610310e-1F;
    y = y * m + 1.1676998740e-1F;
    y = y * m - 1.2420140846e-1F;
    y = y * m + 1.4249322787e-1F;
    y = y * m - 1.6668057665e-1F;
    y = y * m + 2.0000714765e-1F;
    y = y * m - 2.4999993993e-1F;
    y = y * m + 3.3333331174e-1F;
    return y * m * square - 0.5F * square + m + static_cast<float>(exponent) * 0.69314718F;
}

STATEGRAM_INLINE void take_estimate(float right, float left, Estimates& estimates, int i, float* x) {
    right = std::max(right, min_probability);
    left = std::max(left, min_probability);
    const float logit = log_of(right / left);
    x[i] = std::min(std::max(logit - estimates.logit[i], -max_evidence), max_evidence);
    estimates.right[i] = right;
    estimates.left[i] = left;
    estimates.logit[i] = logit;
}

STATEGRAM_CLONES
void continuation_step(const SideSums& sums, float discount, int n, Estimates& estimates,
                       float* STATEGRAM_RESTRICT x) {
    for (int i = 0; i < n; ++i) {
        const auto right = static_cast<float>(static_cast<std::int32_t>(sums.right_contexts[i])),
                   left = static_cast<float>(static_cast<std::int32_t>(sums.left_contexts[i]));
        const float taken_right =
                        discount * static_cast<float>(static_cast<std::int32_t>(sums.right_types[i])),
                    taken_left = discount * static_cast<float>(static_cast<std::int32_t>(sums.left_types[i]));
        const float taken = taken_right + taken_left, scale = 1.0F / (right + left);
        take_estimate((right - taken_right + taken * estimates.right[i]) * scale,
                      (left - taken_left + taken * estimates.left[i]) * scale, estimates, i, x);
    }
}

STATEGRAM_CLONES
void count_step(const SideSums& sums, const std::array<float, 3>& discounts, int n, Estimates& estimates,
                float* STATEGRAM_RESTRICT x) {
    // d(count) as a sum of steps, without branches.
    const float first = discounts[0], second = discounts[1] - discounts[0],
                third = discounts[2] - discounts[1];
    const auto discount = [=](float count) {
        return (count > 0.0F ? first : 0.0F) + (count > 1.0F ? second : 0.0F) + (count > 2.0F ? third : 0.0F);
    };
    for (int i = 0; i < n; ++i) {
        const auto right = static_cast<float>(static_cast<std::int32_t>(sums.right_counts[i])),
                   left = static_cast<float>(static_cast<std::int32_t>(sums.left_counts[i]));
        const float taken_right = discount(right), taken_left = discount(left);
        const float taken = taken_right + taken_left, scale = 1.0F / (right + left);
        take_estimate((right - taken_right + taken * estimates.right[i]) * scale,
                      (left - taken_left + taken * estimates.left[i]) * scale, estimates, i, x);
    }
}

// `code_of(follower)`: its way in the tree.
template <typename CodeOf>
void sum_short_list(const WordTree& tree, std::uint32_t word, const Follower* followers, std::size_t n,
                    const CodeOf& code_of, PathSums& sums) {
    const std::uint32_t code = tree.code(word);
    const int length = tree.length(word);
    for (std::size_t i = 0; i < n; ++i) {
        const Follower& one = followers[i];
        const int depth = std::min(tree.parting(code, code_of(one)), length);
        sums.at[depth].add(one.count, one.contexts, 1);
    }
}

// Adds the sums of a long list; the walk down it is at its end.
void sum_long_list(const ListWalk& walk, PathSums& sums) {
    walk.add_to(sums);
    Follower followers[max_short_list];
    const WordTree& tree = walk.tree();
    const std::size_t n = walk.read_leaf(followers);
    sum_short_list(
        tree, walk.word(), followers, n,
        [&](const Follower& one) { return tree.code_at(walk.low() + one.word); }, sums);
}

void take_out(const WordTree& tree, std::uint32_t word, const LeftList& left, PathSums& sums) {
    const std::uint32_t code = tree.code(word);
    const int length = tree.length(word);
    for (const LeftFollower* one = left.begin; one != left.end; ++one) {
        const int depth = std::min(tree.parting(code, tree.code(one->word)), length);
        PathSums::Sum& sum = sums.at[depth];
        sum.counts -= one->count;
        sum.contexts -= one->contexts;
        sum.types -= one->types;
    }
}

// Returns at how many nodes of the way a context was seen, and the sums of their sides; clears `sums`.
int sides_of(PathSums& sums, std::uint32_t code, int length, SideSums& sides) {
    int last = length;
    while (last >= 0 && sums.at[last].counts == 0) sums.at[last--] = {};
    PathSums::Sum same{};  // on the side of the word
    if (last == length) std::swap(same, sums.at[last--]);
    for (int i = last; i >= 0; --i) {
        const bool right = WordTree::bit(code, i);
        const PathSums::Sum other = sums.at[i], on_right = right ? same : other,
                            on_left = right ? other : same;
        sums.at[i] = {};
        sides.right_counts[i] = on_right.counts;
        sides.left_counts[i] = on_left.counts;
        sides.right_contexts[i] = on_right.contexts;
        sides.left_contexts[i] = on_left.contexts;
        sides.right_types[i] = on_right.types;
        sides.left_types[i] = on_left.types;
        same.add(other.counts, other.contexts, other.types);
    }
    return last + 1;
}

struct BucketTables {
    std::uint8_t totals[256], types[32];
    BucketTables() {
        for (int total = 0; total < 256; ++total)
            totals[total] = static_cast<std::uint8_t>(total <= 1     ? 0
                                                      : total == 2   ? 1
                                                      : total <= 4   ? 2
                                                      : total <= 8   ? 3
                                                      : total <= 16  ? 4
                                                      : total <= 32  ? 5
                                                      : total <= 128 ? 6
                                                                     : 7);
        for (int n = 0; n < 32; ++n)
            types[n] = static_cast<std::uint8_t>(n <= 1 ? 0 : n == 2 ? 1 : n <= 5 ? 2 : n <= 20 ? 3 : 4);
    }
};
const BucketTables bucket_tables;

// The evidence of the words alone, without a context.
RootEstimates root_estimates(const WordTree& tree, const std::uint32_t* counts,
                             std::vector<std::uint8_t>* buckets) {
    const auto n = static_cast<std::uint32_t>(tree.n_leaves());
    std::vector<std::uint64_t> sums(n + 1, 0);
    for (std::uint32_t rank = 0; rank < n; ++rank) sums[rank + 1] = sums[rank] + counts[tree.word_at(rank)];
    RootEstimates root{std::vector<float>(n), std::vector<float>(n), std::vector<float>(n)};
    if (buckets) buckets->assign(n, 0);
    struct Node {
        std::uint32_t begin, end;
        int depth;
    };
    std::vector<Node> open{{0, n, 0}};
    while (!open.empty()) {
        const Node node = open.back();
        open.pop_back();
        if (node.end - node.begin < 2) continue;
        const std::uint32_t middle = tree.split(node.begin, node.end, node.depth);
        const std::uint64_t right = sums[node.end] - sums[middle], left = sums[middle] - sums[node.begin];
        const auto total = static_cast<double>(right + left) + 0.2;
        root.right[middle] = static_cast<float>((static_cast<double>(right) + 0.1) / total);
        root.left[middle] = static_cast<float>((static_cast<double>(left) + 0.1) / total);
        root.logit[middle] = log_of(root.right[middle] / root.left[middle]);
        if (buckets) {
            const auto most = [](std::uint64_t count) {
                return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 1U << 30));
            };
            (*buckets)[middle] = count_bucket(most(right), most(left), node.end - node.begin);
        }
        open.push_back({node.begin, middle, node.depth + 1});
        open.push_back({middle, node.end, node.depth + 1});
    }
    return root;
}

}  // namespace

std::uint8_t count_bucket(std::uint32_t right, std::uint32_t left, std::uint32_t types) {
    const std::uint32_t total = right + left, smaller = std::min(right, left);
    if (total == 0) return 0;
    return static_cast<std::uint8_t>(
        1 + (bucket_tables.totals[std::min(total, 255U)] * 3 + std::min(smaller, 2U)) * 5 +
        bucket_tables.types[std::min(types, 31U)]);
}

TreeEvidence::TreeEvidence(std::vector<WordTree> trees, std::vector<ChainView> chains,
                           std::vector<ChainLevel> levels, std::size_t n_vector_inputs, std::size_t n_streams,
                           const std::uint32_t* counts, const std::uint32_t* contexts)
    : trees_(std::move(trees)),
      chains_(std::move(chains)),
      levels_(std::move(levels)),
      n_streams_(n_streams),
      n_inputs_(n_root_inputs + n_vector_inputs) {
    require(trees_.size() <= max_trees, "there are more than 16 trees");
    std::size_t slot = 0;
    for (ChainView& chain : chains_) {
        require(chain.depth() > 0, "a chain has no values");
        require(chain.is_document || n_sentence_inputs_ == 0, "the chains of sentences come first");
        if (chain.is_document && n_sentence_inputs_ == 0)
            n_sentence_inputs_ = n_inputs_ = padded_inputs(n_inputs_);
        if (!chain.is_document) ++n_sentence_chains_;
        for (const std::uint32_t stream : chain.streams)
            require(stream < n_streams_, "a chain has a value that is not there");
        chain.first_slot = slot;
        chain.first_input = n_inputs_;
        slot += chain.depth();
        n_inputs_ += chain.depth() * chain.inputs_per_level();
    }
    require(slot == levels_.size(), "each value of a chain needs its counts");
    n_inputs_ = padded_inputs(n_inputs_);
    if (n_sentence_inputs_ == 0) n_sentence_inputs_ = n_inputs_;
    for (const WordTree& tree : trees_) {
        root_buckets_.emplace_back();
        continuation_roots_.push_back(root_estimates(tree, contexts, &root_buckets_.back()));
        count_roots_.push_back(root_estimates(tree, counts, nullptr));
    }
}

void TreeEvidence::hash(const std::uint32_t* const* streams, std::size_t event, std::size_t n_chains,
                        EventContexts& contexts) const {
    for (std::size_t c = 0; c < n_chains; ++c) {
        const ChainView& chain = chains_[c];
        std::uint64_t* hashes = &contexts.hashes[chain.first_slot];
        std::uint64_t hash = empty_context;
        for (std::size_t j = 0; j < chain.depth(); ++j) {
            const std::uint32_t value = streams[chain.streams[j]][event];
            hash = hash == 0 || value == no_value ? 0 : extend_hash(hash, value);
            hashes[j] = hash;
        }
    }
    const std::size_t end = n_chains < chains_.size() ? chains_[n_chains].first_slot : levels_.size();
    std::fill(contexts.hashes.begin() + static_cast<std::ptrdiff_t>(end), contexts.hashes.end(), 0U);
}

void TreeEvidence::find(EventContexts& contexts) const {
    for (const ChainView& chain : chains_) {
        FoundList* lists = &contexts.lists[chain.first_slot];
        const std::uint64_t* hashes = &contexts.hashes[chain.first_slot];
        std::fill_n(lists, chain.depth(), FoundList{});
        // No context is more frequent than one of its first values.
        for (std::size_t j = 0; j < chain.depth() && hashes[j] != 0; ++j) {
            lists[j] = levels_[chain.first_slot + j].view.find(hashes[j]);
            if (!lists[j]) break;
        }
    }
}

void TreeEvidence::for_each_context(std::size_t slot, std::size_t max_ngrams,
                                    const std::function<std::size_t(const FoundList&)>& use) const {
    const LevelView& view = levels_[slot].view;
    std::size_t ngrams = 0;
    for (std::size_t bucket = 0; bucket >> view.bucket_bits == 0 && ngrams < max_ngrams; ++bucket)
        view.for_each_list(bucket, [&](const FoundList& list) {
            ngrams += use(list);
            return true;
        });
}

void TreeEvidence::read_ranked(std::size_t slot, std::size_t tree_number, const FoundList& list,
                               const std::function<void(std::uint32_t, const Follower&)>& use) const {
    const LevelView& view = levels_[slot].view;
    const WordTree& tree = trees_[tree_number];
    if (!list.is_long()) {
        Follower followers[max_short_list];
        const std::size_t n = read_list(list.begin, list.size, view.has_longer, tree.n_words(), followers);
        std::sort(followers, followers + n, [&](const Follower& a, const Follower& b) {
            return tree.rank(a.word) < tree.rank(b.word);
        });
        for (std::size_t i = 0; i < n; ++i) use(tree.rank(followers[i].word), followers[i]);
        return;
    }
    LongWalk(view.long_lists[tree_number], list.long_list, view.has_longer).for_each(tree.n_leaves(), use);
}

void TreeEvidence::begin_nodes(std::size_t tree, const std::uint32_t* nodes, int n,
                               const EvidenceRows& rows) const {
    const RootEstimates &continuation = continuation_roots_[tree], &counts = count_roots_[tree];
    for (int i = 0; i < n; ++i) {
        float* x = rows.x + static_cast<std::size_t>(i) * rows.stride;
        std::uint8_t* buckets = rows.buckets + static_cast<std::size_t>(i) * rows.stride;
        std::fill_n(x, rows.stride, 0.0F);
        std::fill_n(buckets, rows.stride, std::uint8_t{0});
        x[0] = continuation.logit[nodes[i]];
        x[1] = counts.logit[nodes[i]] - continuation.logit[nodes[i]];
        buckets[0] = buckets[1] = root_buckets_[tree][nodes[i]];
        rows.match[i] = 0;
    }
}

void TreeEvidence::begin_chain(std::size_t tree, const std::uint32_t* nodes, int n,
                               ChainEstimates& estimates) const {
    const auto begin = [&](const RootEstimates& root, Estimates& of) {
        for (int i = 0; i < n; ++i) {
            of.right[i] = root.right[nodes[i]];
            of.left[i] = root.left[nodes[i]];
            of.logit[i] = root.logit[nodes[i]];
        }
    };
    begin(continuation_roots_[tree], estimates.continuation);
    begin(count_roots_[tree], estimates.counts);
}

void TreeEvidence::add_level(std::size_t tree, std::size_t chain_number, std::size_t number,
                             const SideSums& sums, int n, ChainEstimates& estimates,
                             const EvidenceRows& rows) const {
    const ChainView& chain = chains_[chain_number];
    const ChainLevel& level = levels_[chain.first_slot + number];
    alignas(64) float x[max_depth];
    std::size_t input = chain.first_input + number * chain.inputs_per_level();
    const auto write = [&](const std::uint32_t* right, const std::uint32_t* left) {
        for (int i = 0; i < n; ++i) {
            const std::size_t at = static_cast<std::size_t>(i) * rows.stride + input;
            rows.x[at] = x[i];
            rows.buckets[at] = count_bucket(right[i], left[i], sums.right_types[i] + sums.left_types[i]);
        }
        ++input;
    };
    if (chain.uses_continuation) {
        continuation_step(sums, level.discount, n, estimates.continuation, x);
        write(sums.right_contexts, sums.left_contexts);
    }
    count_step(sums, level.discounts[tree], n, estimates.counts, x);
    write(sums.right_counts, sums.left_counts);
    // Scoring without the document must find the match sets that were learned with it.
    if (chain_number < 2 && !chain.is_document) {
        const auto one = static_cast<std::uint32_t>(chain_number == 0 ? match_depth(1) + 1 : 1);
        for (int i = 0; i < n; ++i) rows.match[i] += one;
    }
}

void TreeEvidence::collect(std::uint32_t word, const EventContexts& contexts, std::size_t n_chains,
                           const LeftList* left, const EvidenceRows* rows) const {
    Follower followers[max_short_list];
    PathSums sums;
    SideSums sides;
    ChainEstimates estimates[max_trees];
    for (std::size_t t = 0; t < trees_.size(); ++t)
        begin_nodes(t, trees_[t].path(word), trees_[t].length(word), rows[t]);
    for (std::size_t c = 0; c < n_chains; ++c) {
        const ChainView& chain = chains_[c];
        for (std::size_t j = 0; j < chain.depth(); ++j) {
            const std::size_t slot = chain.first_slot + j;
            const FoundList& list = contexts.lists[slot];
            if (!list) break;
            const LevelView& view = levels_[slot].view;
            const std::size_t n = list.is_long() ? 0
                                                 : read_list(list.begin, list.size, view.has_longer,
                                                             trees_[0].n_words(), followers);
            bool is_seen = false;
            for (std::size_t t = 0; t < trees_.size(); ++t) {
                const WordTree& tree = trees_[t];
                const int length = tree.length(word);
                if (j == 0) begin_chain(t, tree.path(word), length, estimates[t]);
                if (list.is_long())
                    sum_long_list(contexts.walks[contexts.first_walks[slot] + t], sums);
                else
                    sum_short_list(
                        tree, word, followers, n, [&](const Follower& one) { return tree.code(one.word); },
                        sums);
                if (left) take_out(tree, word, left[slot], sums);
                const int seen = sides_of(sums, tree.code(word), length, sides);
                if (seen > 0) add_level(t, c, j, sides, seen, estimates[t], rows[t]);
                is_seen = is_seen || seen > 0;
            }
            if (!is_seen) break;
        }
    }
}

std::uint32_t TreeEvidence::count(std::size_t slot, const FoundList& list, std::uint32_t word) const {
    const LevelView& view = levels_[slot].view;
    if (list.is_long()) {
        PathSums sums;
        ListWalk walk(LongWalk(view.long_lists[0], list.long_list, view.has_longer), trees_[0], word);
        while (walk.advance()) {
        }
        sum_long_list(walk, sums);
        return sums.at[trees_[0].length(word)].counts;
    }
    Follower followers[max_short_list];
    const std::size_t n = read_list(list.begin, list.size, view.has_longer, trees_[0].n_words(), followers);
    for (std::size_t i = 0; i < n; ++i)
        if (followers[i].word == word) return followers[i].count;
    return 0;
}

}  // namespace stategram
