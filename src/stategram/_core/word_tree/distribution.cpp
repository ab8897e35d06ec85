#include "word_tree/distribution.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/simd.hpp"
#include "word_tree/vector_inputs.hpp"

namespace stategram {
namespace {

constexpr std::size_t n_together = vector_padding;  // nodes

STATEGRAM_INLINE float sum_of_lanes(float* lanes) {
    for (std::size_t half = input_padding / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    return lanes[0];
}

// One input at all nodes: its evidence, its weights by node, and the others.
struct BareInput {
    const float *x, *of_node;
    float of_match, of_class, of_bucket;
};

// The log-odds where no context has words. `sum` has what the inputs without a context add by their buckets.
STATEGRAM_CLONES
void mix_bare(const BareInput* inputs, std::size_t n_inputs, const float* STATEGRAM_RESTRICT sum, std::size_t n,
              float* STATEGRAM_RESTRICT logits) {
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
        for (std::size_t j = 0; j < n_together; ++j)
            logits[begin + j] = limited_mix(sums[j] + lanes[0][j]);
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
    return y * std::bit_cast<double>((std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(magic) + 1023) << 52);
}

// The probability of the less likely side; below 0, if that is the left one.
STATEGRAM_CLONES
void less_likely_sides(const float* STATEGRAM_RESTRICT logits, std::size_t n, double* STATEGRAM_RESTRICT sides) {
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
      leaves_(tree_->n_leaves()) {
    const auto n_leaves = static_cast<std::uint32_t>(tree_->n_leaves());
    const MixerShape& shape = of_.shape;
    for (std::uint32_t node = 1; node < n_leaves; ++node) {
        float x[n_root_inputs];
        std::uint8_t buckets[n_root_inputs];
        std::uint32_t match;
        of_.evidence->begin_nodes(of_.tree, &node, 1, {x, buckets, &match, n_root_inputs});
        const float* const weights = of_.weights + shape.node_begin() + (*of_.node_sets)[node] * shape.n_inputs;
        for (std::size_t i = 0; i < n_bare_; ++i) node_weights_[i * n_padded_ + node] = weights[i];
        for (std::size_t i = 0; i < n_root_inputs; ++i) {
            root_x_[i * n_padded_ + node] = x[i];
            root_sum_[node] += x[i] * of_.weights[i * n_count_buckets + buckets[i]];
        }
    }
    // The sides of the node at place i of `order_` have the places 2 i + 1 and 2 i + 2.
    order_.reserve(n_leaves);
    const auto add = [&](std::uint32_t node, std::uint32_t begin, std::uint32_t end, std::size_t place) {
        if (end - begin == 1)
            leaves_[begin] = static_cast<std::uint32_t>(place);
        else
            order_.push_back({node, begin, end, static_cast<std::uint32_t>(place)});
    };
    add(tree_->root(), 0, n_leaves, 0);
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Below at = order_[i];
        add(tree_->left(at.node), at.begin, at.node, 2 * i + 1);
        add(tree_->right(at.node), at.node, at.end, 2 * i + 2);
    }
}

TreeDistribution::Scratch::Scratch(const TreeDistribution& of)
    : logits(of.n_padded_),
      sides(of.n_padded_),
      probabilities(2 * of.leaves_.size()),
      places(of.n_padded_),
      x(max_depth * of.of_.shape.n_inputs),
      buckets(x.size()) {}

TreeDistribution::Scratch::Node& TreeDistribution::touch(std::uint32_t node, Scratch& scratch) const {
    std::uint32_t& place = scratch.places[node];
    if (place == 0) {
        scratch.nodes.push_back({node, 0, SIZE_MAX});
        place = static_cast<std::uint32_t>(scratch.nodes.size());
    }
    return scratch.nodes[place - 1];
}

// Adds the evidence of a level at all nodes with words of its list below.
void TreeDistribution::read_list(std::size_t chain_number, std::size_t level, const FoundList& list,
                                 Scratch& scratch) const {
    const TreeEvidence& evidence = *of_.evidence;
    const ChainView& chain = evidence.chains()[chain_number];
    const std::size_t first = chain.first_input + level * chain.inputs_per_level(), n_inputs = chain.inputs_per_level(),
                      stride = of_.shape.n_inputs;
    SideSums sums;
    ChainEstimates estimates;
    std::uint32_t nodes[max_depth], match[max_depth];
    Estimates* const of_kind[] = {&estimates.continuation, &estimates.counts};
    int n = 0;
    const auto flush = [&] {
        evidence.begin_chain(of_.tree, nodes, n, estimates);
        for (int i = 0; i < n; ++i) {
            match[i] = 0;
            Scratch::Node& node = touch(nodes[i], scratch);
            for (std::size_t kind = 0; kind < 2 && node.chain == chain_number; ++kind) {
                of_kind[kind]->right[i] = node.right[kind];
                of_kind[kind]->left[i] = node.left[kind];
                of_kind[kind]->logit[i] = node.logit[kind];
            }
            node.chain = chain_number;
        }
        evidence.add_level(of_.tree, chain_number, level, sums, n, estimates,
                           {scratch.x.data(), scratch.buckets.data(), match, stride});
        for (int i = 0; i < n; ++i) {
            const std::uint32_t place = scratch.places[nodes[i]] - 1;
            Scratch::Node& node = scratch.nodes[place];
            node.match += match[i];
            Scratch::Level of_level{place, {}, {}};
            for (std::size_t kind = 0; kind < 2; ++kind) {
                node.right[kind] = of_kind[kind]->right[i];
                node.left[kind] = of_kind[kind]->left[i];
                node.logit[kind] = of_kind[kind]->logit[i];
            }
            for (std::size_t k = 0; k < n_inputs; ++k) {
                of_level.x[k] = scratch.x[static_cast<std::size_t>(i) * stride + first + k];
                of_level.buckets[k] = scratch.buckets[static_cast<std::size_t>(i) * stride + first + k];
            }
            scratch.levels.push_back(of_level);
        }
        n = 0;
    };
    // The way to the word at hand, with the sums of the words before each node, and before its right side.
    struct Sums {
        std::uint32_t counts = 0, contexts = 0, types = 0;
    } all, before[max_depth], middle[max_depth];
    const std::uint32_t* path = nullptr;
    std::uint32_t code = 0;
    int length = 0;
    const auto leave = [&](int depth) {  // all nodes below it
        while (length > depth) {
            const Sums &begin = before[--length], &half = WordTree::bit(code, length) ? middle[length] : all;
            sums.left_counts[n] = half.counts - begin.counts;
            sums.right_counts[n] = all.counts - half.counts;
            sums.left_contexts[n] = half.contexts - begin.contexts;
            sums.right_contexts[n] = all.contexts - half.contexts;
            sums.left_types[n] = half.types - begin.types;
            sums.right_types[n] = all.types - half.types;
            nodes[n++] = path[length];
            if (n == max_depth) flush();
        }
    };
    evidence.read_ranked(chain.first_slot + level, of_.tree, list, [&](std::uint32_t rank, const Follower& one) {
        const std::uint32_t word = tree_->word_at(rank), next = tree_->code(word);
        int from = 0;
        if (path && next == code) {  // of a damaged list
            from = length;
        } else if (path) {
            const int parting = tree_->parting(code, next);
            leave(parting + 1);
            middle[parting] = all;
            from = length;
        }
        path = tree_->path(word);
        code = next;
        length = tree_->length(word);
        for (int depth = from; depth < length; ++depth) before[depth] = middle[depth] = all;
        all.counts += one.count;
        all.contexts += one.contexts;
        ++all.types;
    });
    leave(0);
    if (n > 0) flush();
    scratch.inputs.push_back({first, n_inputs, scratch.levels.size()});
}

// Mixes the evidence at the nodes where contexts have words, as `mix` does.
void TreeDistribution::mix_inputs(std::uint32_t of_class, const float* at_nodes, const TextCache* cache,
                                  Scratch& scratch) const {
    const std::size_t width = of_.shape.n_inputs;
    const float *const of_nodes = of_.weights + of_.shape.node_begin(), *const of_matches = of_.weights + of_.shape.match_begin(),
                *const classes = of_.weights + of_.shape.class_begin() + of_class * width;
    const auto add = [&](Scratch::Node& node, std::size_t input, float x, std::uint8_t bucket) {
        node.sum += x * of_.weights[input * n_count_buckets + bucket];
        node.lanes[input % input_padding] +=
            x * (of_nodes[(*of_.node_sets)[node.node] * width + input] + of_matches[node.match * width + input] + classes[input]);
    };
    for (Scratch::Node& node : scratch.nodes) {
        for (std::size_t i = 0; i < n_bare_; ++i) {
            const float x = i < n_root_inputs ? root_x_[i * n_padded_ + node.node]
                                              : at_nodes[(i - n_root_inputs) * n_padded_ + node.node];
            add(node, i, x, 0);
            if (i + 1 == n_root_inputs) node.sum = root_sum_[node.node];
        }
    }
    std::size_t at = 0;
    for (const Scratch::Input& input : scratch.inputs)
        for (; at < input.end; ++at) {
            const Scratch::Level& level = scratch.levels[at];
            for (std::size_t k = 0; k < input.n; ++k)
                add(scratch.nodes[level.place], input.first + k, level.x[k], level.buckets[k]);
        }
    if (cache)
        for (const Below& below : order_) {
            cache->node_evidence(of_.tree, below.begin, below.node, below.end, scratch.x.data(), scratch.buckets.data());
            for (std::size_t i = 0; i < cache->n_inputs(); ++i)
                add(scratch.nodes[scratch.places[below.node] - 1], of_.cache_input + i, scratch.x[i], scratch.buckets[i]);
        }
    for (Scratch::Node& node : scratch.nodes) scratch.logits[node.node] = limited_mix(node.sum + sum_of_lanes(node.lanes));
}

void TreeDistribution::add(const EventContexts& contexts, std::uint32_t of_class, const float* at_nodes,
                           const TextCache* cache, double weight, double* row, Scratch& scratch) const {
    scratch.nodes.clear();
    scratch.levels.clear();
    scratch.inputs.clear();
    if (cache)
        for (const Below& below : order_) touch(below.node, scratch);
    for (std::size_t c = 0; c < of_.n_chains; ++c) {
        const ChainView& chain = of_.evidence->chains()[c];
        for (std::size_t j = 0; j < chain.depth() && contexts.lists[chain.first_slot + j]; ++j)
            read_list(c, j, contexts.lists[chain.first_slot + j], scratch);
    }
    const std::size_t width = of_.shape.n_inputs;
    std::vector<BareInput> inputs;
    for (std::size_t i = 0; i < n_bare_; ++i)
        inputs.push_back({i < n_root_inputs ? &root_x_[i * n_padded_] : at_nodes + (i - n_root_inputs) * n_padded_,
                          &node_weights_[i * n_padded_], of_.weights[of_.shape.match_begin() + i],
                          of_.weights[of_.shape.class_begin() + of_class * width + i],
                          i < n_root_inputs ? 0.0F : of_.weights[i * n_count_buckets]});
    mix_bare(inputs.data(), n_bare_, root_sum_.data(), n_padded_, scratch.logits.data());
    mix_inputs(of_class, at_nodes, cache, scratch);
    for (const Scratch::Node& node : scratch.nodes) scratch.places[node.node] = 0;
    less_likely_sides(scratch.logits.data(), n_padded_, scratch.sides.data());
    double* const found = scratch.probabilities.data();
    found[0] = weight;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const double p = found[order_[i].place], side = scratch.sides[order_[i].node];
        found[2 * i + 1] = p * (side < 0 ? -side : 1.0 - side);
        found[2 * i + 2] = p * (side < 0 ? 1.0 + side : side);
    }
    for (std::uint32_t rank = 0; rank < leaves_.size(); ++rank) row[tree_->word_at(rank)] += found[leaves_[rank]];
}

}  // namespace stategram
