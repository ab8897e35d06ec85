#include "exchange/coarse_bounds.hpp"

namespace stategram {
namespace {

constexpr std::size_t groups = CoarseBounds::groups;
constexpr std::size_t extras = 8;

// sum_g f(x[g] + y[g]) + f(z[g] + w[g]), and f of a few single values in place.
STATEGRAM_CLONES double sum_groups(const double* x, const double* y, const double* z, const double* w,
                                   double* extra) {
    double value[groups];
    for (std::size_t g = 0; g < groups; ++g) value[g] = x_log_x(x[g] + y[g]) + x_log_x(z[g] + w[g]);
    for (std::size_t i = 0; i < extras; ++i) extra[i] = x_log_x(extra[i]);
    for (std::size_t half = groups / 2; half > 0; half /= 2)
        for (std::size_t g = 0; g < half; ++g) value[g] += value[g + half];
    return value[0];
}

}  // namespace

CoarseBounds::CoarseBounds(const Table& rows, const Table& columns, const std::vector<double>& left,
                           const std::vector<double>& right, std::size_t slots, std::size_t size)
    : slots_(slots),
      group_(size),
      rows_(slots, groups),
      columns_(slots, groups),
      left_(left),
      right_(right),
      fixed_(slots) {
    // The largest classes stay apart, all others share a quarter of the groups.
    constexpr std::size_t apart = groups * 3 / 4;
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return left[a] + right[a] > left[b] + right[b]; });
    for (std::size_t place = 0; place < size; ++place)
        group_[order[place]] = place < apart ? place : apart + place % (groups - apart);
    for (std::size_t a = 0; a < slots; ++a) {
        for (std::size_t b = 0; b < size; ++b) {
            rows_[a][group_[b]] += rows[a][b];
            columns_[a][group_[b]] += columns[a][b];
        }
        sum_cells(a);
    }
}

void CoarseBounds::sum_cells(std::size_t a) {
    const double zeros[groups] = {};
    double margins[extras] = {left_[a], right_[a]};
    fixed_[a] = sum_groups(rows_[a], zeros, columns_[a], zeros, margins) - margins[0] - margins[1];
}

double CoarseBounds::bound(std::size_t a, std::size_t b) const {
    const double *x = columns_[a], *y = columns_[b];
    const std::size_t p = group_[a], q = group_[b];
    double extra[extras] = {
        left_[a] + left_[b], right_[a] + right_[b], x[p] + x[q], y[p] + y[q],
        x[p] + y[p],         x[q] + y[q],           0.0,         x[p] + x[q] + y[p] + y[q]};
    double fall = fixed_[a] + fixed_[b] - sum_groups(rows_[a], rows_[b], x, y, extra) + extra[0] + extra[1];
    if (p != q) {
        fall += (extra[2] + extra[3] - extra[7]) + (extra[4] + extra[5]);
        fall -= (x_log_x(x[p]) + x_log_x(y[p])) + (x_log_x(x[q]) + x_log_x(y[q]));
    }
    return std::max(0.0, fall);
}

void CoarseBounds::join(const Table& rows, const Table& columns, std::size_t a, std::size_t b) {
    const std::size_t p = group_[a], q = group_[b];
    if (p != q)
        // Class b moves to the group of a, for otherwise their common column would lie in two groups.
        for (auto [coarse, counts] : {std::pair{&rows_, &columns}, std::pair{&columns_, &rows}})
            for (std::size_t i = 0; i < slots_; ++i) {
                const double moved = (*counts)[b][i];
                if (moved == 0.0) continue;
                double* own = (*coarse)[i];
                fixed_[i] -= x_log_x(own[p]) + x_log_x(own[q]);
                own[p] += moved;
                own[q] -= moved;
                fixed_[i] += x_log_x(own[p]) + x_log_x(own[q]);
            }
    for (Table* coarse : {&rows_, &columns_})
        for (std::size_t g = 0; g < groups; ++g) {
            (*coarse)[a][g] += (*coarse)[b][g];
            (*coarse)[b][g] = 0.0;
        }
    left_[a] += left_[b];
    right_[a] += right_[b];
    left_[b] = right_[b] = 0.0;
    group_[b] = p;
    sum_cells(a);
    sum_cells(b);
}

}  // namespace stategram
