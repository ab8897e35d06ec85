// The evidence of vector states: a network maps the words so far to a vector c, and at node n of a tree
//
//     x = u_n . c + bias_n - logit p(1),    p without any context
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "vectors/network.hpp"
#include "vectors/node_vectors.hpp"
#include "word_tree/evidence.hpp"

namespace stategram {

// A network, and the vectors of the nodes of each tree for it.
struct VectorInput {
    std::shared_ptr<const VectorNetwork> network;
    std::vector<NodeVectors> trees;
};

// The vectors of some events: for each network those of the events from `first` on.
struct EventVectors {
    std::size_t first = 0;
    std::vector<std::vector<float>> of_network;

    // That of the last network at an event; null if there are no networks.
    const float* last(std::size_t event, std::size_t width) const {
        return of_network.empty() ? nullptr : of_network.back().data() + (event - first) * width;
    }
};

class VectorInputs {
 public:
    VectorInputs(std::shared_ptr<const TreeEvidence> evidence, std::vector<VectorInput> inputs)
        : evidence_(std::move(evidence)), inputs_(std::move(inputs)) {}

    std::size_t size() const { return inputs_.size(); }
    std::size_t last_width() const { return inputs_.empty() ? 0 : inputs_.back().network->width(); }
    // Of all networks, one after the other, in numbers.
    std::size_t state_size() const;
    void clear(float* state) const;
    void start(float* state) const;
    void read(std::uint32_t word, float* state) const;
    EventVectors vectors_of(const float* state) const;

    // Reads the events [begin, end) from a state, which becomes that after the last one.
    EventVectors read(const VectorText& text, std::size_t begin, std::size_t end, float* state,
                      ThreadPool& pool) const;
    // Reads parts of a text, each of which begins with a reset.
    EventVectors read_parts(const VectorText& text,
                            const std::vector<std::pair<std::size_t, std::size_t>>& parts,
                            ThreadPool& pool) const;

    // Fetches what `write` will read.
    void prefetch(std::size_t tree, const std::uint32_t* nodes, int n) const;
    // Writes the evidence of each network at some nodes of a tree before an event.
    void write(std::size_t tree, const std::uint32_t* nodes, int n, const EventVectors& vectors,
               std::size_t event, float* x, std::size_t stride) const;

    // The same at all nodes of a tree before several events: for each event and network `padded_nodes`
    // numbers.
    void at_all_nodes(std::size_t tree, const EventVectors& vectors, std::size_t event, std::size_t n_events,
                      std::vector<float>& x) const;
    static std::size_t padded_nodes(std::size_t n_leaves) {
        return (n_leaves + vector_padding - 1) / vector_padding * vector_padding;
    }

 private:
    static float evidence(float dot_product, const NodeVectors& of, std::size_t node, float root) {
        return limited_logit(dot_product + of.bias[node]) - root;
    }
    // The runs that begin with the resets of [begin, end), and at `begin`.
    static void add_runs(const VectorText& text, std::size_t begin, std::size_t end,
                         std::vector<VectorRun>& runs);
    // Reads runs, of which the first begins with the state; returns its last state.
    std::vector<float> read_runs(const VectorText& text, std::vector<VectorRun>& runs, const float* state,
                                 EventVectors& vectors, ThreadPool& pool) const;

    std::shared_ptr<const TreeEvidence> evidence_;
    std::vector<VectorInput> inputs_;
};

}  // namespace stategram
