#include "vectors/adaptive.hpp"

#include <algorithm>
#include <cmath>

#include "vectors/node_vectors.hpp"

namespace stategram {
namespace {

constexpr float rate = 0.1F;
constexpr std::size_t max_recent = 1024;

}  // namespace

const float* ChangedRows::find_older(std::uint64_t key) const {
    const auto at = older_->find(key);
    return at == older_->end() ? nullptr : at->second->data();
}

const float* ChangedRows::find(std::uint64_t key) const {
    const auto at = recent_.find(key);
    if (at != recent_.end()) return at->second->data();
    return older_ ? find_older(key) : nullptr;
}

void ChangedRows::share() {
    if (recent_.size() < max_recent) return;
    Rows all = older_ ? *older_ : Rows();
    for (auto& [key, row] : recent_) all[key] = std::move(row);
    older_ = std::make_shared<const Rows>(std::move(all));
    recent_.clear();
}

AdaptiveLinear::AdaptiveLinear(std::shared_ptr<const AdaptiveSource> source)
    : source_(std::move(source)), state_(source_->network->state_size()), vector_(source_->network->width()) {
    reset();
}

void AdaptiveLinear::find() {
    source_->network->write(state_.data(), vector_.data(),
                            [&](std::uint32_t word) { return near_.find(word); });
    is_found_ = true;
}

float AdaptiveLinear::log_odds(std::size_t tree, std::uint32_t node) const {
    const std::size_t width = vector_.size();
    float z = 0;
    if (const float* row = nodes_.find(key(tree, node))) {
        z = dot(vector_.data(), row, width) + row[width];
    } else {
        const NodeVectors& of = source_->trees[tree];
        z = of.vectors.dot(node, vector_.data()) + of.bias[node];
    }
    return limited_logit(z);
}

void AdaptiveLinear::learn(std::uint32_t word) {
    if (!is_found_) find();
    is_found_ = false;
    const LinearNetwork& network = *source_->network;
    const std::size_t width = vector_.size();
    const float square = dot(vector_.data(), vector_.data(), width) / static_cast<float>(width);
    std::vector<float> gradient(width, 0.0F), of_row(width);
    for (std::size_t t = 0; t < source_->trees.size(); ++t) {
        const NodeVectors& of = source_->trees[t];
        const std::uint32_t code = of.tree->code(word), *path = of.tree->path(word);
        for (int i = 0; i < of.tree->length(word); ++i) {
            const std::size_t node = path[i];
            const float error = (WordTree::bit(code, i) ? 1.0F : 0.0F) - fast_sigmoid(log_odds(t, path[i]));
            if (std::fabs(error) < min_node_error) continue;
            float* const row = nodes_.change(key(t, path[i]), width + 3, [&](float* values) {
                of.vectors.read(node, values);
                values[width] = of.bias[node];
                values[width + 1] = values[width + 2] = 0.0F;
            });
            learn_node(row, row[width], row[width + 1], row[width + 2], vector_.data(), square, error, rate,
                       gradient.data(), width);
        }
    }
    // All trees learn the same vectors of words.
    const float share = 1.0F / static_cast<float>(source_->trees.size());
    for (float& value : gradient) value *= share;
    network.for_each_near(state_.data(), [&](std::uint32_t near, const float* weights) {
        float* const row = near_.change(near, width + 1, [&](float* values) {
            network.near().read(near, values);
            values[width] = 0.0F;
        });
        for (std::size_t i = 0; i < width; ++i) of_row[i] = gradient[i] * weights[i];
        const float of_near = dot(of_row.data(), of_row.data(), width) / static_cast<float>(width);
        add_scaled(row, adagrad_rate(rate, of_near, row[width], row_start), of_row.data(), width);
    });
    network.read(word, state_.data());
}

}  // namespace stategram
