#include "word_tree/mixer.hpp"

#include <algorithm>
#include <cmath>

#include "base/simd.hpp"

namespace stategram {
namespace {

constexpr std::size_t n_lanes = input_padding;
constexpr float min_error = 1e-4F;  // what is nearly certain teaches nothing
constexpr float epsilon = 1e-3F;

// The same order of additions whatever the instruction set.
STATEGRAM_CLONES
float dot(const float* STATEGRAM_RESTRICT x, const float* STATEGRAM_RESTRICT first,
          const float* STATEGRAM_RESTRICT second, const float* STATEGRAM_RESTRICT third, std::size_t width) {
    alignas(64) float sums[n_lanes] = {};
    for (std::size_t begin = 0; begin < width; begin += n_lanes)
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            const std::size_t i = begin + lane;
            sums[lane] += x[i] * (first[i] + second[i] + third[i]);
        }
    return sum_of_halves<n_lanes / 2>(sums);
}

STATEGRAM_CLONES
void step(const float* STATEGRAM_RESTRICT x, float error, float rate, float* STATEGRAM_RESTRICT weights,
          float* STATEGRAM_RESTRICT squares, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        const float gradient = error * x[i];
        squares[i] += gradient * gradient;
        weights[i] += rate * gradient / std::sqrt(squares[i] + epsilon);
    }
}

}  // namespace

float mix(const MixerShape& shape, const float* weights, const MixerRow& row) {
    float sum = 0;
    for (std::size_t i = 0; i < shape.n_inputs; ++i)
        sum += row.x[i] * weights[i * n_count_buckets + row.buckets[i]];
    return mix_from(sum, shape, weights, row);
}

float mix_from(float sum, const MixerShape& shape, const float* weights, const MixerRow& row) {
    const std::size_t width = shape.n_inputs;
    sum += dot(row.x, weights + shape.node_begin() + row.node * width,
               weights + shape.match_begin() + row.match * width,
               weights + shape.class_begin() + row.of_class * width, width);
    return limited_mix(sum);
}

float contribution(const MixerShape& shape, const float* weights, const MixerRow& row, std::size_t input) {
    const std::size_t width = shape.n_inputs;
    return row.x[input] * (weights[input * n_count_buckets + row.buckets[input]] +
                           weights[shape.node_begin() + row.node * width + input] +
                           weights[shape.match_begin() + row.match * width + input] +
                           weights[shape.class_begin() + row.of_class * width + input]);
}

float learn(const MixerShape& shape, float* weights, float* squares, const MixerRow& row, bool right,
            float rate) {
    const float logit = mix(shape, weights, row);
    const float error = (right ? 1.0F : 0.0F) - 1.0F / (1.0F + std::exp(-logit));
    if (rate == 0.0F || std::fabs(error) < min_error) return logit;
    for (std::size_t i = 0; i < shape.n_inputs; ++i) {
        if (row.x[i] == 0.0F) continue;
        const std::size_t at = i * n_count_buckets + row.buckets[i];
        const float gradient = error * row.x[i];
        squares[at] += gradient * gradient;
        weights[at] += rate * gradient / std::sqrt(squares[at] + epsilon);
    }
    const std::size_t width = shape.n_inputs;
    for (const std::size_t at :
         {shape.node_begin() + row.node * width, shape.match_begin() + row.match * width,
          shape.class_begin() + row.of_class * width})
        step(row.x, error, rate, weights + at, squares + at, width);
    return logit;
}

double log_sigmoid(double logit) {
    return logit < 0 ? logit - std::log1p(std::exp(logit)) : -std::log1p(std::exp(-logit));
}

}  // namespace stategram
