// The discounts of counts at nodes, from how many sides of nodes have a count of 1, 2, 3 and 4.
#include <algorithm>
#include <utility>

#include "base/checks.hpp"
#include "word_tree/evidence.hpp"

namespace stategram {

std::array<float, 3> TreeEvidence::node_discounts(std::size_t slot, std::size_t tree_number,
                                                  std::size_t max_ngrams) const {
    const WordTree& tree = trees_[tree_number];
    std::array<double, 5> sides{};  // how many sides of nodes have each small count
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ranked;  // rank, sum of counts up to it
    // The words [begin, end) are below a node at `depth`; the sides above it are counted already.
    const auto count_sides = [&](const auto& self, std::size_t begin, std::size_t end, int depth) -> void {
        const std::uint32_t total = ranked[end - 1].second - (begin == 0 ? 0 : ranked[begin - 1].second);
        const std::uint32_t first = tree.word_at(ranked[begin].first),
                            last = tree.word_at(ranked[end - 1].first);
        const int parting =
            begin + 1 == end ? tree.length(first) : tree.parting(tree.code(first), tree.code(last));
        if (total < 5) sides[total] += parting - depth;
        if (begin + 1 == end) return;
        std::size_t middle = begin + 1;
        while (!WordTree::bit(tree.code(tree.word_at(ranked[middle].first)), parting)) ++middle;
        self(self, begin, middle, parting);
        self(self, middle, end, parting);
    };
    for_each_context(slot, max_ngrams, [&](const FoundList& list) {
        ranked.clear();
        read_ranked(slot, tree_number, list, [&](std::uint32_t rank, const Follower& one) {
            require(ranked.empty() || ranked.back().first < rank, "a list of followers is not in order");
            ranked.emplace_back(rank, one.count + (ranked.empty() ? 0 : ranked.back().second));
        });
        require(!ranked.empty(), "a long list has no words");
        count_sides(count_sides, 0, ranked.size(), 0);
        return ranked.size();
    });
    const double ratio = sides[1] / (sides[1] + 2 * sides[2] + 1e-9);
    const std::array<float, 3> most{0.95F, 1.5F, 2.0F};
    std::array<float, 3> discounts{};
    for (std::size_t k = 1; k <= 3; ++k) {
        const auto number = static_cast<double>(k);
        const double found =
            sides[k] > 0 ? number - (number + 1) * ratio * sides[k + 1] / sides[k] : 0.5 * number;
        discounts[k - 1] = std::min(std::max(static_cast<float>(found), 0.1F), most[k - 1]);
    }
    return discounts;
}

}  // namespace stategram
