#include "mixture/gate_tables.hpp"

#include <utility>

namespace stategram {

void GateTables::add(std::vector<std::string> names, std::size_t part, const In<std::int64_t>& begins,
                     const In<double>& edges, const Matrix<double>& rows) {
    const std::size_t n_values = begins.size() - std::min<std::size_t>(begins.size(), 1);
    require(names.size() <= 2 && part < n_parts_, "a table needs up to two features of a part");
    require(n_values > 0 && begins[0] == 0 && edges.size() + n_values < UINT32_MAX,
            "a table needs buckets for each value of a feature");
    for (std::size_t value = 0; value < n_values; ++value)
        require(begins[value] < begins[value + 1], "a value of a feature has no bucket");
    require(begins[n_values] == static_cast<std::int64_t>(edges.size() + n_values),
            "each value of a feature needs one bucket more than edges");
    require(rows.rows == static_cast<std::size_t>(begins[n_values]) && rows.columns == n_parts_,
            "each bucket needs a weight for each part");
    GateTable table{std::move(names),
                    part,
                    {begins.data(), begins.data() + begins.size()},
                    {edges.data(), edges.data() + edges.size()},
                    std::vector<double>(rows.rows * width_)};
    for (std::size_t row = 0; row < rows.rows; ++row)
        std::copy_n(rows.data() + row * n_parts_, n_parts_, table.rows.data() + row * width_);
    tables_.push_back(std::move(table));
}

}  // namespace stategram
