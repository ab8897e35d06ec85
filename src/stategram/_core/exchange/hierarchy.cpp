// A binary hierarchy over classes: merge, again and again, the two classes whose merger loses least average
// mutual information (Brown et al., 1992). Exact, but most pairs are never looked at.
//
// N(a,b) are the class bigrams, f(x) = x log x, and the criterion is
//
//     F = sum_ab f(N(a,b)) - sum_a f(N(a,.)) - sum_b f(N(.,b))
//
// Let L(i,j) be the fall of F when i and j merge. Three facts give a bound from below on every L, kept
// current in O(k) a merger, so that only the few pairs whose bound is below the best exact loss are computed:
//
// 1. The mutual information of a coarser table is smaller, and so is its fall: see coarse_bounds.hpp. This
//    starts the bounds of classes and of mergers.
// 2. When a and b merge, L(i,j) of another pair falls by the mutual information (times the mass) of the 2 x 2
//    tables N({i,j},{a,b}) and N({a,b},{i,j}). Mutual information is the least divergence of the two rows
//    from any common distribution q, hence it is at most r(i) + r(j) with
//        r(i) = f(N(i,a)) + f(N(i,b)) - f(N(i,a)+N(i,b)) - N(i,a) log q(a) - N(i,b) log q(b),
//    and the fall of a pair is bounded by what each of its ends contributed to the loss L(a,b). So the sums
//    drift(i) of these terms over all mergers bound all pairs at once:
//        L(i,j) now >= L(i,j) then + drift(i) then + drift(j) then - drift(i) now - drift(j) now.
// 3. Merging three classes in either order loses the same: L(ab,j) >= max(L(a,j), L(b,j)) - L(a,b).
#include "exchange/hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/simd.hpp"
#include "exchange/x_log_x.hpp"

namespace stategram {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t lanes = 8;

// sum_c f(x[c] + y[c]). The order of the additions is fixed by the eight lanes, whatever the instruction set.
STATEGRAM_CLONES double sum_f(const double* x, const double* y, std::size_t size) {
    constexpr std::size_t block = 64;
    double lane[lanes] = {};
    double value[block];
    std::size_t begin = 0;
    for (; begin + block <= size; begin += block) {
        for (std::size_t c = 0; c < block; ++c) value[c] = x_log_x(x[begin + c] + y[begin + c]);
        for (std::size_t c = 0; c < block; c += lanes)
            for (std::size_t l = 0; l < lanes; ++l) lane[l] += value[c + l];
    }
    for (; begin < size; ++begin) lane[begin % lanes] += x_log_x(x[begin] + y[begin]);
    return std::accumulate(lane, lane + lanes, 0.0);
}

// min_j (bound[j] - drift[j]); infinity when there is none.
STATEGRAM_CLONES double smallest_difference(const double* bound, const double* drift, std::size_t size) {
    double lane[lanes];
    std::fill(lane, lane + lanes, infinity);
    std::size_t j = 0;
    for (; j + lanes <= size; j += lanes)
        for (std::size_t l = 0; l < lanes; ++l) {
            double difference = bound[j + l] - drift[j + l];
            lane[l] = difference < lane[l] ? difference : lane[l];
        }
    for (; j < size; ++j) lane[0] = std::min(lane[0], bound[j] - drift[j]);
    return *std::min_element(lane, lane + lanes);
}

template <typename T>
void keep(std::vector<T>& values, const std::vector<std::size_t>& kept) {
    for (std::size_t i = 0; i < kept.size(); ++i) values[i] = values[kept[i]];
    values.resize(kept.size());
}

std::size_t checked_size(const Matrix<std::int64_t>& counts, std::size_t mergeable) {
    if (counts.rows != counts.columns)
        throw std::invalid_argument("the class bigram counts are not a square");
    if (mergeable > counts.rows) throw std::invalid_argument("more mergeable classes than rows");
    return counts.rows;
}

}  // namespace

HierarchyBuilder::HierarchyBuilder(Matrix<std::int64_t> counts, std::size_t mergeable)
    : slots_(mergeable),
      size_(checked_size(counts, mergeable)),
      alive_(mergeable),
      rows_(size_, size_),
      columns_(size_, size_),
      row_f_(size_),
      column_f_(size_),
      left_(size_),
      right_(size_),
      name_(mergeable),
      bound_(mergeable, mergeable),
      drift_(mergeable, 0.0),
      row_best_(mergeable, infinity),
      row_where_(mergeable, 0),
      row_read_(mergeable, 0),
      leaves_(mergeable) {
    const std::size_t size = size_;
    double total = 0.0;
    for (std::size_t a = 0; a < size; ++a)
        for (std::size_t b = 0; b < size; ++b) {
            if (counts[a * size + b] < 0) throw std::invalid_argument("a count is negative");
            const double count = static_cast<double>(counts[a * size + b]);
            rows_[a][b] = columns_[b][a] = count;
            left_[a] += count;
            right_[b] += count;
            total += count;
        }
    if (total > 9007199254740992.0) throw std::invalid_argument("more than 2^53 events");
    const std::vector<double> zeros(size, 0.0);
    for (std::size_t a = 0; a < size; ++a) {
        row_f_[a] = sum_f(rows_[a], zeros.data(), size);
        column_f_[a] = sum_f(columns_[a], zeros.data(), size);
    }
    std::iota(name_.begin(), name_.end(), std::int64_t{0});
    // A loss is a difference of sums as large as f(total): below this, rounding would speak.
    tie_ = 1e-12 * (1.0 + x_log_x(total));
    coarse_.emplace(rows_, columns_, left_, right_, slots_, size_);
    start_bounds();
}

