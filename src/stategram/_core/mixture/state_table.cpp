#include "mixture/state_table.hpp"

#include <functional>
#include <utility>

#include "base/checks.hpp"

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
    std::vector<std::size_t> in_full;
    for (std::size_t state = 0; state < n_states(); ++state) {
        const std::uint32_t* begin = columns_.data() + offsets_[state];
        const std::uint32_t* end = columns_.data() + offsets_[state + 1];
        require(std::adjacent_find(begin, end, std::greater_equal<>()) == end,
                "the categories of a state do not rise");
        if (static_cast<std::size_t>(end - begin) * cells_per_entry >= n_categories())
            in_full.push_back(state);
    }
    full_.resize(in_full.size() * n_categories());
    rows_.assign(n_states(), nullptr);
    double* row = full_.data();
    for (const std::size_t state : in_full) {
        for (std::size_t category = 0; category < n_categories(); ++category)
            row[category] = taken_[state] * fractions_[category];
        for (auto cell = static_cast<std::size_t>(offsets_[state]);
             cell < static_cast<std::size_t>(offsets_[state + 1]); ++cell)
            row[columns_[cell]] += probs_[cell];
        rows_[state] = row;
        row += n_categories();
    }
}

}  // namespace stategram
