#include "state_table.hpp"

#include <functional>
#include <utility>

#include "checks.hpp"

namespace stategram {

StateTable::StateTable(In<std::int64_t> offsets, In<std::uint32_t> columns, In<double> probs,
                       In<double> taken, In<double> fractions)
    : offsets_(std::move(offsets)),
      columns_(std::move(columns)),
      probs_(std::move(probs)),
      taken_(std::move(taken)),
      fractions_(std::move(fractions)) {
    require(offsets_.size() == n_states() + 1 && probs_.size() == columns_.size(),
            "each cell needs a state, a category and a probability");
    check_offsets(offsets_, columns_.size(), "the cells of states are not in order");
    check_below(columns_, n_categories(), "a category has no fraction");
    rows_.assign(n_states(), in_list);
    std::size_t size = 0;
    for (std::size_t state = 0; state < n_states(); ++state) {
        const std::uint32_t* begin = columns_.data() + offsets_(state);
        const std::uint32_t* end = columns_.data() + offsets_(state + 1);
        require(std::adjacent_find(begin, end, std::greater_equal<>()) == end,
                "the categories of a state do not rise");
        if (static_cast<std::size_t>(end - begin) * cells_per_entry < n_categories()) continue;
        rows_[state] = size;
        size += n_categories();
    }
    full_.resize(size);
    for (std::size_t state = 0; state < n_states(); ++state) {
        if (rows_[state] == in_list) continue;
        double* row = full_.data() + rows_[state];
        for (std::size_t category = 0; category < n_categories(); ++category)
            row[category] = taken_(state) * fractions_(category);
        for (auto cell = offsets_(state); cell < offsets_(state + 1); ++cell)
            row[columns_(static_cast<std::size_t>(cell))] += probs_(static_cast<std::size_t>(cell));
    }
}

}  // namespace stategram
