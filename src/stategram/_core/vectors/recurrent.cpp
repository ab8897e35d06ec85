#include "vectors/recurrent.hpp"

#include <algorithm>
#include <cmath>

#include "base/checks.hpp"

namespace stategram {
namespace {

constexpr float word_start = 0.05F;  // where the squares of a row begin
constexpr float max_gradient = 1.0F;
constexpr std::size_t n_lanes = 32;  // states that are read at the same time

// The gates of one state, in place, and what follows from them.
STATEGRAM_CLONES
void open_gates(float* STATEGRAM_RESTRICT gates, const float* STATEGRAM_RESTRICT cell_before,
                float* STATEGRAM_RESTRICT cell, float* STATEGRAM_RESTRICT tanh_cell,
                float* STATEGRAM_RESTRICT hidden, std::size_t width) {
    for (std::size_t i = 0; i < 3 * width; ++i) gates[i] = fast_sigmoid(gates[i]);
    for (std::size_t i = 3 * width; i < 4 * width; ++i) gates[i] = fast_tanh(gates[i]);
    for (std::size_t i = 0; i < width; ++i) {
        cell[i] = gates[width + i] * cell_before[i] + gates[i] * gates[3 * width + i];
        tanh_cell[i] = fast_tanh(cell[i]);
        hidden[i] = gates[2 * width + i] * tanh_cell[i];
    }
}

// From the gradient of the hidden vector to those of the gates, in place; `cell_gradient` is carried back.
STATEGRAM_CLONES
void close_gates(float* STATEGRAM_RESTRICT gates, const float* STATEGRAM_RESTRICT cell_before,
                 const float* STATEGRAM_RESTRICT tanh_cell, const float* STATEGRAM_RESTRICT later,
                 const float* STATEGRAM_RESTRICT here, float* STATEGRAM_RESTRICT cell_gradient,
                 std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        const float g = later[i] + here[i], in = gates[i], forget = gates[width + i],
                    out = gates[2 * width + i], value = gates[3 * width + i];
        const float of_cell = cell_gradient[i] + g * out * (1.0F - tanh_cell[i] * tanh_cell[i]);
        gates[i] = of_cell * value * in * (1.0F - in);
        gates[width + i] = of_cell * cell_before[i] * forget * (1.0F - forget);
        gates[2 * width + i] = g * tanh_cell[i] * out * (1.0F - out);
        gates[3 * width + i] = of_cell * in * (1.0F - value * value);
        cell_gradient[i] = of_cell * forget;
    }
}

STATEGRAM_CLONES
void adam(float* STATEGRAM_RESTRICT weights, float* STATEGRAM_RESTRICT gradient,
          float* STATEGRAM_RESTRICT first, float* STATEGRAM_RESTRICT second, float scale, float rate,
          float first_share, float second_share, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const float g = gradient[i] * scale;
        first[i] += 0.1F * (g - first[i]);
        second[i] += 0.01F * (g * g - second[i]);
        weights[i] += rate * (first[i] * first_share) / (std::sqrt(second[i] * second_share) + 1e-8F);
        gradient[i] = 0.0F;
    }
}

STATEGRAM_CLONES
void multiply_elements(float* STATEGRAM_RESTRICT y, const float* STATEGRAM_RESTRICT a,
                       const float* STATEGRAM_RESTRICT b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
}

}  // namespace

RecurrentLearner::RecurrentLearner(const std::vector<WordTree>& trees, std::vector<std::vector<float>> bias,
                                   std::size_t n_words, std::size_t width, std::pair<float, float> dropout,
                                   std::uint64_t seed)
    : width_(width),
      dropout_(dropout),
      nodes_(trees, width, std::move(bias)),
      words_(n_words * width),
      word_squares_(n_words, 0.0F),
      matrix_(2 * width * 4 * width),
      bias_(4 * width, 0.0F),
      matrix_gradient_(matrix_.size(), 0.0F),
      bias_gradient_(bias_.size(), 0.0F),
      matrix_moments_{matrix_gradient_, matrix_gradient_},
      bias_moments_{bias_gradient_, bias_gradient_},
      hidden_(n_streams * width, 0.0F),
      cell_(hidden_),
      random_(seed) {
    for (float& value : words_) value = 0.1F * random_.normal();
    const float scale = 1.0F / std::sqrt(static_cast<float>(2 * width));
    for (float& value : matrix_) value = scale * random_.normal();
    std::fill_n(bias_.begin() + static_cast<std::ptrdiff_t>(width), width, 1.0F);
    const std::size_t n = n_steps * n_streams * width;
    for (std::vector<float>* buffer : {&inputs_, &before_, &cells_before_, &tanh_cells_, &outputs_,
                                       &output_gradients_, &input_mask_, &output_mask_, &input_gradients_})
        buffer->resize(n);
    gates_.resize(4 * n);
}

