#include "word_tree/search.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace stategram {

TreeSearch::TreeSearch(const TreeEvidence& evidence, std::size_t tree, const EventContexts& contexts,
                       Settings settings, const VectorInputs* inputs, const EventVectors& vectors)
    : evidence_(&evidence),
      number_(tree),
      tree_(&evidence.tree(tree)),
      settings_(settings),
      x_(settings.n_inputs),
      buckets_(settings.n_inputs),
      inputs_(inputs),
      vectors_(vectors),
      similar_(settings.cache ? settings.cache->similar_masses(tree) : std::vector<double>()) {
    for (std::size_t c = 0; c < settings.n_chains; ++c) {
        const ChainView& chain = evidence.chains()[c];
        for (std::size_t j = 0; j < chain.depth() && contexts.lists[chain.first_slot + j]; ++j) {
            List list{c, j, {}};
            Ranked sums{0, 0, 0};
            evidence.read_ranked(chain.first_slot + j, tree, contexts.lists[chain.first_slot + j],
                                 [&](std::uint32_t rank, const Follower& one) {
                                     sums = {rank, sums.counts + one.count, sums.contexts + one.contexts};
                                     list.words.push_back(sums);
                                 });
            lists_.push_back(std::move(list));
        }
    }
}

// The first place of a range whose word has at least this rank.
std::uint32_t TreeSearch::place(const Range& range, std::uint32_t rank) const {
    const auto first = lists_[range.list].words.begin();
    const auto at = std::lower_bound(first + range.begin, first + range.end, rank,
                                     [](const Ranked& one, std::uint32_t value) { return one.rank < value; });
    return static_cast<std::uint32_t>(at - first);
}

double TreeSearch::log_odds(const Subtree& subtree) {
    const std::uint32_t middle = subtree.node;
    const auto known = nodes_.find(middle);
    if (known != nodes_.end()) return known->second;
    std::uint32_t match = 0;
    const EvidenceRows row{x_.data(), buckets_.data(), &match, settings_.n_inputs};
    evidence_->begin_nodes(number_, &middle, 1, row);
    inputs_->write(number_, &middle, 1, vectors_, 0, x_.data() + n_root_inputs, 1);
    ChainEstimates estimates;
    SideSums sums;
    std::size_t begun = SIZE_MAX;  // the chain at hand
    for (std::uint32_t i = 0; i < lists_.size(); ++i) {
        const List& list = lists_[i];
        const Range whole{i, 0, static_cast<std::uint32_t>(list.words.size())};
        const std::uint32_t begin = place(whole, subtree.begin), end = place(whole, subtree.end);
        if (begin == end) continue;
        const std::uint32_t half = place({i, begin, end}, middle);
        if (list.chain != begun) evidence_->begin_chain(number_, &middle, 1, estimates);
        begun = list.chain;
        const auto before = [&](std::uint32_t at) { return at == 0 ? Ranked{0, 0, 0} : list.words[at - 1]; };
        const Ranked at_begin = before(begin), at_half = before(half), at_end = before(end);
        sums.left_counts[0] = at_half.counts - at_begin.counts;
        sums.right_counts[0] = at_end.counts - at_half.counts;
        sums.left_contexts[0] = at_half.contexts - at_begin.contexts;
        sums.right_contexts[0] = at_end.contexts - at_half.contexts;
        sums.left_types[0] = half - begin;
        sums.right_types[0] = end - half;
        evidence_->add_level(number_, list.chain, list.level, sums, 1, estimates, row);
    }
    if (settings_.cache)
        settings_.cache->node_evidence(number_, subtree.begin, middle, subtree.end, subtree.depth, similar_,
                                       x_.data() + settings_.cache_input,
                                       buckets_.data() + settings_.cache_input);
    const MixerRow mixed{x_.data(), buckets_.data(), (*settings_.node_sets)[middle], match,
                         settings_.of_class};
    return nodes_[middle] = double{mix(settings_.shape, settings_.weights, mixed)};
}

std::pair<TreeSearch::Subtree, TreeSearch::Subtree> TreeSearch::divide(const Subtree& subtree) {
    const std::uint32_t middle = subtree.node;
    const double logit = log_odds(subtree), odds = std::exp(-std::fabs(logit)), side = odds / (1.0 + odds),
                 right = logit > 0 ? 1.0 - side : side, left = logit > 0 ? side : 1.0 - side;
    return {{middle, subtree.end, tree_->right(middle), subtree.depth + 1, subtree.probability * right},
            {subtree.begin, middle, tree_->left(middle), subtree.depth + 1, subtree.probability * left}};
}

double TreeSearch::probability(std::uint32_t word) {
    Subtree at = root();
    const std::uint32_t code = tree_->code(word);
    while (!at.is_word()) {
        const auto [right, left] = divide(at);
        at = WordTree::bit(code, at.depth) ? right : left;
    }
    return at.probability;
}

std::uint32_t TreeSearch::word_at(double quantile) {
    Subtree at = root();
    while (!at.is_word()) {
        const auto [right, left] = divide(at);
        const bool is_left = quantile < left.probability;
        if (!is_left) quantile -= left.probability;
        at = is_left ? left : right;
    }
    return tree_->word_at(at.begin);
}

std::vector<std::pair<double, std::uint32_t>> likeliest_words(std::vector<TreeSearch>& trees,
                                                              const double* weights, std::size_t top,
                                                              const TreeEvidence& evidence) {
    // Each tree finds words from the likeliest on. A word that none has found yet is no likelier than the sum
    // of what is left at the top of each queue (Fagin's threshold).
    std::vector<std::priority_queue<TreeSearch::Subtree>> open(trees.size());
    for (std::size_t t = 0; t < trees.size(); ++t) open[t].push(trees[t].root());
    std::vector<std::pair<double, std::uint32_t>> found;
    std::unordered_map<std::uint32_t, bool> seen;
    const auto is_better = [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    while (true) {
        double threshold = 0;
        std::size_t next = 0;
        double most = -1;
        for (std::size_t t = 0; t < trees.size(); ++t) {
            if (open[t].empty()) continue;
            const double here = weights[t] * open[t].top().probability;
            threshold += here;
            if (here > most) {
                most = here;
                next = t;
            }
        }
        if (most < 0 || (found.size() >= top && found[top - 1].first > threshold)) break;
        const TreeSearch::Subtree at = open[next].top();
        open[next].pop();
        if (!at.is_word()) {
            const auto [right, left] = trees[next].divide(at);
            open[next].push(right);
            open[next].push(left);
            continue;
        }
        const std::uint32_t word = evidence.tree(next).word_at(at.begin);
        if (!seen.emplace(word, true).second) continue;
        double probability = 0;
        for (std::size_t t = 0; t < trees.size(); ++t) probability += weights[t] * trees[t].probability(word);
        const std::pair<double, std::uint32_t> one{probability, word};
        found.insert(std::upper_bound(found.begin(), found.end(), one, is_better), one);
    }
    if (found.size() > top) found.resize(top);
    return found;
}

}  // namespace stategram
