#include "vectors/linear.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/checks.hpp"

namespace stategram {
namespace {

constexpr std::size_t chunk = 32;  // events through which gradients of decayed sums are carried back
constexpr float weight_start = 1.0F;
constexpr float position_rate = 0.3F, sum_rate = 0.03F;  // of the rate

// y += a * x, element by element.
STATEGRAM_CLONES
void add_product(float* STATEGRAM_RESTRICT y, const float* STATEGRAM_RESTRICT a,
                 const float* STATEGRAM_RESTRICT x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a[i] * x[i];
}

// s <- d s + r
STATEGRAM_CLONES
void decay_and_add(float* STATEGRAM_RESTRICT s, float d, const float* STATEGRAM_RESTRICT r, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) s[i] = d * s[i] + r[i];
}

// One step for the weights of a position: w * x is a part of c, whose gradient is g. Writes the gradient of
// x.
STATEGRAM_CLONES
void learn_weights(float* STATEGRAM_RESTRICT w, float* STATEGRAM_RESTRICT squares,
                   const float* STATEGRAM_RESTRICT x, const float* STATEGRAM_RESTRICT g, float rate,
                   float* STATEGRAM_RESTRICT gradient, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        gradient[i] = g[i] * w[i];
        const float of_weight = g[i] * x[i];
        squares[i] += of_weight * of_weight;
        w[i] += rate * of_weight / std::sqrt(squares[i]);
    }
}

// One step for a decayed sum, back in time: G <- d G + g * w is the gradient of r; total += G.
STATEGRAM_CLONES
void learn_sum(float* STATEGRAM_RESTRICT w, float* STATEGRAM_RESTRICT squares,
               const float* STATEGRAM_RESTRICT sum, const float* STATEGRAM_RESTRICT g, float d, float rate,
               float* STATEGRAM_RESTRICT carried, float* STATEGRAM_RESTRICT total, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        carried[i] = d * carried[i] + g[i] * w[i];
        total[i] += carried[i];
        const float of_weight = g[i] * sum[i];
        squares[i] += of_weight * of_weight;
        w[i] += rate * of_weight / std::sqrt(squares[i]);
    }
}

}  // namespace

LinearLearner::LinearLearner(const std::vector<WordTree>& trees, std::vector<std::vector<float>> bias,
                             LinearShape shape, std::uint64_t seed)
    : shape_(std::move(shape)),
      nodes_(trees, shape_.width, std::move(bias)),
      near_(shape_.n_words * shape_.width),
      near_squares_(shape_.n_words, 0.0F),
      far_(near_.size()),
      far_squares_(near_squares_),
      positions_(shape_.n_positions * shape_.width),
      position_squares_(positions_.size(), weight_start),
      sum_weights_(shape_.decays.size() * shape_.width),
      sum_squares_(sum_weights_.size(), weight_start),
      sums_(sum_weights_.size(), 0.0F),
      kept_sums_(chunk * sums_.size()),
      vectors_(chunk * shape_.width),
      gradients_(vectors_.size()),
      carried_(sums_.size()),
      row_(shape_.width) {
    VectorRandom random(seed);
    for (std::vector<float>* of : {&near_, &far_})
        for (float& value : *of) value = 0.1F * random.normal();
    for (std::size_t j = 0; j < shape_.n_positions; ++j)
        std::fill_n(&positions_[j * shape_.width], shape_.width, 1.0F / static_cast<float>(1 + j));
    for (std::size_t k = 0; k < shape_.decays.size(); ++k)
        std::fill_n(&sum_weights_[k * shape_.width], shape_.width, 1.0F - shape_.decays[k]);
}

