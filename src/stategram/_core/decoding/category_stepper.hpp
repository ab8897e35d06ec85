// N-gram models of categories word by word: p(g | g-1, ...) p(w | g).
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/stepper.hpp"

namespace stategram {

// A state is that of the n-gram model, and the category of the last word.
class CategoryStepper final : public Stepper {
 public:
    CategoryStepper(std::shared_ptr<const Stepper> ngrams, In<std::uint32_t> categories,
                    const In<double>& word_probs)
        : ngrams_(std::move(ngrams)), categories_(std::move(categories)), log10_probs_(word_probs.size()) {
        require(categories_.size() == word_probs.size() && categories_.size() > end_id,
                "each word needs a category, and a probability in it");
        check_below(categories_, ngrams_->n_words(), "a category is not in the n-gram model");
        for (std::size_t id = 0; id < log10_probs_.size(); ++id)
            log10_probs_[id] = std::log10(word_probs[id]);
    }

    std::size_t n_words() const override { return log10_probs_.size(); }
    std::size_t state_size() const override { return ngrams_->state_size() + sizeof(std::uint32_t); }

    void start(bool sentence_start, std::byte* state) const override {
        ngrams_->start(sentence_start, state);
        store<std::uint32_t>(state + ngrams_->state_size(), sentence_start ? begin_id : unknown_id);
    }

    Step advance(const std::byte* state, std::uint32_t id, std::byte* after) const override {
        const std::uint32_t category = categories_[id];
        const Step step = ngrams_->advance(state, category, after);
        store(after + ngrams_->state_size(), category);
        return {step.log10_prob + log10_probs_[id], 0};
    }

    void score_words(bool sentence_start, const std::uint32_t* ids, std::size_t n,
                     Step* steps) const override {
        std::vector<std::uint32_t> categories(n);
        for (std::size_t i = 0; i < n; ++i) categories[i] = categories_[ids[i]];
        ngrams_->score_words(sentence_start, categories.data(), n, steps);
        for (std::size_t i = 0; i < n; ++i) steps[i] = {steps[i].log10_prob + log10_probs_[ids[i]], 0};
    }

    Feature feature(const std::string& name) const override {
        if (name != "category") return ngrams_->feature(name);
        return [at = ngrams_->state_size()](const std::byte* state) {
            return static_cast<float>(load<std::uint32_t>(state + at));
        };
    }

 private:
    std::shared_ptr<const Stepper> ngrams_;
    In<std::uint32_t> categories_;
    std::vector<double> log10_probs_;  // of each word in its category
};

}  // namespace stategram
