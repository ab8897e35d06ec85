#include "mixture/clustered_model.hpp"

#include <utility>

#include "base/checks.hpp"
#include "base/stepper.hpp"

namespace stategram {

ClusteredModel::ClusteredModel(std::shared_ptr<const StateTree> tree, StateTables tables,
                               Matrix<double> weights, In<double> frequencies, In<std::uint32_t> categories,
                               In<double> word_probs)
    : tree_(std::move(tree)),
      tables_(std::move(tables)),
      weights_(std::move(weights)),
      frequencies_(std::move(frequencies)),
      categories_(std::move(categories)),
      word_probs_(std::move(word_probs)) {
    const std::size_t depth = tables_.size(), n_categories = frequencies_.size();
    require(tree_ && depth > 0 && tree_->depth() == depth && weights_.rows == depth,
            "the levels do not fit the context");
    require(categories_.size() == word_probs_.size() && categories_.size() > end_id,
            "each word needs a category, and a probability in it");
    check_below(categories_, n_categories, "a category has no frequency");
    for (const auto& table : tables_) require(table != nullptr, "a level has no table");
    require(tree_->n_words() == n_words(), "a value is not that of a word before, for all words");
    require(tree_->n_states() <= n_states(), "a state has no probabilities");
    require(tree_->n_buckets() <= n_buckets(), "a count bucket has no weight");
    for (std::size_t level = 0; level < depth; ++level) {
        require(tables_[level]->n_states() == n_states() && tables_[level]->n_categories() == n_categories,
                "a level needs a probability for each state and each category");
        require(tree_->n_inherited(level) == (level > 0 ? n_states() : 1),
                "contexts that are not known have no state");
    }
}

void ClusteredModel::prefetch(const ContextState* levels, std::uint32_t id) const {
    for (std::size_t level = 0; level < depth(); ++level)
        tables_[level]->prefetch(levels[level].state, categories_[id]);
}

}  // namespace stategram
