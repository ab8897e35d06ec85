// The log-likelihood of held-out events under a gate, and its gradient.
//
//     w_i(e) = prod_t f_t,i(e) / sum_j prod_t f_t,j(e),    L = sum_e log sum_i w_i(e) p_i(e)
//     dL / d log f_r,i = sum over events e that look row r up of  w_i(e) p_i(e) / m(e) - w_i(e)
//
// f_t(e): the row of table t that event e looks up; m(e) = sum_i w_i(e) p_i(e).
//
// The number of slices is fixed, and their sums are added in order: any number of threads gives the same
// bytes.
#include "mixture/gate_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/checks.hpp"
#include "base/simd.hpp"

namespace stategram {
namespace {

constexpr std::size_t n_slices = 16;

struct Problem {
    const float* ratios;        // of each event and part
    const std::uint32_t* rows;  // of each table and event
    const double* factors;      // of each row and part
    std::size_t width;          // parts, and zeros up to a width that fits registers
    std::size_t n_tables, n_events;
};

// Returns the log-likelihood of the events [begin, end), and adds to the gradient. With a `fixed` width the
// loops over parts become a few vector instructions.
template <std::size_t fixed>
STATEGRAM_INLINE double sum_events(const Problem& of, std::size_t begin, std::size_t end,
                                   double* STATEGRAM_RESTRICT gradient) {
    const std::size_t width = fixed ? fixed : of.width;
    std::vector<double> scratch(2 * width);
    double* STATEGRAM_RESTRICT weights = scratch.data();
    double* STATEGRAM_RESTRICT changes = weights + width;
    double log_sum = 0;
    for (std::size_t e = begin; e < end; ++e) {
        for (std::size_t i = 0; i < width; ++i) weights[i] = 1.0;
        for (std::size_t t = 0; t < of.n_tables; ++t) {
            const double* STATEGRAM_RESTRICT row = of.factors + of.rows[t * of.n_events + e] * width;
            for (std::size_t i = 0; i < width; ++i) weights[i] *= row[i];
        }
        const float* STATEGRAM_RESTRICT ratios = of.ratios + e * width;
        for (std::size_t i = 0; i < width; ++i) changes[i] = weights[i] * double{ratios[i]};
        double all = 0, mixed = 0;
        for (std::size_t i = 0; i < width; ++i) all += weights[i];
        for (std::size_t i = 0; i < width; ++i) mixed += changes[i];
        log_sum += std::log(mixed / all);
        const double of_mixed = 1 / mixed, of_all = 1 / all;
        for (std::size_t i = 0; i < width; ++i) changes[i] = changes[i] * of_mixed - weights[i] * of_all;
        for (std::size_t t = 0; t < of.n_tables; ++t) {
            double* STATEGRAM_RESTRICT row = gradient + of.rows[t * of.n_events + e] * width;
            for (std::size_t i = 0; i < width; ++i) row[i] += changes[i];
        }
    }
    return log_sum;
}

STATEGRAM_CLONES
double sum_of_4(const Problem& of, std::size_t begin, std::size_t end, double* gradient) {
    return sum_events<4>(of, begin, end, gradient);
}

STATEGRAM_CLONES
double sum_of_8(const Problem& of, std::size_t begin, std::size_t end, double* gradient) {
    return sum_events<8>(of, begin, end, gradient);
}

STATEGRAM_CLONES
double sum_of_many(const Problem& of, std::size_t begin, std::size_t end, double* gradient) {
    return sum_events<0>(of, begin, end, gradient);
}

double sum_slice(const Problem& of, std::size_t begin, std::size_t end, double* gradient) {
    if (of.width == 4) return sum_of_4(of, begin, end, gradient);
    if (of.width == 8) return sum_of_8(of, begin, end, gradient);
    return sum_of_many(of, begin, end, gradient);
}

// Puts zeros after each row of `n` numbers.
template <typename T>
std::vector<T> widened(const T* numbers, std::size_t rows, std::size_t n, std::size_t width) {
    std::vector<T> wide(rows * width);
    for (std::size_t row = 0; row < rows; ++row) std::copy_n(numbers + row * n, n, wide.data() + row * width);
    return wide;
}

}  // namespace

GateLikelihood::GateLikelihood(Matrix<float> ratios, Matrix<std::uint32_t> rows, std::size_t n_rows,
                               int threads)
    : n_parts_(ratios.columns),
      n_events_(ratios.rows),
      n_tables_(rows.rows),
      n_rows_(n_rows),
      pool_(threads) {
    require(n_parts_ > 0 && n_tables_ > 0 && rows.columns == n_events_,
            "each event needs a ratio of each part and a row of each table");
    // Their product is the size of an array.
    require(n_rows <= UINT32_MAX && n_parts_ <= UINT16_MAX, "there are too many rows or parts");
    rows_.assign(rows.data(), rows.data() + rows.size());
    for (const std::uint32_t row : rows_) require(row < n_rows, "an event looks up a row that is missing");
    width_ = n_parts_ <= 4 ? 4 : (n_parts_ + 7) / 8 * 8;
    ratios_ = widened(ratios.data(), n_events_, n_parts_, width_);
}

std::tuple<double, Out<double>> GateLikelihood::value_and_gradient(In<double> log_factors) {
    require(log_factors.size() == n_rows_ * n_parts_, "each row needs a factor for each part");
    std::vector<double> gradient(n_rows_ * n_parts_);
    double log_sum = 0;
    std::vector<double> factors(log_factors.size());
    for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = std::exp(log_factors[i]);
    factors = widened(factors.data(), n_rows_, n_parts_, width_);
    const Problem problem{ratios_.data(), rows_.data(), factors.data(), width_, n_tables_, n_events_};
    std::vector<std::vector<double>> gradients(n_slices);
    std::vector<double> logs(n_slices);
    pool_.run(n_slices, [&](std::size_t slice, int) {
        gradients[slice].assign(n_rows_ * width_, 0.0);
        logs[slice] = sum_slice(problem, n_events_ * slice / n_slices, n_events_ * (slice + 1) / n_slices,
                                gradients[slice].data());
    });
    for (std::size_t slice = 0; slice < n_slices; ++slice) {
        log_sum += logs[slice];
        for (std::size_t row = 0; row < n_rows_; ++row)
            for (std::size_t i = 0; i < n_parts_; ++i)
                gradient[row * n_parts_ + i] += gradients[slice][row * width_ + i];
    }
    return {log_sum, std::move(gradient)};
}

}  // namespace stategram
