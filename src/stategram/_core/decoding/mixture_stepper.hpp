// Mixtures word by word.
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/stepper.hpp"
#include "mixture/gate_tables.hpp"

namespace stategram {

// A state has the states of all parts.
class MixtureStepper final : public Stepper {
 public:
    MixtureStepper(std::vector<std::shared_ptr<const Stepper>> parts, std::vector<In<std::uint32_t>> ids,
                   std::vector<In<double>> shares, const GateTables& gate)
        : gate_(gate) {
        require(!parts.empty() && ids.size() == parts.size() && shares.size() == parts.size() &&
                    gate.n_parts() == parts.size() && !gate.tables().empty(),
                "a mixture needs weights for each part");
        n_words_ = ids[0].size() > 0 ? ids[0].size() : parts[0]->n_words();
        for (std::size_t i = 0; i < parts.size(); ++i) {
            require((ids[i].size() > 0 ? ids[i].size() : parts[i]->n_words()) == n_words_,
                    "a part needs an id for each word");
            check_below(ids[i], parts[i]->n_words(), "an id is not below the number of words of a part");
            require(shares[i].size() == ids[i].size(), "a part needs a share for each word");
            parts_.push_back({parts[i], ids[i], shares[i], state_size_});
            state_size_ += parts[i]->state_size();
        }
        for (const GateTable& table : gate_.tables()) {
            std::vector<Feature>& features = features_.emplace_back();
            for (const std::string& name : table.names) {
                features.push_back(parts_[table.part].stepper->feature(name));
                require(bool{features.back()}, "a part does not know a feature of the gate");
            }
        }
    }

    std::size_t n_words() const override { return n_words_; }
    std::size_t state_size() const override { return state_size_; }

    void start(bool sentence_start, std::byte* state) const override {
        for (const Part& part : parts_) part.stepper->start(sentence_start, state + part.at);
    }

    Step advance(const std::byte* state, std::uint32_t id, std::byte* after) const override {
        std::vector<double> weights(gate_.width());
        weigh(state, weights.data());
        double prob = 0;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const Part& part = parts_[i];
            const bool same = part.ids.size() == 0;
            const std::uint32_t own = same ? id : part.ids[id];
            const double log10_prob = part.stepper->advance(state + part.at, own, after + part.at).log10_prob;
            const double share = same ? 1.0 : part.shares[id];
            prob += weights[i] * share * std::exp(log10_prob * ln_10);
        }
        return {std::log10(prob), 0};
    }

    Feature feature(const std::string& name) const override {
        for (const Part& part : parts_)
            if (Feature found = part.stepper->feature(name))
                return [at = part.at, found = std::move(found)](const std::byte* state) {
                    return found(state + at);
                };
        return {};
    }

 private:
    static constexpr double ln_10 = 2.302585092994045684;

    struct Part {
        std::shared_ptr<const Stepper> stepper;
        In<std::uint32_t> ids;  // the part's id of each word; empty if all are the same
        In<double> shares;      // what each word has of the probability of the part's word
        std::size_t at;         // of its state in that of the mixture
    };

    void weigh(const std::byte* state, double* weights) const {
        std::vector<std::uint32_t> buckets(features_.size(), 0);
        for (std::size_t t = 0; t < features_.size(); ++t) {
            const GateTable& table = gate_.tables()[t];
            const std::byte* of_part = state + parts_[table.part].at;
            const std::vector<Feature>& features = features_[t];
            if (!features.empty())
                buckets[t] =
                    table.bucket(features[0](of_part), features.size() > 1 ? features[1](of_part) : 0);
        }
        gate_.weigh(buckets.data(), weights);
    }

    GateTables gate_;
    std::vector<Part> parts_;
    std::vector<std::vector<Feature>> features_;  // of each table
    std::size_t n_words_ = 0, state_size_ = 0;
};

}  // namespace stategram