std::vector<double> RecurrentLearner::learn(const VectorText& text, std::size_t n_events, std::size_t begin,
                                            std::size_t end, std::pair<Rates, Rates> rates) {
    std::vector<double> log_probs(nodes_.n_trees(), 0.0);
    for (std::size_t batch = begin; batch < end; ++batch) {
        const float at = static_cast<float>(batch - begin) / static_cast<float>(end - begin);
        learn_batch(text, n_events / n_streams, batch,
                    {rates.first.matrix + (rates.second.matrix - rates.first.matrix) * at,
                     rates.first.rows + (rates.second.rows - rates.first.rows) * at},
                    log_probs.data());
    }
    return log_probs;
}

void RecurrentLearner::draw_mask(std::vector<float>& mask, float dropout) {
    const auto below = static_cast<std::uint64_t>(dropout * 65536.0F);
    const float kept = 1.0F / (1.0F - dropout);
    for (std::size_t i = 0; i < mask.size(); i += 4) {
        const std::uint64_t bits = random_.bits();
        for (std::size_t j = 0; j < 4; ++j) mask[i + j] = ((bits >> (16 * j)) & 0xFFFF) < below ? 0.0F : kept;
    }
}

void RecurrentLearner::learn_batch(const VectorText& text, std::size_t stream_length, std::size_t batch,
                                   Rates rates, double* log_probs) {
    const std::size_t width = width_, of_gates = 4 * width, of_step = n_streams * width,
                      n_rows = n_steps * n_streams;
    const auto event_of = [&](std::size_t step, std::size_t stream) {
        return stream * stream_length + batch * n_steps + step;
    };
    const auto is_reset = [&](std::size_t event) {
        return event == 0 || text.resets[event] || (batch == 0 && event % stream_length == 0);
    };
    const auto last_word = [&](std::size_t event) -> std::size_t {
        return is_reset(event) ? end_id : text.words[event - 1];
    };
    // Forward.
    draw_mask(input_mask_, dropout_.first);
    draw_mask(output_mask_, dropout_.second);
    for (std::size_t step = 0; step < n_steps; ++step)
        for (std::size_t stream = 0; stream < n_streams; ++stream) {
            const std::size_t row = step * n_streams + stream;
            multiply_elements(&inputs_[row * width], &words_[last_word(event_of(step, stream)) * width],
                              &input_mask_[row * width], width);
            std::copy(bias_.begin(), bias_.end(),
                      gates_.begin() + static_cast<std::ptrdiff_t>(row * of_gates));
        }
    PackedMatrix of_inputs(width, of_gates), of_hidden(width, of_gates), back_inputs(of_gates, width),
        back_hidden(of_gates, width);
    const float* const hidden_matrix = &matrix_[width * of_gates];
    of_inputs.pack(matrix_.data(), of_gates, 1);
    of_hidden.pack(hidden_matrix, of_gates, 1);
    back_inputs.pack(matrix_.data(), 1, of_gates);
    back_hidden.pack(hidden_matrix, 1, of_gates);
    multiply(n_rows, inputs_.data(), width, 1, of_inputs, gates_.data(), of_gates, true);
    for (std::size_t step = 0; step < n_steps; ++step) {
        float *const before = &before_[step * of_step], *const cells = &cells_before_[step * of_step];
        std::copy(hidden_.begin(), hidden_.end(), before);
        std::copy(cell_.begin(), cell_.end(), cells);
        for (std::size_t stream = 0; stream < n_streams; ++stream)
            if (is_reset(event_of(step, stream))) {
                std::fill_n(before + stream * width, width, 0.0F);
                std::fill_n(cells + stream * width, width, 0.0F);
            }
        float* const gates = &gates_[step * n_streams * of_gates];
        multiply(n_streams, before, width, 1, of_hidden, gates, of_gates, true);
        for (std::size_t stream = 0; stream < n_streams; ++stream)
            open_gates(gates + stream * of_gates, cells + stream * width, &cell_[stream * width],
                       &tanh_cells_[step * of_step + stream * width], &hidden_[stream * width], width);
        multiply_elements(&outputs_[step * of_step], hidden_.data(), &output_mask_[step * of_step], of_step);
    }
    // The nodes of all trees.
    std::fill(output_gradients_.begin(), output_gradients_.end(), 0.0F);
    std::vector<double> of_event(nodes_.n_trees());
    for (std::size_t step = 0; step < n_steps; ++step)
        for (std::size_t stream = 0; stream < n_streams; ++stream) {
            const std::size_t row = step * n_streams + stream;
            nodes_.learn(text.words[event_of(step, stream)], &outputs_[row * width], rates.rows,
                         &output_gradients_[row * width], of_event.data());
            for (std::size_t t = 0; t < of_event.size(); ++t) log_probs[t] += of_event[t];
        }
    const float share = 1.0F / static_cast<float>(nodes_.n_trees());
    for (float& scale : output_mask_) scale *= share;
    multiply_elements(output_gradients_.data(), output_gradients_.data(), output_mask_.data(),
                      output_gradients_.size());
    // Backward.
    std::vector<float> later(of_step, 0.0F), cell_gradients(of_step, 0.0F);
    for (std::size_t step = n_steps; step-- > 0;) {
        float* const gates = &gates_[step * n_streams * of_gates];
        for (std::size_t stream = 0; stream < n_streams; ++stream) {
            const std::size_t at = step * of_step + stream * width;
            close_gates(gates + stream * of_gates, &cells_before_[at], &tanh_cells_[at],
                        &later[stream * width], &output_gradients_[at], &cell_gradients[stream * width],
                        width);
        }
        multiply(n_streams, gates, of_gates, 1, back_hidden, later.data(), width, false);
        for (std::size_t stream = 0; stream < n_streams; ++stream)
            if (is_reset(event_of(step, stream))) {
                std::fill_n(&later[stream * width], width, 0.0F);
                std::fill_n(&cell_gradients[stream * width], width, 0.0F);
            }
    }
    PackedMatrix of_rows(n_rows, of_gates);
    of_rows.pack(gates_.data(), of_gates, 1);
    multiply(width, inputs_.data(), 1, width, of_rows, matrix_gradient_.data(), of_gates, true);
    multiply(width, before_.data(), 1, width, of_rows, &matrix_gradient_[width * of_gates], of_gates, true);
    for (std::size_t row = 0; row < n_rows; ++row)
        add_scaled(bias_gradient_.data(), 1.0F, &gates_[row * of_gates], of_gates);
    multiply(n_rows, gates_.data(), of_gates, 1, back_inputs, input_gradients_.data(), width, false);
    multiply_elements(input_gradients_.data(), input_gradients_.data(), input_mask_.data(),
                      input_gradients_.size());
    for (std::size_t step = 0; step < n_steps; ++step)
        for (std::size_t stream = 0; stream < n_streams; ++stream) {
            const float* const g = &input_gradients_[(step * n_streams + stream) * width];
            const std::size_t word = last_word(event_of(step, stream));
            const float square = dot(g, g, width) / static_cast<float>(width);
            add_scaled(&words_[word * width],
                       adagrad_rate(rates.rows, square, word_squares_[word], word_start), g, width);
        }
    float scale = 1.0F / static_cast<float>(n_rows);
    const float norm =
        scale * std::sqrt(dot(matrix_gradient_.data(), matrix_gradient_.data(), matrix_gradient_.size()) +
                          dot(bias_gradient_.data(), bias_gradient_.data(), bias_gradient_.size()));
    if (norm > max_gradient) scale *= max_gradient / norm;
    ++n_updates_;
    const auto corrected = [&](double kept) {
        return static_cast<float>(1.0 / (1.0 - std::pow(kept, static_cast<double>(n_updates_))));
    };
    const float first = corrected(0.9), second = corrected(0.99);
    adam(matrix_.data(), matrix_gradient_.data(), matrix_moments_.first.data(), matrix_moments_.second.data(),
         scale, rates.matrix, first, second, matrix_.size());
    adam(bias_.data(), bias_gradient_.data(), bias_moments_.first.data(), bias_moments_.second.data(), scale,
         rates.matrix, first, second, bias_.size());
}