double HierarchyBuilder::loss(std::size_t a, std::size_t b) const {
    const double aa = rows_[a][a], ab = rows_[a][b], ba = rows_[b][a], bb = rows_[b][b];
    const double before = (row_f_[a] + row_f_[b]) + (column_f_[a] + column_f_[b]) -
                          (x_log_x(aa) + x_log_x(ab) + x_log_x(ba) + x_log_x(bb));
    // The four corner cells become one; both sums, along rows and along columns, hold them as two.
    const double after = (sum_f(rows_[a], rows_[b], size_) - x_log_x(aa + ba) - x_log_x(ab + bb)) +
                         (sum_f(columns_[a], columns_[b], size_) - x_log_x(aa + ab) - x_log_x(ba + bb)) +
                         x_log_x(aa + ab + ba + bb);
    return std::max(0.0, (before - after) - joined(left_[a], left_[b]) - joined(right_[a], right_[b]));
}

void HierarchyBuilder::start_bounds() {
    for (std::size_t a = 0; a < slots_; ++a) {
        std::fill(bound_[a], bound_[a] + a + 1, infinity);
        for (std::size_t b = a + 1; b < slots_; ++b) bound_[a][b] = coarse_->bound(a, b);
        read_row(a);
    }
}

void HierarchyBuilder::read_row(std::size_t a) {
    const double* bound = bound_[a];
    const double best = smallest_difference(bound + a + 1, drift_.data() + a + 1, slots_ - a - 1);
    row_best_[a] = best + most_drift_;
    row_read_[a] = losses.size();
    if (best == infinity) return;
    row_where_[a] = a + 1;
    while (bound[row_where_[a]] - drift_[row_where_[a]] != best) ++row_where_[a];
}

// A class without events costs nothing and ties with everything: the first such pair is found without looking
// at the others.
std::optional<HierarchyBuilder::Pair> HierarchyBuilder::empty_pair() {
    std::size_t first = slots_, empty = slots_;
    for (std::size_t i = 0; i < slots_ && empty == slots_; ++i) {
        if (name_[i] < 0) continue;
        if (first < slots_ && left_[first] + right_[first] == 0.0) empty = i;
        if (left_[i] + right_[i] == 0.0 && first < slots_) empty = i;
        if (first == slots_) first = i;
    }
    if (empty == slots_) return std::nullopt;
    for (std::size_t j = first + 1; j < empty; ++j) {
        if (name_[j] < 0 || bound_[first][j] - drift_[first] - drift_[j] > 2.0 * tie_) continue;
        const double exact = loss(first, j);
        bound_[first][j] = exact + drift_[first] + drift_[j];
        if (exact <= tie_) return Pair{first, j, exact};
    }
    return Pair{first, empty, 0.0};
}

// Looks at pairs in the order of their bounds until no bound can beat, or tie with, the best exact loss.
HierarchyBuilder::Pair HierarchyBuilder::best_pair() {
    if (const auto pair = empty_pair()) return *pair;
    std::vector<Pair> exact;
    double best = infinity;
    for (;;) {
        const double bound = smallest_difference(row_best_.data(), drift_.data(), slots_);
        if (bound - most_drift_ > best + 2.0 * tie_ || bound == infinity) break;
        std::size_t a = 0;
        while (row_best_[a] - drift_[a] != bound) ++a;
        if (row_read_[a] != losses.size()) {
            read_row(a);
            continue;
        }
        const std::size_t b = row_where_[a];
        exact.push_back({a, b, loss(a, b)});
        best = std::min(best, exact.back().loss);
        bound_[a][b] = infinity;  // not to be looked at again in this step
        read_row(a);
    }
    Pair chosen{slots_, slots_, infinity};
    for (const Pair& pair : exact) {
        bound_[pair.a][pair.b] = pair.loss + drift_[pair.a] + drift_[pair.b];
        row_best_[pair.a] = std::min(row_best_[pair.a], pair.loss + drift_[pair.a] + most_drift_);
        if (pair.loss <= best + tie_ && (pair.a < chosen.a || (pair.a == chosen.a && pair.b < chosen.b)))
            chosen = pair;
    }
    return chosen;
}

