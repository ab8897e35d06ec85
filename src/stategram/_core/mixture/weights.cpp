// The weights of a mixture by expectation maximisation.
//
//     w'_i = sum_e w_i p_i(e) / m(e) / n,    m(e) = sum_i w_i p_i(e)
//
// Each step makes the likelihood greater or leaves it (Dempster, Laird and Rubin 1977). It is concave, and by
// Jensen's inequality no weights at all can gain more than log(max_i w'_i / w_i) an event: that is when to
// stop.
//
// Events are summed by slices of fixed size, and slices in their order: any number of threads gives the same
// bytes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/simd.hpp"
#include "base/threads.hpp"
#include "mixture/kernels.hpp"

namespace stategram {
namespace {

constexpr std::size_t slice_size = 2048;
constexpr std::size_t width = 16;   // sums that run side by side
constexpr std::size_t stretch = 4;  // sums m of 1e-77 and more can be multiplied before their log is taken

// sums[i] = sum_e p_i(e) / m(e); gives sum_e log m(e). Rows of p are `row` apart, there are `size` events.
STATEGRAM_CLONES
double sum_slice(const float* STATEGRAM_RESTRICT p, std::size_t row, std::size_t n_parts, std::size_t size,
                 const double* STATEGRAM_RESTRICT weights, double* STATEGRAM_RESTRICT sums) {
    double mixed[slice_size];
    for (std::size_t e = 0; e < size; ++e) mixed[e] = weights[0] * double{p[e]};
    for (std::size_t i = 1; i < n_parts; ++i) {
        const float* STATEGRAM_RESTRICT of_part = p + i * row;
        const double weight = weights[i];
        for (std::size_t e = 0; e < size; ++e) mixed[e] += weight * double{of_part[e]};
    }
    double log_sum = 0;
    std::size_t done = 0;
    for (; done + width * stretch <= size; done += width * stretch) {
        double product[width];
        for (std::size_t k = 0; k < width; ++k)
            product[k] = mixed[done + k] * mixed[done + width + k] * mixed[done + 2 * width + k] *
                         mixed[done + 3 * width + k];
        for (std::size_t k = 0; k < width; ++k) log_sum += std::log(product[k]);
    }
    for (; done < size; ++done) log_sum += std::log(mixed[done]);
    for (std::size_t e = 0; e < size; ++e) mixed[e] = 1.0 / mixed[e];
    for (std::size_t i = 0; i < n_parts; ++i) {
        const float* STATEGRAM_RESTRICT of_part = p + i * row;
        double lanes[width] = {};
        std::size_t e = 0;
        for (; e + width <= size; e += width)
            for (std::size_t k = 0; k < width; ++k) lanes[k] += double{of_part[e + k]} * mixed[e + k];
        for (; e < size; ++e) lanes[0] += double{of_part[e]} * mixed[e];
        double sum = 0;
        for (double lane : lanes) sum += lane;
        sums[i] = sum;
    }
    return log_sum;
}

class WeightEstimator {
 public:
    WeightEstimator(const float* ratios, std::size_t n_parts, std::size_t n_events, const double* first)
        : weights(first, first + n_parts), ratios_(ratios), n_parts_(n_parts), n_events_(n_events) {}

    void run(std::int64_t max_iterations, double tolerance, ThreadPool& pool) {
        while (n_events_ > 0) {
            const std::vector<double> sums = sum_all(pool);
            if (iterations == max_iterations || !take_step(sums, tolerance)) break;
            ++iterations;
        }
    }

    std::vector<double> weights;
    double log_likelihood = 0;
    std::int64_t iterations = 0;

 private:
    std::vector<double> sum_all(ThreadPool& pool) {
        const std::size_t n_slices = (n_events_ + slice_size - 1) / slice_size;
        std::vector<double> of_slices(n_slices * n_parts_), logs(n_slices), sums(n_parts_);
        pool.run(n_slices, [&](std::size_t slice, int) {
            const std::size_t begin = slice * slice_size;
            logs[slice] =
                sum_slice(ratios_ + begin, n_events_, n_parts_, std::min(slice_size, n_events_ - begin),
                          weights.data(), of_slices.data() + slice * n_parts_);
        });
        log_likelihood = 0;
        for (std::size_t slice = 0; slice < n_slices; ++slice) {
            log_likelihood += logs[slice];
            for (std::size_t i = 0; i < n_parts_; ++i) sums[i] += of_slices[slice * n_parts_ + i];
        }
        return sums;
    }

    // Whether there was something to gain; else the weights that the likelihood was computed for stay.
    bool take_step(const std::vector<double>& sums, double tolerance) {
        std::vector<double> next(n_parts_);
        double total = 0, greatest = 0;
        for (std::size_t i = 0; i < n_parts_; ++i) {
            if (!(weights[i] > 0)) continue;
            next[i] = weights[i] * sums[i] / static_cast<double>(n_events_);
            greatest = std::max(greatest, next[i] / weights[i]);
            total += next[i];
        }
        if (!(std::log(greatest) > tolerance) || !(total > 0)) return false;
        for (std::size_t i = 0; i < n_parts_; ++i) weights[i] = next[i] / total;
        return true;
    }

    const float* ratios_;
    std::size_t n_parts_, n_events_;
};

}  // namespace

std::tuple<Out<double>, double, std::int64_t> em_weights(Matrix<float> ratios, In<double> weights,
                                                         std::int64_t max_iterations, double tolerance,
                                                         int threads) {
    const std::size_t n_parts = ratios.rows, n_events = ratios.columns;
    require(n_parts > 0 && weights.size() == n_parts, "there must be a weight for each part");
    require(tolerance > 0 && max_iterations >= 0, "iterations must not be negative, and tolerance above 0");
    WeightEstimator estimator(ratios.data(), n_parts, n_events, weights.data());
    ThreadPool pool(threads);
    estimator.run(max_iterations, tolerance, pool);
    return {std::move(estimator.weights), estimator.log_likelihood, estimator.iterations};
}

}  // namespace stategram