RecurrentNetwork::RecurrentNetwork(std::size_t n_words, In<std::uint8_t> word_vectors, In<float> word_scales,
                                   In<float> matrix, In<float> bias)
    : n_words_(n_words),
      width_(rounded_width(word_vectors.size(), n_words)),
      words_(std::move(word_vectors)),
      word_scales_(std::move(word_scales)),
      matrix_(std::move(matrix)),
      bias_(std::move(bias)) {
    check_network_shape(n_words, width_);
    require(words_.size() == n_words * rounded_bytes(width_) && word_scales_.size() == n_words,
            "each word needs its vector");
    require(matrix_.size() == 8 * width_ * width_ && bias_.size() == 4 * width_,
            "the matrix of a recurrent state does not have its size");
    for (const In<float>* of : {&word_scales_, &matrix_, &bias_})
        check_finite(*of, "a number of a recurrent state is not finite");
    packed_ = std::make_unique<PackedMatrix>(2 * width_, 4 * width_);
    packed_->pack(matrix_.data(), 4 * width_, 1);
}

// The state: the hidden vector, and the cells.
void RecurrentNetwork::clear(float* state) const { std::fill_n(state, state_size(), 0.0F); }

void RecurrentNetwork::read(std::uint32_t word, float* state) const {
    std::vector<float> rows, gates;
    step(1, &word, &state, rows, gates);
}