// Fact 2, before the counts are joined. Gives the growth of each drift.
std::vector<double> HierarchyBuilder::add_drift(std::size_t a, std::size_t b) {
    std::vector<double> grown(slots_, 0.0);
    for (const Table* table : {&columns_, &rows_}) {
        const double *x = (*table)[a], *y = (*table)[b];
        double all_x = 0.0, all_y = 0.0;
        for (std::size_t i = 0; i < slots_; ++i) {
            if (i == a || i == b) continue;
            all_x += x[i];
            all_y += y[i];
        }
        if (all_x == 0.0 || all_y == 0.0) continue;  // every r(i) is zero
        const double log_x = std::log(all_x / (all_x + all_y)), log_y = std::log(all_y / (all_x + all_y));
        for (std::size_t i = 0; i < slots_; ++i)
            grown[i] += std::max(0.0, joined(x[i], y[i]) - x[i] * log_x - y[i] * log_y);
    }
    grown[a] = grown[b] = 0.0;
    for (std::size_t i = 0; i < slots_; ++i) drift_[i] += grown[i];
    most_drift_ += *std::max_element(grown.begin(), grown.end());
    return grown;
}

// Facts 3 and 1, the first with the bounds as they were before the drifts have grown.
void HierarchyBuilder::join_bounds(const Pair& pair, const std::vector<double>& grown) {
    const auto [a, b, least] = pair;
    auto at = [&](std::size_t i, std::size_t j) -> double& { return i < j ? bound_[i][j] : bound_[j][i]; };
    for (std::size_t j = 0; j < slots_; ++j) {
        if (j == a || j == b || name_[j] < 0) continue;
        const double larger = std::max(at(a, j) - drift_[a], at(b, j) - drift_[b]);
        const double now = larger - (drift_[j] - grown[j]) - least;
        at(a, j) =
            std::max(coarse_->bound(a, j), now) + drift_[j];  // the drift of the merger starts from zero
        at(b, j) = infinity;
        if (j < a) row_best_[j] = std::min(row_best_[j], at(a, j) + most_drift_);
    }
    at(a, b) = infinity;
    drift_[a] = drift_[b] = 0.0;
    row_best_[a] = -infinity;
    row_best_[b] = infinity;
}

void HierarchyBuilder::join_counts(std::size_t a, std::size_t b) {
    for (std::size_t c = 0; c < size_; ++c) {
        row_f_[c] -= joined(columns_[a][c], columns_[b][c]);
        column_f_[c] -= joined(rows_[a][c], rows_[b][c]);
    }
    for (Table* table : {&rows_, &columns_}) {
        double *into = (*table)[a], *from = (*table)[b];
        for (std::size_t c = 0; c < size_; ++c) {
            into[c] += from[c];
            from[c] = 0.0;
        }
        for (std::size_t r = 0; r < size_; ++r) {
            (*table)[r][a] += (*table)[r][b];
            (*table)[r][b] = 0.0;
        }
    }
    const std::vector<double> zeros(size_, 0.0);
    row_f_[a] = sum_f(rows_[a], zeros.data(), size_);
    column_f_[a] = sum_f(columns_[a], zeros.data(), size_);
    row_f_[b] = column_f_[b] = 0.0;
    left_[a] += left_[b];
    right_[a] += right_[b];
    left_[b] = right_[b] = 0.0;
}

void HierarchyBuilder::merge(const Pair& pair) {
    const auto [a, b, least] = pair;
    const std::vector<double> grown = add_drift(a, b);
    coarse_->join(rows_, columns_, a, b);
    join_counts(a, b);
    join_bounds(pair, grown);
    merges.push_back(name_[a]);
    merges.push_back(name_[b]);
    name_[a] = static_cast<std::int64_t>(leaves_ + losses.size());
    name_[b] = -1;
    losses.push_back(least);
    --alive_;
    if (alive_ < slots_ - slots_ / 8) compact();
}

void HierarchyBuilder::compact() {
    std::vector<std::size_t> kept;
    for (std::size_t slot = 0; slot < slots_; ++slot)
        if (name_[slot] >= 0) kept.push_back(slot);
    bound_.keep(kept);
    keep(name_, kept);
    keep(drift_, kept);
    keep(row_best_, kept);
    keep(row_where_, kept);
    keep(row_read_, kept);
    for (std::size_t slot = slots_; slot < size_; ++slot) kept.push_back(slot);
    rows_.keep(kept);
    columns_.keep(kept);
    keep(row_f_, kept);
    keep(column_f_, kept);
    keep(left_, kept);
    keep(right_, kept);
    slots_ = name_.size();
    size_ = kept.size();
    coarse_.emplace(rows_, columns_, left_, right_, slots_, size_);
    // The columns have moved: row_where_ is read again with its row.
    std::fill(row_read_.begin(), row_read_.end(), leaves_);
}

std::size_t HierarchyBuilder::run(std::size_t most) {
    for (; most > 0 && alive_ > 1; --most) merge(best_pair());
    return alive_ > 0 ? alive_ - 1 : 0;
}

}  // namespace stategram
