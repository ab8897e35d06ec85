#include "vectors/node_vectors.hpp"

#include <cmath>
#include <utility>

#include "base/checks.hpp"

namespace stategram {
namespace {

constexpr float vector_start = 0.1F, bias_start = 1.0F;

// gradient += error u; u += step c.
STATEGRAM_CLONES
void move_node(float* STATEGRAM_RESTRICT u, float* STATEGRAM_RESTRICT gradient,
               const float* STATEGRAM_RESTRICT c, float error, float step, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        gradient[i] += error * u[i];
        u[i] += step * c[i];
    }
}

}  // namespace

void learn_node(float* u, float& bias, float& squares, float& bias_squares, const float* c, float square,
                float error, float rate, float* gradient, std::size_t width) {
    const float step = adagrad_rate(rate, error * error * square, squares, vector_start);
    move_node(u, gradient, c, error, step * error, width);
    bias += error * adagrad_rate(rate, error * error, bias_squares, bias_start);
}

float adagrad_rate(float rate, float square, float& squares, float start) {
    squares += square;
    return rate / std::sqrt(squares + start);
}

Rounded Rounded::of(const std::vector<float>& values, std::size_t width) {
    const std::size_t n_rows = values.size() / width;
    for (const float value : values) require(std::isfinite(value), "a vector that was learned is not finite");
    Rounded rounded{std::vector<std::uint8_t>(n_rows * rounded_bytes(width)), std::vector<float>(n_rows)};
    const auto most = [](const float* from, std::size_t n) {
        float found = 0;
        for (std::size_t i = 0; i < n; ++i) found = std::max(found, std::fabs(from[i]));
        return found / 8.0F;
    };
    std::uint8_t* block = rounded.bytes.data();
    for (std::size_t at = 0; at < values.size(); at += vector_padding, block += bytes_per_block) {
        float& scale = rounded.scales[at / width];
        if (at % width == 0) scale = most(&values[at], width) / 255.0F;
        if (scale == 0.0F) continue;
        block[0] =
            static_cast<std::uint8_t>(std::min(std::ceil(most(&values[at], vector_padding) / scale), 255.0F));
        const float of_block = scale * static_cast<float>(std::max<std::uint8_t>(block[0], 1));
        for (std::size_t i = 0; i < vector_padding; ++i) {
            const float place = std::min(std::max(std::floor(values[at + i] / of_block), -8.0F), 7.0F);
            block[1 + i % 16] |= static_cast<std::uint8_t>(static_cast<unsigned>(place + 8.0F) << i / 16 * 4);
        }
    }
    return rounded;
}

LearnedNodes::LearnedNodes(const std::vector<WordTree>& trees, std::size_t width,
                           std::vector<std::vector<float>> bias)
    : width_(width) {
    require(bias.size() == trees.size(), "each tree needs the bias of its nodes");
    for (std::size_t t = 0; t < trees.size(); ++t) {
        const std::size_t n = trees[t].n_leaves();
        require(bias[t].size() == n, "each node needs a bias");
        trees_.push_back({&trees[t], std::vector<float>(n * width, 0.0F), std::move(bias[t]),
                          std::vector<float>(n, 0.0F), std::vector<float>(n, 0.0F)});
    }
}

void LearnedNodes::learn(std::uint32_t word, const float* c, float rate, float* gradient, double* log_probs) {
    const float square = dot(c, c, width_) / static_cast<float>(width_);
    for (std::size_t t = 0; t < trees_.size(); ++t) {
        OfTree& of = trees_[t];
        const std::uint32_t code = of.tree->code(word), *path = of.tree->path(word);
        double product = 1;
        for (int i = 0; i < of.tree->length(word); ++i) {
            const std::size_t node = path[i];
            float* const u = &of.vectors[node * width_];
            const float z = limited_logit(dot(u, c, width_) + of.bias[node]);
            const bool right = WordTree::bit(code, i);
            const float of_side = fast_sigmoid(right ? z : -z),
                        error = (right ? 1.0F : -1.0F) * (1.0F - of_side);
            product *= double{of_side};  // at least exp(-15) at each of at most 32 nodes
            if (rate == 0.0F || std::fabs(error) < min_node_error) continue;
            learn_node(u, of.bias[node], of.squares[node], of.bias_squares[node], c, square, error, rate,
                       gradient, width_);
        }
        log_probs[t] = std::log(product);
    }
}

}  // namespace stategram
