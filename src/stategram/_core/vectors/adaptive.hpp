// A linear state that goes on learning while it reads: the vectors of near words and of nodes follow the
// text. Only rows that changed are kept; copies share them until one changes a row again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/arrays.hpp"
#include "vectors/linear.hpp"
#include "word_tree/tree.hpp"

namespace stategram {

// Rows of numbers by key.
class ChangedRows {
 public:
    using Row = std::vector<float>;

    const float* find(std::uint64_t key) const;
    // The row to change: that which was changed before, or one of `width` numbers that `fill` writes.
    template <typename Fill>
    float* change(std::uint64_t key, std::size_t width, const Fill& fill) {
        std::shared_ptr<Row>& row = recent_[key];
        if (row && row.use_count() == 1) return row->data();
        const float* const before = row ? row->data() : older_ ? find_older(key) : nullptr;
        auto own = std::make_shared<Row>(width);
        if (before)
            std::copy_n(before, width, own->data());
        else
            fill(own->data());
        row = std::move(own);
        return row->data();
    }
    // Before a copy: the list of what changed moves to what copies share, once it is long.
    void share();

 private:
    using Rows = std::unordered_map<std::uint64_t, std::shared_ptr<Row>>;
    const float* find_older(std::uint64_t key) const;

    std::shared_ptr<const Rows> older_;
    Rows recent_;
};

// Where an adaptive state starts from: a network, and for each tree the vectors of its nodes.
struct AdaptiveSource {
    std::shared_ptr<const LinearNetwork> network;
    std::vector<NodeVectors> trees;
};

class AdaptiveLinear {
 public:
    explicit AdaptiveLinear(std::shared_ptr<const AdaptiveSource> source);

    // No word is known.
    void clear() {
        source_->network->clear(state_.data());
        is_found_ = false;
    }
    // At the start of a document.
    void reset() {
        source_->network->start(state_.data());
        is_found_ = false;
    }
    // Computes the vector before the next word, which `log_odds` needs.
    void find();
    // The log-odds at a node.
    float log_odds(std::size_t tree, std::uint32_t node) const;
    // Learns the next word, and reads it.
    void learn(std::uint32_t word);
    void share() {
        near_.share();
        nodes_.share();
    }

 private:
    std::uint64_t key(std::size_t tree, std::uint32_t node) const {
        return (std::uint64_t{tree} << 32) | node;
    }

    std::shared_ptr<const AdaptiveSource> source_;
    ChangedRows near_, nodes_;  // rows end with their squares; of nodes, with bias and squares
    std::vector<float> state_, vector_;
    bool is_found_ = false;
};

}  // namespace stategram
