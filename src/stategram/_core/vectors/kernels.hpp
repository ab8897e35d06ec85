// Learning vector states, as Python sees it: arrays are checked, and what was learned becomes arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "vectors/linear.hpp"
#include "vectors/recurrent.hpp"

namespace stategram {

using TreeArrays = std::vector<std::pair<In<std::uint32_t>, In<std::uint8_t>>>;
// Vectors of numbers of 4 bits and the scale of each.
using RoundedArrays = std::pair<Out<std::uint8_t>, Out<float>>;
// The vectors of the nodes of a tree, their scales and biases.
using NodeArrays = std::tuple<Out<std::uint8_t>, Out<float>, Out<float>>;

inline RoundedArrays rounded_arrays(const std::vector<float>& values, std::size_t width) {
    Rounded rounded = Rounded::of(values, width);
    return {std::move(rounded.bytes), std::move(rounded.scales)};
}

// What learners of all kinds have in common.
template <typename Learner>
class LearnerKernel : public Exclusive {
 public:
    using Words = In<std::uint32_t>;

    std::vector<NodeArrays> nodes() const {
        std::vector<NodeArrays> found;
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            auto [vectors, scales] = rounded_arrays(learner_->nodes().vectors(t), learner_->nodes().width());
            found.emplace_back(std::move(vectors), std::move(scales),
                               std::vector<float>(learner_->nodes().bias(t)));
        }
        return found;
    }

 protected:
    LearnerKernel(const TreeArrays& trees, const std::vector<In<float>>& bias, std::size_t width) {
        require(!trees.empty() && bias.size() == trees.size(), "each tree needs the bias of its nodes");
        check_network_shape(trees[0].first.size(), width);
        for (const auto& [codes, lengths] : trees) {
            require(codes.size() == lengths.size() && codes.size() == trees[0].first.size(),
                    "each word needs a code in each tree");
            trees_.emplace_back(codes.data(), lengths.data(), codes.size());
        }
        for (const In<float>& of_tree : bias) {
            check_finite(of_tree, "the bias of a node is not finite");
            bias_.emplace_back(of_tree.begin(), of_tree.end());
        }
    }

    std::size_t n_words() const { return trees_[0].n_words(); }
    static float checked_rate(double rate) {
        require(rate >= 0 && rate <= 1, "a rate is from 0 to 1");
        return static_cast<float>(rate);
    }
    VectorText checked(const Words& words, const In<std::uint8_t>& resets) const {
        require(resets.size() == words.size(), "each event needs to say whether it is a reset");
        check_below(words, n_words(), "an event is not a word of the trees");
        return {words.data(), resets.data()};
    }

    std::vector<WordTree> trees_;
    std::vector<std::vector<float>> bias_;
    std::unique_ptr<Learner> learner_;
};

class LinearLearnerKernel : public LearnerKernel<LinearLearner> {
 public:
    static constexpr std::size_t max_positions = 1024;

    LinearLearnerKernel(TreeArrays trees, std::vector<In<float>> bias, std::size_t width,
                        std::size_t n_positions, std::vector<double> decays, std::uint64_t seed)
        : LearnerKernel(trees, bias, width) {
        require(n_positions > 0 && n_positions <= max_positions, "a linear state has 1 to 1024 positions");
        for (const double decay : decays) check_decay(decay);
        learner_ = std::make_unique<LinearLearner>(
            trees_, std::move(bias_),
            LinearShape{n_words(), width, n_positions, {decays.begin(), decays.end()}}, seed);
    }

    std::vector<double> learn(Words words, In<std::uint8_t> resets, std::size_t begin, std::size_t end,
                              double first_rate, double last_rate) {
        require(begin <= end && end <= words.size(), "there are no such events");
        return learner_->learn(checked(words, resets), begin, end,
                               {checked_rate(first_rate), checked_rate(last_rate)});
    }
    RoundedArrays near_vectors() const {
        return rounded_arrays(learner_->near_vectors(), learner_->shape().width);
    }
    RoundedArrays far_vectors() const {
        return rounded_arrays(learner_->far_vectors(), learner_->shape().width);
    }
    Out<float> positions() const { return std::vector<float>(learner_->positions()); }
    Out<float> sums() const { return std::vector<float>(learner_->sums()); }
};

class RecurrentLearnerKernel : public LearnerKernel<RecurrentLearner> {
 public:
    RecurrentLearnerKernel(TreeArrays trees, std::vector<In<float>> bias, std::size_t width,
                           double input_dropout, double output_dropout, std::uint64_t seed)
        : LearnerKernel(trees, bias, width) {
        for (const double share : {input_dropout, output_dropout})
            require(share >= 0 && share < 1, "a dropout is from 0 to below 1");
        learner_ = std::make_unique<RecurrentLearner>(
            trees_, std::move(bias_), n_words(), width,
            std::pair{static_cast<float>(input_dropout), static_cast<float>(output_dropout)}, seed);
    }

    static std::size_t n_batches(std::size_t n_events) { return RecurrentLearner::n_batches(n_events); }
    // `rates`: of the matrix and of rows, at the first batch and after the last one.
    std::vector<double> learn(Words words, In<std::uint8_t> resets, std::size_t begin, std::size_t end,
                              std::pair<double, double> first_rates, std::pair<double, double> last_rates) {
        require(begin <= end && end <= n_batches(words.size()), "there are no such batches");
        const auto rates = [](const std::pair<double, double>& of) {
            return RecurrentLearner::Rates{checked_rate(of.first), checked_rate(of.second)};
        };
        return learner_->learn(checked(words, resets), words.size(), begin, end,
                               {rates(first_rates), rates(last_rates)});
    }
    RoundedArrays word_vectors() const { return rounded_arrays(learner_->word_vectors(), learner_->width()); }
    Out<float> matrix() const { return std::vector<float>(learner_->matrix()); }
    Out<float> bias() const { return std::vector<float>(learner_->bias()); }
};

}  // namespace stategram