void RecurrentNetwork::write(const float* state, float* vector) const { std::copy_n(state, width_, vector); }

void RecurrentNetwork::step(std::size_t n, const std::uint32_t* words, float* const* states,
                            std::vector<float>& rows, std::vector<float>& gates) const {
    rows.resize(n * 2 * width_);
    gates.resize(n * 4 * width_);
    for (std::size_t i = 0; i < n; ++i) {
        float* const row = &rows[i * 2 * width_];
        RoundedRows(words_.data(), word_scales_.data(), width_).read(words[i], row);
        std::copy_n(states[i], width_, row + width_);
        std::copy(bias_.begin(), bias_.end(), &gates[i * 4 * width_]);
    }
    multiply(n, rows.data(), 2 * width_, 1, *packed_, gates.data(), 4 * width_, true);
    for (std::size_t i = 0; i < n; ++i) {
        float* const cell = states[i] + width_;
        float *const before = &rows[i * 2 * width_], *const tanh_cell = before + width_;
        std::copy_n(cell, width_, before);
        open_gates(&gates[i * 4 * width_], before, cell, tanh_cell, states[i], width_);
    }
}

void RecurrentNetwork::read(const VectorText& text, std::size_t first, const std::vector<VectorRun>& runs,
                            float* vectors, ThreadPool& pool) const {
    // Each task reads some runs side by side; the longest first, so that lanes end together.
    const std::size_t n_tasks = std::min<std::size_t>(static_cast<std::size_t>(pool.size()), runs.size());
    std::vector<std::size_t> order(runs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return runs[a].end - runs[a].begin > runs[b].end - runs[b].begin;
    });
    pool.run(n_tasks, [&](std::size_t task, int) {
        struct Lane {
            std::size_t event, end;
            float* state;
        };
        std::vector<Lane> lanes;
        std::vector<float> rows, gates;
        std::vector<std::uint32_t> words;
        std::vector<float*> states;
        std::size_t next = task;
        while (true) {
            for (; lanes.size() < n_lanes && next < order.size(); next += n_tasks) {
                const VectorRun& run = runs[order[next]];
                if (run.begin < run.end) lanes.push_back({run.begin, run.end, run.state});
            }
            if (lanes.empty()) break;
            words.clear();
            states.clear();
            for (Lane& lane : lanes) {
                if (text.resets[lane.event]) start(lane.state);
                std::copy_n(lane.state, width_, vectors + (lane.event - first) * width_);
                words.push_back(text.words[lane.event]);
                states.push_back(lane.state);
                ++lane.event;
            }
            step(lanes.size(), words.data(), states.data(), rows, gates);
            std::erase_if(lanes, [](const Lane& lane) { return lane.event == lane.end; });
        }
    });
}

}  // namespace stategram
