// The functions that bind.cpp gives to Python, where it says what they return.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "mixture/gate_tables.hpp"

namespace stategram {

// scoring.cpp
std::tuple<Out<double>, Out<double>> mix_events(const GateTables& gate,
                                                const std::vector<In<double>>& log_probs,
                                                const std::vector<std::vector<In<float>>>& features,
                                                InOut<double> mixed, int threads);

// weights.cpp
std::tuple<Out<double>, double, std::int64_t> em_weights(Matrix<float> ratios, In<double> weights,
                                                         std::int64_t max_iterations, double tolerance,
                                                         int threads);

}  // namespace stategram
