#include "word_tree/distribution.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/simd.hpp"
#include "word_tree/vector_inputs.hpp"

namespace stategram {
namespace {

constexpr std::size_t n_together = vector_padding;  // nodes
constexpr std::size_t nodes_per_follower = 32;      // fewer, and all are looked at

// One input at all nodes: its evidence, its weights by node, and the others.
struct BareInput {
    const float *x, *of_node;
    float of_match, of_class, of_bucket;
};

// The log-odds where no context has words. `sum` has what the inputs without a context add by their buckets.
STATEGRAM_CLONES
void mix_bare(const BareInput* inputs, std::size_t n_inputs, const float* STATEGRAM_RESTRICT sum,
              std::size_t n, float* STATEGRAM_RESTRICT logits) {
    const std::size_t n_lanes = std::min(std::bit_ceil(n_inputs), input_padding);
    for (std::size_t begin = 0; begin < n; begin += n_together) {
        float sums[n_together], lanes[input_padding][n_together];
        for (std::size_t j = 0; j < n_together; ++j) sums[j] = sum[begin + j];
        for (std::size_t lane = 0; lane < n_lanes; ++lane)
            for (std::size_t j = 0; j < n_together; ++j) lanes[lane][j] = 0;
        for (std::size_t i = 0; i < n_inputs; ++i) {
            const BareInput input = inputs[i];
            float* const lane = lanes[i % input_padding];
            for (std::size_t j = 0; j < n_together; ++j) {
                const float x = input.x[begin + j];
                sums[j] += x * input.of_bucket;
                lane[j] += x * (input.of_node[begin + j] + input.of_match + input.of_class);
            }
        }
        for (std::size_t half = n_lanes / 2; half > 0; half /= 2)
            for (std::size_t lane = 0; lane < half; ++lane)
                for (std::size_t j = 0; j < n_together; ++j) lanes[lane][j] += lanes[lane + half][j];
        for (std::size_t j = 0; j < n_together; ++j) logits[begin + j] = limited_mix(sums[j] + lanes[0][j]);
    }
}

// e^x for -16 <= x <= 0, to about two units in the last place.
STATEGRAM_INLINE double exp_of(double x) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    const double shifted = x * 1.4426950408889634074 + magic, n = shifted - magic;
    const double r = (x - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
    double y = 1.0 / 6227020800;
    y = y * r + 1.0 / 479001600;
    y = y * r + 1.0 / 39916800;
    y = y * r + 1.0 / 3628800;
    y = y * r + 1.0 / 362880;
    y = y * r + 1.0 / 40320;
    y = y * r + 1.0 / 5040;
    y = y * r + 1.0 / 720;
    y = y * r + 1.0 / 120;
    y = y * r + 1.0 / 24;
    y = y * r + 1.0 / 6;
    y = y * r + 0.5;
    y = y * r * r + r + 1.0;
    return y * std::bit_cast<double>(
                   (std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(magic) + 1023) << 52);
}

// The probability of the less likely side; below 0, if that is the left one.
STATEGRAM_CLONES
void less_likely_sides(const float* STATEGRAM_RESTRICT logits, std::size_t n,
                       double* STATEGRAM_RESTRICT sides) {
    for (std::size_t i = 0; i < n; ++i) {
        const double logit = double{logits[i]}, odds = exp_of(-std::fabs(logit)), side = odds / (1.0 + odds);
        sides[i] = logit > 0 ? -side : side;
    }
}

}  // namespace

TreeDistribution::TreeDistribution(const TreeReading& reading)
    : of_(reading),
      tree_(&reading.evidence->tree(reading.tree)),
      n_bare_(n_root_inputs + reading.n_vectors),
      n_padded_(VectorInputs::padded_nodes(tree_->n_leaves())),
      root_x_(n_root_inputs * n_padded_),
      root_sum_(n_padded_),
      node_weights_(n_bare_ * n_padded_),
      begins_(n_padded_),
      ends_(n_padded_) {
    const auto n_leaves = static_cast<std::uint32_t>(tree_->n_leaves());
    use(reading.weights);
    struct Below {
        std::uint32_t node, begin, end, way;
    };
    std::vector<Below> open{{tree_->root(), 0, n_leaves, 0}};
    while (!open.empty()) {
        const Below at = open.back();
        open.pop_back();
        if (at.end - at.begin == 1) continue;
        order_.push_back(at.node);
        ways_.push_back(static_cast<std::uint8_t>(at.way));
        begins_[at.node] = at.begin;
        ends_[at.node] = at.end;
        const std::uint32_t below = (at.way & ~1U) + 2;
        open.push_back({tree_->right(at.node), at.node, at.end, below + 1});
        open.push_back({tree_->left(at.node), at.begin, at.node, below});
    }
    for (std::uint32_t word = 0; word < tree_->n_words(); ++word)
        ranks_.push_back(tree_->length(word) > 0 ? tree_->rank(word) : n_leaves);
}

void TreeDistribution::use(const float* weights_of_model) {
    of_.weights = weights_of_model;
    const MixerShape& shape = of_.shape;
    for (std::uint32_t node = 1; node < tree_->n_leaves(); ++node) {
        float x[n_root_inputs];
        std::uint8_t buckets[n_root_inputs];
        std::uint32_t match;
        of_.evidence->begin_nodes(of_.tree, &node, 1, {x, buckets, &match, n_root_inputs});
        const float* const weights =
            of_.weights + shape.node_begin() + (*of_.node_sets)[node] * shape.n_inputs;
        for (std::size_t i = 0; i < n_bare_; ++i) node_weights_[i * n_padded_ + node] = weights[i];
        root_sum_[node] = 0;
        for (std::size_t i = 0; i < n_root_inputs; ++i) {
            root_x_[i * n_padded_ + node] = x[i];
            root_sum_[node] += x[i] * of_.weights[i * n_count_buckets + buckets[i]];
        }
    }
}

TreeDistribution::Scratch::Scratch(const TreeDistribution& of)
    : logits(of.n_padded_),
      sides(of.n_padded_),
      probabilities(of.tree_->n_leaves() + 1),
      matches(of.n_padded_),
      estimates(of.n_padded_),
      places(of.n_padded_),
      before(of.tree_->n_leaves() + 1),
      with_words(of.n_padded_),
      x(of.of_.shape.n_inputs + 2 * max_depth),
      buckets(x.size()) {}

// Adds the evidence of a level at some nodes with words of its list below.
void TreeDistribution::add_sums(std::size_t chain_number, std::size_t level, bool is_last,
                                const std::uint32_t* nodes, int n, const SideSums& sums,
                                Scratch& scratch) const {
    const ChainView& chain = of_.evidence->chains()[chain_number];
    const std::size_t n_inputs = chain.inputs_per_level(), first = chain.first_input + level * n_inputs;
    ChainEstimates estimates;
    Estimates* const kinds[] = {&estimates.continuation, &estimates.counts};
    of_.evidence->begin_chain(of_.tree, nodes, n, estimates);
    if (level > 0)
        for (int i = 0; i < n; ++i) {
            const Scratch::NodeEstimates& above = scratch.estimates[nodes[i]];
            for (std::size_t kind = 0; kind < 2 && above.chain == chain_number; ++kind) {
                kinds[kind]->right[i] = above.right[kind];
                kinds[kind]->left[i] = above.left[kind];
                kinds[kind]->logit[i] = above.logit[kind];
            }
        }
    std::uint32_t match[max_depth] = {};
    of_.evidence->add_level(of_.tree, chain_number, level, sums, n, estimates,
                            {scratch.x.data(), scratch.buckets.data(), match, n_inputs});
    for (int i = 0; i < n; ++i) scratch.matches[nodes[i]] += match[i];
    for (int i = 0; i < n && !is_last; ++i)
        scratch.estimates[nodes[i]] = {chain_number,
                                       {kinds[0]->right[i], kinds[1]->right[i]},
                                       {kinds[0]->left[i], kinds[1]->left[i]},
                                       {kinds[0]->logit[i], kinds[1]->logit[i]}};
    const auto at = static_cast<std::ptrdiff_t>(first), end = at + n * static_cast<std::ptrdiff_t>(n_inputs);
    scratch.level_nodes.insert(scratch.level_nodes.end(), nodes, nodes + n);
    scratch.level_x.insert(scratch.level_x.end(), scratch.x.begin() + at, scratch.x.begin() + end);
    scratch.level_buckets.insert(scratch.level_buckets.end(), scratch.buckets.begin() + at,
                                 scratch.buckets.begin() + end);
}

// Adds the evidence of a level at all nodes with words of its list below.
void TreeDistribution::read_list(std::size_t chain_number, std::size_t level, const EventContexts& contexts,
                                 Scratch& scratch) const {
    const ChainView& chain = of_.evidence->chains()[chain_number];
    const std::size_t slot = chain.first_slot + level, n_inputs = chain.inputs_per_level();
    const bool is_last = level + 1 == chain.depth() || !contexts.lists[slot + 1];
    using Sums = PathSums::Sum;
    Sums all{};
    SideSums sums;
    const auto set_sides = [&](int i, const Sums& begin, const Sums& middle, const Sums& end) {
        sums.left_counts[i] = middle.counts - begin.counts;
        sums.right_counts[i] = end.counts - middle.counts;
        sums.left_contexts[i] = middle.contexts - begin.contexts;
        sums.right_contexts[i] = end.contexts - middle.contexts;
        sums.left_types[i] = middle.types - begin.types;
        sums.right_types[i] = end.types - middle.types;
    };
    auto& followers = scratch.followers;
    followers.clear();
    of_.evidence->read_ranked(
        slot, of_.tree, contexts.lists[slot],
        [&](std::uint32_t rank, const Follower& one) { followers.emplace_back(rank, one); });
    if (followers.size() * nodes_per_follower > order_.size()) {
        // Most nodes have some: look at all.
        std::vector<Sums>& before = scratch.before;
        std::uint32_t next = 0;
        for (const auto& [rank, one] : followers) {
            for (; next <= rank; ++next) before[next] = all;
            all.add(one.count, one.contexts, 1);
        }
        for (; next < before.size(); ++next) before[next] = all;
        std::uint32_t* const nodes = scratch.with_words.data();
        std::size_t n = 0;
        for (std::uint32_t node = 1; node < tree_->n_leaves(); ++node) {
            nodes[n] = node;
            n += before[begins_[node]].types != before[ends_[node]].types;
        }
        for (std::size_t begin = 0; begin < n; begin += max_depth) {
            const auto some = static_cast<int>(std::min(n - begin, std::size_t{max_depth}));
            for (int i = 0; i < some; ++i) {
                const std::uint32_t node = nodes[begin + static_cast<std::size_t>(i)];
                set_sides(i, before[begins_[node]], before[node], before[ends_[node]]);
            }
            add_sums(chain_number, level, is_last, nodes + begin, some, sums, scratch);
        }
    } else {
        // The way to the word at hand, with the sums of the words before each node, and before its right
        // side.
        Sums begin[max_depth], middle[max_depth];
        std::uint32_t way[max_depth], nodes[max_depth], code = 0;
        int length = 0, n = 0;
        const auto leave = [&](int depth) {  // all nodes below it
            while (length > depth) {
                --length;
                set_sides(n, begin[length], WordTree::bit(code, length) ? middle[length] : all, all);
                nodes[n++] = way[length];
                if (n < max_depth) continue;
                add_sums(chain_number, level, is_last, nodes, n, sums, scratch);
                n = 0;
            }
        };
        for (const auto& [rank, one] : followers) {
            std::uint32_t node = tree_->root();
            const std::uint32_t next = tree_->code_at(rank);
            if (length > 0) {
                const int parting =
                    std::min(tree_->parting(code, next), length - 1);  // a damaged list has words twice
                leave(parting + 1);
                middle[parting] = all;
                node = WordTree::bit(next, parting) ? tree_->right(way[parting]) : tree_->left(way[parting]);
            }
            code = next;
            for (; node != 0; ++length) {
                way[length] = node;
                begin[length] = middle[length] = all;
                node = WordTree::bit(code, length) ? tree_->right(node) : tree_->left(node);
            }
            all.add(one.count, one.contexts, 1);
        }
        leave(0);
        add_sums(chain_number, level, is_last, nodes, n, sums, scratch);
    }
    scratch.inputs.push_back({chain.first_input + level * n_inputs, n_inputs, scratch.level_nodes.size()});
}

// Mixes the evidence at the nodes where contexts have words, as `mix` does.
void TreeDistribution::mix_inputs(std::uint32_t of_class, const float* at_nodes, const TextCache* cache,
                                  Scratch& scratch) const {
    const std::size_t width = of_.shape.n_inputs;
    const float* const weights = of_.weights;
    scratch.rows.clear();
    const auto place = [&](std::uint32_t node) {
        std::uint32_t& found = scratch.places[node];
        if (found == 0) {
            float sum = root_sum_[node];
            scratch.rows.resize(scratch.rows.size() + width);
            float* const row = scratch.rows.data() + scratch.nodes.size() * width;
            for (std::size_t i = 0; i < n_bare_; ++i) {
                row[i] = i < n_root_inputs ? root_x_[i * n_padded_ + node]
                                           : at_nodes[(i - n_root_inputs) * n_padded_ + node];
                if (i >= n_root_inputs) sum += row[i] * weights[i * n_count_buckets];
            }
            scratch.nodes.push_back({node, sum});
            found = static_cast<std::uint32_t>(scratch.nodes.size());
        }
        return std::size_t{found - 1};
    };
    const auto add = [&](std::size_t at, std::size_t input, float x, std::uint8_t bucket) {
        scratch.rows[at * width + input] = x;
        scratch.nodes[at].sum += x * weights[input * n_count_buckets + bucket];
    };
    const float* x = scratch.level_x.data();
    const std::uint8_t* bucket = scratch.level_buckets.data();
    std::size_t i = 0;
    for (const Scratch::Input& input : scratch.inputs)
        for (; i < input.end; ++i) {
            const std::size_t at = place(scratch.level_nodes[i]);
            for (std::size_t k = 0; k < input.n; ++k) add(at, input.first + k, *x++, *bucket++);
        }
    const std::vector<double> similar = cache ? cache->similar_masses(of_.tree) : std::vector<double>();
    for (std::size_t j = 0; cache && j < order_.size(); ++j) {
        const std::uint32_t node = order_[j];
        cache->node_evidence(of_.tree, begins_[node], node, ends_[node], ways_[j] >> 1, similar,
                             scratch.x.data(), scratch.buckets.data());
        for (std::size_t k = 0; k < cache->n_inputs(); ++k)
            add(place(node), of_.cache_input + k, scratch.x[k], scratch.buckets[k]);
    }
    for (std::size_t at = 0; at < scratch.nodes.size(); ++at) {
        const auto [node, sum] = scratch.nodes[at];
        scratch.logits[node] = mix_from(sum, of_.shape, weights,
                                        {scratch.rows.data() + at * width, nullptr, (*of_.node_sets)[node],
                                         scratch.matches[node], of_class});
        scratch.places[node] = scratch.matches[node] = 0;
        scratch.estimates[node].chain = SIZE_MAX;
    }
}

void TreeDistribution::add(const EventContexts& contexts, std::uint32_t of_class, const float* at_nodes,
                           const TextCache* cache, double weight, double* row, Scratch& scratch) const {
    scratch.nodes.clear();
    scratch.inputs.clear();
    scratch.level_nodes.clear();
    scratch.level_x.clear();
    scratch.level_buckets.clear();
    for (std::size_t c = 0; c < of_.n_chains; ++c) {
        const ChainView& chain = of_.evidence->chains()[c];
        for (std::size_t j = 0; j < chain.depth() && contexts.lists[chain.first_slot + j]; ++j)
            read_list(c, j, contexts, scratch);
    }
    const std::size_t width = of_.shape.n_inputs;
    std::vector<BareInput> inputs;
    for (std::size_t i = 0; i < n_bare_; ++i)
        inputs.push_back(
            {i < n_root_inputs ? &root_x_[i * n_padded_] : at_nodes + (i - n_root_inputs) * n_padded_,
             &node_weights_[i * n_padded_], of_.weights[of_.shape.match_begin() + i],
             of_.weights[of_.shape.class_begin() + of_class * width + i],
             i < n_root_inputs ? 0.0F : of_.weights[i * n_count_buckets]});
    mix_bare(inputs.data(), n_bare_, root_sum_.data(), n_padded_, scratch.logits.data());
    mix_inputs(of_class, at_nodes, cache, scratch);
    less_likely_sides(scratch.logits.data(), n_padded_, scratch.sides.data());
    // Whatever is written for a side before the nodes below it is overwritten there.
    double ways[2 * max_depth + 2] = {weight};
    double* const by_rank = scratch.probabilities.data();
    by_rank[0] = weight;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::uint32_t node = order_[i], way = ways_[i], below = (way & ~1U) + 2;
        const double p = ways[way], side = scratch.sides[node];
        by_rank[node - 1] = ways[below] = p * (side < 0 ? -side : 1.0 - side);
        by_rank[node] = ways[below + 1] = p * (side < 0 ? 1.0 + side : side);
    }
    by_rank[tree_->n_leaves()] = 0;
    for (std::size_t word = 0; word < ranks_.size(); ++word) row[word] += by_rank[ranks_[word]];
}

}  // namespace stategram
