// The log-likelihood of held-out events under a gate, and its gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/threads.hpp"

namespace stategram {

// Holds the events; evaluated for many factors.
class GateLikelihood : public Exclusive {
 public:
    GateLikelihood(Matrix<float> ratios, Matrix<std::uint32_t> rows, std::size_t n_rows, int threads);

    std::tuple<double, Out<double>> value_and_gradient(In<double> log_factors);

 private:
    std::size_t n_parts_, n_events_, n_tables_, n_rows_, width_ = 0;
    std::vector<float> ratios_;
    std::vector<std::uint32_t> rows_;
    ThreadPool pool_;
};

}  // namespace stategram