std::vector<double> LinearLearner::learn(const VectorText& text, std::size_t begin, std::size_t end,
                                         std::pair<float, float> rates) {
    std::vector<double> log_probs(nodes_.n_trees(), 0.0);
    const auto n = static_cast<float>(end - begin);
    for (std::size_t first = begin; first < end; first += chunk) {
        const float rate = rates.first + (rates.second - rates.first) * static_cast<float>(first - begin) / n;
        learn_chunk(text, first, std::min(end, first + chunk), rate, log_probs.data());
    }
    return log_probs;
}

void LinearLearner::learn_chunk(const VectorText& text, std::size_t begin, std::size_t end, float rate,
                                double* log_probs) {
    const std::size_t width = shape_.width, n_sums = shape_.decays.size();
    std::vector<double> of_event(nodes_.n_trees());
    const auto last_word = [&](std::size_t event) {
        return event == 0 || text.resets[event] ? end_id : text.words[event - 1];
    };
    for (std::size_t event = begin; event < end; ++event) {
        if (text.resets[event]) {
            std::fill(sums_.begin(), sums_.end(), 0.0F);
            window_.clear();
        }
        const std::uint32_t read = last_word(event);
        window_.push_back(read);
        if (window_.size() > 64 * shape_.n_positions)
            window_.erase(window_.begin(), window_.end() - static_cast<std::ptrdiff_t>(shape_.n_positions));
        const std::size_t at = event - begin, n_near = std::min(window_.size(), shape_.n_positions);
        float *const c = &vectors_[at * width], *const g = &gradients_[at * width];
        std::fill_n(c, width, 0.0F);
        std::fill_n(g, width, 0.0F);
        for (std::size_t k = 0; k < n_sums; ++k) {
            float* const sum = &sums_[k * width];
            decay_and_add(sum, shape_.decays[k], &far_[read * width], width);
            std::copy_n(sum, width, &kept_sums_[(at * n_sums + k) * width]);
            add_product(c, &sum_weights_[k * width], sum, width);
        }
        const auto near_word = [&](std::size_t j) { return window_[window_.size() - 1 - j]; };
        for (std::size_t j = 0; j < n_near; ++j)
            add_product(c, &positions_[j * width], &near_[near_word(j) * width], width);
        nodes_.learn(text.words[event], c, rate, g, of_event.data());
        for (std::size_t t = 0; t < of_event.size(); ++t) log_probs[t] += of_event[t];
        if (rate == 0.0F) continue;
        for (std::size_t j = 0; j < n_near; ++j) {
            const std::size_t word = near_word(j);
            learn_weights(&positions_[j * width], &position_squares_[j * width], &near_[word * width], g,
                          position_rate * rate, row_.data(), width);
            const float square = dot(row_.data(), row_.data(), width) / static_cast<float>(width);
            add_scaled(&near_[word * width], adagrad_rate(rate, square, near_squares_[word], row_start),
                       row_.data(), width);
        }
    }
    if (rate == 0.0F) return;
    std::fill(carried_.begin(), carried_.end(), 0.0F);
    for (std::size_t event = end; event-- > begin;) {
        const std::size_t at = event - begin, word = last_word(event);
        std::fill(row_.begin(), row_.end(), 0.0F);
        for (std::size_t k = 0; k < n_sums; ++k)
            learn_sum(&sum_weights_[k * width], &sum_squares_[k * width],
                      &kept_sums_[(at * n_sums + k) * width], &gradients_[at * width], shape_.decays[k],
                      sum_rate * rate, &carried_[k * width], row_.data(), width);
        const float square = dot(row_.data(), row_.data(), width) / static_cast<float>(width);
        add_scaled(&far_[word * width], adagrad_rate(rate, square, far_squares_[word], row_start),
                   row_.data(), width);
        if (text.resets[event]) std::fill(carried_.begin(), carried_.end(), 0.0F);
    }
}

