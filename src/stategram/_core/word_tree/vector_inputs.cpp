#include "word_tree/vector_inputs.hpp"

#include <algorithm>

#include "base/prefetch.hpp"
#include "vectors/node_vectors.hpp"

namespace stategram {
namespace {

constexpr std::size_t min_packed = 3;  // events, for which it pays to pack the vectors of nodes

}  // namespace

std::size_t VectorInputs::state_size() const {
    std::size_t size = 0;
    for (const VectorInput& input : inputs_) size += input.network->state_size();
    return size;
}

void VectorInputs::clear(float* state) const {
    for (const VectorInput& input : inputs_) {
        input.network->clear(state);
        state += input.network->state_size();
    }
}

void VectorInputs::start(float* state) const {
    for (const VectorInput& input : inputs_) {
        input.network->start(state);
        state += input.network->state_size();
    }
}

void VectorInputs::read(std::uint32_t word, float* state) const {
    for (const VectorInput& input : inputs_) {
        input.network->read(word, state);
        state += input.network->state_size();
    }
}

EventVectors VectorInputs::vectors_of(const float* state) const {
    EventVectors vectors;
    for (const VectorInput& input : inputs_) {
        vectors.of_network.emplace_back(input.network->width());
        input.network->write(state, vectors.of_network.back().data());
        state += input.network->state_size();
    }
    return vectors;
}

void VectorInputs::add_runs(const VectorText& text, std::size_t begin, std::size_t end,
                            std::vector<VectorRun>& runs) {
    for (std::size_t event = begin; event < end; ++event) {
        if (event == begin || text.resets[event]) runs.push_back({event, event, nullptr});
        runs.back().end = event + 1;
    }
}

std::vector<float> VectorInputs::read_runs(const VectorText& text, std::vector<VectorRun>& runs,
                                           const float* state, EventVectors& vectors,
                                           ThreadPool& pool) const {
    const std::size_t size = state_size(), n_events = runs.back().end - vectors.first;
    std::vector<float> states(runs.size() * size);
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].state = &states[i * size];
    std::copy_n(state, size, states.data());
    for (const VectorInput& input : inputs_) {
        vectors.of_network.emplace_back(n_events * input.network->width());
        input.network->read(text, vectors.first, runs, vectors.of_network.back().data(), pool);
        for (VectorRun& run : runs) run.state += input.network->state_size();
    }
    return {states.end() - static_cast<std::ptrdiff_t>(size), states.end()};
}

EventVectors VectorInputs::read(const VectorText& text, std::size_t begin, std::size_t end, float* state,
                                ThreadPool& pool) const {
    EventVectors vectors{begin, {}};
    std::vector<VectorRun> runs;
    if (!inputs_.empty()) add_runs(text, begin, end, runs);
    if (runs.empty()) return vectors;
    const std::vector<float> after = read_runs(text, runs, state, vectors, pool);
    std::copy(after.begin(), after.end(), state);
    return vectors;
}

EventVectors VectorInputs::read_parts(const VectorText& text,
                                      const std::vector<std::pair<std::size_t, std::size_t>>& parts,
                                      ThreadPool& pool) const {
    EventVectors vectors;
    std::vector<VectorRun> runs;
    if (!inputs_.empty())
        for (const auto& [begin, end] : parts) add_runs(text, begin, end, runs);
    if (runs.empty()) return vectors;
    std::vector<float> state(state_size());
    clear(state.data());
    read_runs(text, runs, state.data(), vectors, pool);
    return vectors;
}

void VectorInputs::prefetch(std::size_t tree, const std::uint32_t* nodes, int n) const {
    for (const VectorInput& input : inputs_) {
        const NodeVectors& of = input.trees[tree];
        for (int i = 0; i < n; ++i) {
            const std::uint8_t* const vector = of.vectors.bytes(nodes[i]);
            for (std::size_t at = 0; at < rounded_bytes(input.network->width()); at += 64)
                stategram::prefetch(vector + at);
            stategram::prefetch(of.bias + nodes[i]);
        }
    }
}

void VectorInputs::write(std::size_t tree, const std::uint32_t* nodes, int n, const EventVectors& vectors,
                         std::size_t event, float* x, std::size_t stride) const {
    const std::vector<float>& root = evidence_->count_root(tree).logit;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
        const NodeVectors& of = inputs_[k].trees[tree];
        const std::size_t width = inputs_[k].network->width();
        const float* const c = vectors.of_network[k].data() + (event - vectors.first) * width;
        for (int i = 0; i < n; ++i) {
            const std::size_t node = nodes[i];
            x[static_cast<std::size_t>(i) * stride + k] =
                evidence(of.vectors.dot(node, c), of, node, root[node]);
        }
    }
}

void VectorInputs::at_all_nodes(std::size_t tree, const EventVectors& vectors, std::size_t event,
                                std::size_t n_events, std::vector<float>& x) const {
    const std::vector<float>& root = evidence_->count_root(tree).logit;
    const std::size_t n_nodes = root.size(), row = padded_nodes(n_nodes);
    std::vector<float> products(n_events * vector_padding);
    x.resize(n_events * inputs_.size() * row);
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
        const NodeVectors& of = inputs_[k].trees[tree];
        const std::size_t width = inputs_[k].network->width();
        const float* const c = vectors.of_network[k].data() + (event - vectors.first) * width;
        PackedRows panel(width);
        for (std::size_t first = 0; first < n_nodes; first += vector_padding) {
            const std::size_t n = std::min(vector_padding, n_nodes - first);
            if (n_events >= min_packed) {
                panel.pack(of.vectors.bytes(first), n);
                panel.multiply(n_events, c, width, products.data());
            } else {
                for (std::size_t i = 0; i < n_events * n; ++i)
                    products[i / n * vector_padding + i % n] =
                        dot(c + i / n * width, of.vectors.bytes(first + i % n), width);
            }
            for (std::size_t i = 0; i < n_events; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    x[(i * inputs_.size() + k) * row + first + j] =
                        evidence(products[i * vector_padding + j] * of.vectors.scale(first + j), of,
                                 first + j, root[first + j]);
        }
    }
}

}  // namespace stategram
