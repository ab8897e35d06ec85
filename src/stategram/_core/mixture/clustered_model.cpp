#include "mixture/clustered_model.hpp"

#include <utility>

#include "base/checks.hpp"
#include "base/stepper.hpp"

namespace stategram {

ClusteredModel::ClusteredModel(StateTreeArrays tree, StateTables tables, Matrix<double> weights,
                               In<double> frequencies, In<std::uint32_t> categories, In<double> word_probs)
    : tree_(std::move(tree)),
      tables_(std::move(tables)),
      weights_(std::move(weights)),
      frequencies_(std::move(frequencies)),
      categories_(std::move(categories)),
      word_probs_(std::move(word_probs)) {
    const std::size_t depth = tables_.size(), n_categories = frequencies_.size();
    require(depth > 0 && tree_.maps.size() == depth && tree_.distances.size() == depth &&
                tree_.values.size() == depth && tree_.first_child.size() + 1 == depth &&
                tree_.states.size() == depth && tree_.buckets.size() == depth &&
                tree_.inherited.size() == depth && weights_.rows == depth,
            "the levels do not fit the context");
    require(categories_.size() == word_probs_.size() && categories_.size() > end_id,
            "each word needs a category, and a probability in it");
    check_below(categories_, n_categories, "a category has no frequency");
    for (const auto& table : tables_) require(table != nullptr, "a level has no table");
    const std::size_t n_states = tables_[0]->n_states();
    for (std::size_t level = 0; level < depth; ++level) {
        const std::size_t nodes = tree_.values[level].size();
        require(tables_[level]->n_states() == n_states && tables_[level]->n_categories() == n_categories,
                "a level needs a probability for each state and each category");
        require(tree_.maps[level].size() == n_words() && tree_.distances[level] >= 1 &&
                    tree_.distances[level] <= INT32_MAX,
                "a value is not that of a word before, for all words");
        require(tree_.states[level].size() == nodes && tree_.buckets[level].size() == nodes,
                "each node needs a state and a count bucket");
        check_below(tree_.states[level], n_states, "a state has no probabilities");
        require(tree_.inherited[level].size() == (level > 0 ? n_states : 1),
                "contexts that are not known have no state");
        check_below(tree_.inherited[level], n_states, "a state has no probabilities");
        for (std::size_t node = 0; node < nodes; ++node)
            require(tree_.buckets[level][node] < n_buckets(), "a count bucket has no weight");
        if (level > 0) {
            const In<std::uint32_t>& first = tree_.first_child[level - 1];
            const std::size_t parents = tree_.values[level - 1].size();
            require(first.size() == parents + 1, "the children of a node are not in the tree");
            check_children(first.data(), 0, parents, nodes);
        }
        const auto distance = static_cast<std::size_t>(tree_.distances[level]);
        distances_.push_back(distance);
        width_ = std::max(width_, distance);
    }
    const std::uint32_t *begin = tree_.values[0].data(), *end = begin + tree_.values[0].size();
    for (std::size_t id = 0; id < n_words(); ++id) {
        const std::uint32_t value = tree_.maps[0][id], *found = std::lower_bound(begin, end, value);
        first_nodes_.push_back(found != end && *found == value ? static_cast<std::uint32_t>(found - begin)
                                                               : none);
    }
}

void ClusteredModel::prefetch(const ContextState* levels, std::uint32_t id) const {
    for (std::size_t level = 0; level < depth(); ++level)
        tables_[level]->prefetch(levels[level].state, categories_[id]);
}

}  // namespace stategram
