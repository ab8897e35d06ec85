#include "counts/state_tree.hpp"

#include <utility>

#include "base/checks.hpp"

namespace stategram {

StateTree::StateTree(Levels maps, std::vector<std::int64_t> distances, Levels values, Levels first_child,
                     Levels states, std::vector<In<std::uint8_t>> buckets, Levels inherited)
    : maps_(std::move(maps)),
      values_(std::move(values)),
      first_child_(std::move(first_child)),
      states_(std::move(states)),
      inherited_(std::move(inherited)),
      buckets_(std::move(buckets)) {
    const std::size_t n_levels = distances.size();
    require(n_levels > 0 && n_levels <= most_levels && maps_.size() == n_levels &&
                values_.size() == n_levels && first_child_.size() + 1 == n_levels &&
                states_.size() == n_levels && buckets_.size() == n_levels && inherited_.size() == n_levels,
            "the levels do not fit the context");
    std::size_t n_above = 1;
    for (std::size_t level = 0; level < n_levels; ++level) {
        const std::size_t nodes = values_[level].size();
        require(
            maps_[level].size() == maps_[0].size() && distances[level] >= 1 && distances[level] <= INT32_MAX,
            "a value is not that of a word before, for all words");
        require(states_[level].size() == nodes && buckets_[level].size() == nodes,
                "each node needs a state and a count bucket");
        require(inherited_[level].size() >= n_above, "contexts that are not known have no state");
        n_above = 1;
        for (const In<std::uint32_t>& of : {states_[level], inherited_[level]})
            for (const std::uint32_t state : of) n_above = std::max(n_above, std::size_t{state} + 1);
        n_states_ = std::max(n_states_, n_above);
        for (const std::uint8_t bucket : buckets_[level])
            n_buckets_ = std::max(n_buckets_, std::size_t{bucket} + 1);
        if (level > 0) {
            const In<std::uint32_t>& first = first_child_[level - 1];
            const std::size_t parents = values_[level - 1].size();
            require(first.size() == parents + 1, "the children of a node are not in the tree");
            check_children(first.data(), 0, parents, nodes);
        }
        distances_.push_back(static_cast<std::size_t>(distances[level]));
        width_ = std::max(width_, distances_.back());
    }
    const std::uint32_t *begin = values_[0].begin(), *end = values_[0].end();
    for (const std::uint32_t value : maps_[0]) {
        const std::uint32_t* const found = std::lower_bound(begin, end, value);
        first_nodes_.push_back(found != end && *found == value ? static_cast<std::uint32_t>(found - begin)
                                                               : none);
    }
}

}  // namespace stategram