LinearNetwork::LinearNetwork(std::size_t n_words, In<std::uint8_t> near_vectors, In<float> near_scales,
                             In<std::uint8_t> far_vectors, In<float> far_scales, In<float> positions,
                             In<float> sums, In<float> decays)
    : shape_{n_words, rounded_width(near_vectors.size(), n_words), 0, {decays.begin(), decays.end()}},
      near_(std::move(near_vectors)),
      far_(std::move(far_vectors)),
      near_scales_(std::move(near_scales)),
      far_scales_(std::move(far_scales)),
      positions_(std::move(positions)),
      sums_(std::move(sums)) {
    const std::size_t width = shape_.width;
    check_network_shape(n_words, width);
    require(near_.size() == n_words * rounded_bytes(width) && far_.size() == near_.size() &&
                near_scales_.size() == n_words && far_scales_.size() == n_words,
            "each word needs its vectors");
    require(positions_.size() > 0 && positions_.size() % width == 0 &&
                sums_.size() == shape_.decays.size() * width,
            "each position and each sum needs its weights");
    shape_.n_positions = positions_.size() / width;
    for (const float decay : shape_.decays) check_decay(decay);
    for (const In<float>* of : {&near_scales_, &far_scales_, &positions_, &sums_})
        check_finite(*of, "a number of a linear state is not finite");
}

// The state: how many words are known, these words, the last one first, and the sums.
void LinearNetwork::clear(float* state) const { std::fill_n(state, state_size(), 0.0F); }

void LinearNetwork::read(std::uint32_t word, float* state) const {
    const auto known = std::min<std::size_t>(std::bit_cast<std::uint32_t>(state[0]), shape_.n_positions);
    std::copy_backward(state + 1, state + shape_.n_positions, state + 1 + shape_.n_positions);
    state[1] = std::bit_cast<float>(word);
    state[0] = std::bit_cast<float>(static_cast<std::uint32_t>(std::min(known + 1, shape_.n_positions)));
    float* const sums = state + 1 + shape_.n_positions;
    const std::size_t width = shape_.width;
    float far[max_vector_width];
    RoundedRows(far_.data(), far_scales_.data(), width).read(word, far);
    for (std::size_t k = 0; k < shape_.decays.size(); ++k)
        decay_and_add(sums + k * width, shape_.decays[k], far, width);
}

void LinearNetwork::write(const float* state, float* vector) const {
    write(state, vector, [](std::uint32_t) { return nullptr; });
}

void LinearNetwork::write(const float* state, float* vector,
                          const std::function<const float*(std::uint32_t)>& changed) const {
    const std::size_t width = shape_.width;
    const float* const sums = state + 1 + shape_.n_positions;
    std::fill_n(vector, width, 0.0F);
    for (std::size_t k = 0; k < shape_.decays.size(); ++k)
        add_product(vector, sums_.data() + k * width, sums + k * width, width);
    float row[max_vector_width];
    for_each_near(state, [&](std::uint32_t word, const float* weights) {
        const float* values = changed(word);
        if (!values) near().read(word, row);
        add_product(vector, weights, values ? values : row, width);
    });
}

void LinearNetwork::for_each_near(const float* state,
                                  const std::function<void(std::uint32_t, const float*)>& use) const {
    const auto known = std::min<std::size_t>(std::bit_cast<std::uint32_t>(state[0]), shape_.n_positions);
    for (std::size_t j = 0; j < known; ++j) {
        const auto word =
            std::min<std::size_t>(std::bit_cast<std::uint32_t>(state[1 + j]), shape_.n_words - 1);
        use(static_cast<std::uint32_t>(word), positions_.data() + j * shape_.width);
    }
}

void LinearNetwork::read(const VectorText& text, std::size_t first, const std::vector<VectorRun>& runs,
                         float* vectors, ThreadPool& pool) const {
    pool.run(runs.size(), [&](std::size_t number, int) {
        const VectorRun& run = runs[number];
        for (std::size_t event = run.begin; event < run.end; ++event) {
            if (text.resets[event]) start(run.state);
            write(run.state, vectors + (event - first) * shape_.width);
            read(text.words[event], run.state);
        }
    });
}

}  // namespace stategram
