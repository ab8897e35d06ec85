// The weights of a mixture by expectation maximisation.
//
//     w'_i = (sum_e w_i p_i(e) / m(e) + s c_i) / (n + s),    m(e) = sum_i w_i p_i(e)
//
// c: the centre of the prior, s: its strength in events. Each step makes the posterior greater or leaves it
// (Dempster, Laird and Rubin 1977). It is concave, and by Jensen's inequality no weights at all can gain
// more than log(max_i w'_i / w_i) an event: that is when to stop.
//
// Events are summed by slices of fixed size, and slices in their order: any number of threads gives the same
// bytes.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "simd.hpp"
#include "threads.hpp"

namespace stategram {
namespace {

constexpr std::size_t slice_size = 2048;
constexpr std::size_t width = 16;   // sums that run side by side
constexpr std::size_t stretch = 4;  // sums m of 1e-77 and more can be multiplied before their log is taken

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

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

struct Slice {
    std::size_t bucket, begin, end;
};

class WeightEstimator {
 public:
    WeightEstimator(const float* ratios, std::size_t n_parts, std::size_t n_events,
                    const std::int64_t* bucket_starts, std::size_t n_buckets, const double* first_weights,
                    const double* centre, double strength)
        : weights(first_weights, first_weights + n_buckets * n_parts),
          log_likelihoods(n_buckets),
          iterations(n_buckets),
          ratios_(ratios),
          n_parts_(n_parts),
          n_events_(n_events),
          bucket_starts_(bucket_starts),
          centre_(centre),
          strength_(strength) {
        for (std::size_t bucket = 0; bucket < n_buckets; ++bucket)
            if (begin_of(bucket) < begin_of(bucket + 1)) active_.push_back(bucket);
    }

    void run(std::int64_t max_iterations, double tolerance, ThreadPool& pool) {
        for (std::int64_t i = 0; !active_.empty(); ++i) {
            sum_all(pool);
            std::vector<std::size_t> unfinished;
            std::size_t slice = 0;
            for (const std::size_t bucket : active_)
                if (finish_step(bucket, slice, i < max_iterations ? tolerance : HUGE_VAL))
                    unfinished.push_back(bucket);
            active_.swap(unfinished);
        }
    }

    std::vector<double> weights, log_likelihoods;
    std::vector<std::int64_t> iterations;

 private:
    std::size_t begin_of(std::size_t bucket) const {
        return static_cast<std::size_t>(bucket_starts_[bucket]);
    }

    void sum_all(ThreadPool& pool) {
        slices_.clear();
        for (const std::size_t bucket : active_)
            for (std::size_t at = begin_of(bucket); at < begin_of(bucket + 1); at += slice_size)
                slices_.push_back({bucket, at, std::min(at + slice_size, begin_of(bucket + 1))});
        sums_.resize(slices_.size() * n_parts_);
        logs_.resize(slices_.size());
        pool.run(slices_.size(), [&](std::size_t i, int) {
            const Slice& of = slices_[i];
            logs_[i] = sum_slice(ratios_ + of.begin, n_events_, n_parts_, of.end - of.begin,
                                 weights.data() + of.bucket * n_parts_, sums_.data() + i * n_parts_);
        });
    }

    // Takes the step of a bucket whose slices begin at `slice`; whether more could be gained.
    bool finish_step(std::size_t bucket, std::size_t& slice, double tolerance) {
        std::vector<double> sums(n_parts_);
        double log_sum = 0;
        for (; slice < slices_.size() && slices_[slice].bucket == bucket; ++slice) {
            log_sum += logs_[slice];
            for (std::size_t i = 0; i < n_parts_; ++i) sums[i] += sums_[slice * n_parts_ + i];
        }
        log_likelihoods[bucket] = log_sum;
        double* of_bucket = weights.data() + bucket * n_parts_;
        const double all = static_cast<double>(begin_of(bucket + 1) - begin_of(bucket)) + strength_;
        std::vector<double> next(n_parts_);
        double total = 0, greatest = 0;
        for (std::size_t i = 0; i < n_parts_; ++i) {
            if (!(of_bucket[i] > 0)) continue;
            next[i] = (of_bucket[i] * sums[i] + strength_ * centre_[i]) / all;
            greatest = std::max(greatest, next[i] / of_bucket[i]);
            total += next[i];
        }
        // The weights that the likelihood was computed for stay, if there is little to gain.
        if (!(std::log(greatest) > tolerance) || !(total > 0)) return false;
        for (std::size_t i = 0; i < n_parts_; ++i) of_bucket[i] = next[i] / total;
        ++iterations[bucket];
        return true;
    }

    const float* ratios_;
    std::size_t n_parts_, n_events_;
    const std::int64_t* bucket_starts_;
    const double* centre_;
    double strength_;
    std::vector<std::size_t> active_;
    std::vector<Slice> slices_;
    std::vector<double> sums_, logs_;
};

auto em_weights(Matrix ratios, In<std::int64_t> bucket_starts, In<double> weights, In<double> centre,
                double strength, std::int64_t max_iterations, double tolerance, int threads) {
    const std::size_t n_parts = ratios.shape(0), n_events = ratios.shape(1);
    const std::int64_t* const starts_end = bucket_starts.data() + bucket_starts.size();
    if (bucket_starts.size() < 2 || bucket_starts(0) != 0 ||
        starts_end[-1] != static_cast<std::int64_t>(n_events) ||
        !std::is_sorted(bucket_starts.data(), starts_end))
        throw std::invalid_argument("the buckets do not cover the events");
    const std::size_t n_buckets = bucket_starts.size() - 1;
    if (n_parts == 0 || centre.size() != n_parts || weights.size() != n_buckets * n_parts)
        throw std::invalid_argument("there must be a weight for each part and bucket");
    if (!(strength >= 0) || !(tolerance > 0) || max_iterations < 0)
        throw std::invalid_argument("strength and iterations must not be negative, and tolerance above 0");
    WeightEstimator estimator(ratios.data(), n_parts, n_events, bucket_starts.data(), n_buckets,
                              weights.data(), centre.data(), strength);
    {
        nb::gil_scoped_release release;
        ThreadPool pool(threads);
        estimator.run(max_iterations, tolerance, pool);
    }
    return std::tuple(to_numpy(std::move(estimator.weights)), to_numpy(std::move(estimator.log_likelihoods)),
                      to_numpy(std::move(estimator.iterations)));
}

}  // namespace

void register_mixture_weights(nb::module_& m) {
    m.def("em_weights", &em_weights, nb::arg("ratios").noconvert(), nb::arg("bucket_starts").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("centre").noconvert(), nb::arg("strength"),
          nb::arg("max_iterations"), nb::arg("tolerance"), nb::arg("threads"),
          "The weights of a mixture for each bucket, their log-likelihoods, their iterations.");
}

}  // namespace stategram
