#include "word_tree/similar_histories.hpp"

#include <cmath>
#include <utility>

#include "vectors/matrix.hpp"

namespace stategram {
namespace {

constexpr std::size_t max_histories = 1000;
constexpr float sharpness = 10.0F;
constexpr float min_cosine = 0.5F;  // below it a mass is less than 0.007

}  // namespace

void SimilarHistories::enter(const float* vector) {
    const float norm = std::sqrt(dot(vector, vector, width_));
    const float scale = norm > 0.0F ? 1.0F / norm : 0.0F;
    present_.resize(width_);
    for (std::size_t i = 0; i < width_; ++i) present_[i] = vector[i] * scale;
}

void SimilarHistories::find(const float* vector) {
    enter(vector);
    found_.clear();
    for (const History& one : histories_) {
        const float cosine = dot(present_.data(), one.vector->data(), width_);
        if (cosine > min_cosine) found_.push_back({one.word, fast_exp(sharpness * (cosine - 1.0F))});
    }
}

void SimilarHistories::add(std::uint32_t word) {
    if (!is_used()) return;
    History made{word, std::make_shared<const std::vector<float>>(present_)};
    if (histories_.size() < max_histories) {
        histories_.push_back(std::move(made));
        return;
    }
    histories_[oldest_] = std::move(made);
    oldest_ = (oldest_ + 1) % max_histories;
}

}  // namespace stategram
