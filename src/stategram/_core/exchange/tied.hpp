// Exchange for the classical class bigram: one map G from words to classes on both sides.
//
//   F = sum N(a,b) log N(a,b) - 2 sum N(a) log N(a)
//
// The stream of words is closed (its first predecessor is the boundary that ends each sentence), so left
// and right margins are the same. Classes 0..targets-1 take words. Further classes are context only: that
// of the boundary, and that of words which have no class yet.
#pragma once

#include <memory>

#include "exchange/count_table.hpp"
#include "exchange/exchange.hpp"

namespace stategram {

// The words and their classes, a Problem of Mover.
class TiedWords {
 public:
    struct Scratch {
        ClusterCounts after, before;  // without the word itself
        std::int64_t twice = 0;       // how often the word follows itself
        std::vector<float> scores;
    };

    TiedWords(Neighbours successors, Neighbours predecessors, const In<std::uint32_t>& labels,
              std::size_t classes, std::size_t targets)
        : successors_(std::move(successors)), predecessors_(std::move(predecessors)), targets_(targets) {
        if (targets < 1 || targets > classes) throw std::invalid_argument("targets must be 1 to classes");
        successors_.check(labels.size(), labels.size());
        predecessors_.check(labels.size(), labels.size());
        successors_.check_transpose(predecessors_);
        labels_ = checked_labels(labels, labels.size(), classes);
        const std::int64_t events = successors_.total();
        following_ = CountTable(classes, classes, events);
        preceding_ = CountTable(classes, classes, events);
        margins_ = CountTable(1, classes, events);
        word_counts_.resize(labels_.size());
        for (std::size_t w = 0; w < labels_.size(); ++w) {
            word_counts_[w] = successors_.total(w);
            if (word_counts_[w] != predecessors_.total(w))
                throw std::invalid_argument("a word must have as many predecessors as successors");
            margins_.add(0, labels_[w], word_counts_[w]);
            for (std::int64_t i = successors_.begin(w); i < successors_.end(w); ++i)
                add(labels_[w], labels_[successors_.ids[i]], successors_.counts[i]);
        }
    }

    Scratch new_scratch() const {
        Scratch mine;
        mine.after.reset(following_.rows());
        mine.before.reset(following_.rows());
        mine.scores.resize(targets_);
        return mine;
    }
    std::size_t elements() const { return labels_.size(); }
    std::size_t targets() const { return targets_; }
    double largest_term() const { return CountTerm::n_log_n()(margins_.total(0)); }
    std::uint32_t label(std::uint32_t word) const { return labels_[word]; }
    const std::vector<std::uint32_t>& labels() const { return labels_; }
    double criterion() const { return following_.sum_of_terms() - 2.0 * margins_.sum_of_terms(); }

    void gather(std::uint32_t word, Scratch& mine) const {
        mine.after.clear();
        mine.before.clear();
        mine.twice = 0;
        for (std::int64_t i = successors_.begin(word); i < successors_.end(word); ++i) {
            const std::uint32_t other = successors_.ids[i], n = successors_.counts[i];
            if (other == word)
                mine.twice += n;
            else
                mine.after.add(labels_[other], n);
        }
        for (std::int64_t i = predecessors_.begin(word); i < predecessors_.end(word); ++i) {
            const std::uint32_t other = predecessors_.ids[i];
            if (other != word) mine.before.add(labels_[other], predecessors_.counts[i]);
        }
        mine.after.finish();
        mine.before.finish();
    }

    // The tables hold the word in its class `home`; it is taken out on paper. For a target b != home that
    // changes only the cells (b, home) and (home, b); the corner (b, b) takes row, column and self-bigrams
    // at once. Both are put right after the plain sums, and home is scored by itself.
    void score(std::uint32_t word, Scratch& mine) const {
        const std::uint32_t home = labels_[word];
        float* scores = mine.scores.data();
        std::fill(mine.scores.begin(), mine.scores.end(), 0.0f);
        if (word_counts_[word] > 0)
            margins_.accumulate_scaled(0, word_counts_[word], -2.0f, scores, targets_);
        CountTable::Pending pending;
        for (std::uint32_t c : mine.after.clusters())
            preceding_.accumulate(c, mine.after[c], scores, targets_, pending);
        for (std::uint32_t c : mine.before.clusters())
            following_.accumulate(c, mine.before[c], scores, targets_, pending);
        CountTable::flush(scores, targets_, pending);
        correct_corners(home, mine);
        correct_home_cells(home, mine);
        if (home < targets_) scores[home] = static_cast<float>(insertion_gain(word, home, mine));
    }

    // What the criterion gains when the word, first taken out of its class, is put into the target.
    double insertion_gain(std::uint32_t word, std::uint32_t target, const Scratch& mine) const {
        const std::uint32_t home = labels_[word];
        const CountTerm& f = CountTerm::n_log_n();
        const std::int64_t n = word_counts_[word];
        const std::int64_t corner = mine.after[target] + mine.before[target] + mine.twice;
        double sum = 0.0;
        if (target == home) {
            for (std::uint32_t c : mine.after.clusters())
                if (c != home) sum -= f.gain(following_.get(home, c), -mine.after[c]);
            for (std::uint32_t c : mine.before.clusters())
                if (c != home) sum -= f.gain(preceding_.get(home, c), -mine.before[c]);
            return sum - f.gain(following_.get(home, home), -corner) +
                   2.0 * f.gain(margins_.get(0, home), -n);
        }
        sum = mine.after.gains(following_, target) + mine.before.gains(preceding_, target);
        // The corner counts once, and the cells of home are without the word: both otherwise than summed.
        const std::int64_t self = following_.get(target, target);
        const std::int64_t to_home = following_.get(target, home), from_home = following_.get(home, target);
        sum += f.gain(self, corner) - f.gain(self, mine.after[target]) - f.gain(self, mine.before[target]);
        sum += f.gain(to_home - mine.before[target], mine.after[home]) - f.gain(to_home, mine.after[home]);
        sum +=
            f.gain(from_home - mine.after[target], mine.before[home]) - f.gain(from_home, mine.before[home]);
        return sum - 2.0 * f.gain(margins_.get(0, target), n);
    }

    void move(std::uint32_t word, std::uint32_t target, const Scratch& mine) {
        const std::uint32_t home = labels_[word];
        for (std::uint32_t c : mine.after.clusters()) {
            add(home, c, -mine.after[c]);
            add(target, c, mine.after[c]);
        }
        for (std::uint32_t c : mine.before.clusters()) {
            add(c, home, -mine.before[c]);
            add(c, target, mine.before[c]);
        }
        if (mine.twice > 0) {
            add(home, home, -mine.twice);
            add(target, target, mine.twice);
        }
        margins_.add(0, home, -word_counts_[word]);
        margins_.add(0, target, word_counts_[word]);
        labels_[word] = target;
    }

 private:
    void add(std::size_t first, std::size_t second, std::int64_t change) {
        following_.add(first, second, change);
        preceding_.add(second, first, change);
    }

    void correct_corners(std::uint32_t home, Scratch& mine) const {
        const CountTerm& f = CountTerm::n_log_n();
        float* scores = mine.scores.data();
        auto correct = [&](std::size_t b) {
            const std::int64_t corner = following_.get(b, b), after = mine.after[b], before = mine.before[b];
            scores[b] += static_cast<float>(f.gain(corner, after + before + mine.twice) -
                                            f.gain(corner, after) - f.gain(corner, before));
        };
        if (mine.twice > 0) {
            for (std::size_t b = 0; b < targets_; ++b) correct(b);
            return;
        }
        // Without self-bigrams the sums are right already where only one side is there.
        for (std::uint32_t b : mine.after.clusters())
            if (b < targets_ && b != home && mine.before[b] > 0) correct(b);
    }

    void correct_home_cells(std::uint32_t home, Scratch& mine) const {
        const CountTerm& f = CountTerm::n_log_n();
        float* scores = mine.scores.data();
        if (const std::int64_t n = mine.after[home]; n > 0)
            for (std::uint32_t b : mine.before.clusters())
                if (b < targets_) {
                    const std::int64_t cell = following_.get(b, home);
                    scores[b] += static_cast<float>(f.gain(cell - mine.before[b], n) - f.gain(cell, n));
                }
        if (const std::int64_t n = mine.before[home]; n > 0)
            for (std::uint32_t b : mine.after.clusters())
                if (b < targets_) {
                    const std::int64_t cell = following_.get(home, b);
                    scores[b] += static_cast<float>(f.gain(cell - mine.after[b], n) - f.gain(cell, n));
                }
    }

    Neighbours successors_, predecessors_;
    std::size_t targets_;
    std::vector<std::uint32_t> labels_;
    std::vector<std::int64_t> word_counts_;
    CountTable following_;  // N[a][b]: row a contiguous over the class b that follows
    CountTable preceding_;  // the transpose: row b contiguous over the class a before
    CountTable margins_;
};

class TiedExchange : public Exclusive {
 public:
    TiedExchange(In<std::int64_t> successor_offsets, In<std::uint32_t> successors,
                 In<std::uint32_t> successor_counts, In<std::int64_t> predecessor_offsets,
                 In<std::uint32_t> predecessors, In<std::uint32_t> predecessor_counts,
                 In<std::uint32_t> labels, std::size_t classes, std::size_t targets, int threads,
                 std::size_t shortlist)
        : pool_(threads) {
        const Neighbours after{successor_offsets, successors, successor_counts};
        const Neighbours before{predecessor_offsets, predecessors, predecessor_counts};
        words_ = std::make_unique<TiedWords>(after, before, labels, classes, targets);
        mover_ = std::make_unique<Mover<TiedWords>>(*words_, shortlist, threads);
        criterion_ = words_->criterion();
    }

    std::size_t visit(const In<std::uint32_t>& elements, const In<float>& scales, float temperature,
                      std::uint64_t seed, bool shortlisted) {
        const Scoring how{scales, temperature, seed, shortlisted};
        const std::size_t moves = mover_->visit(elements, how, pool_, criterion_);
        check_criterion(criterion_, [&] { return words_->criterion(); });
        return moves;
    }

    ProposalArrays propose(const In<std::uint32_t>& elements, const In<float>& scales, float temperature,
                           std::uint64_t seed, bool shortlisted) {
        const Scoring how{scales, temperature, seed, shortlisted};
        Proposals proposals = mover_->propose(elements, how, pool_);
        return {std::move(proposals.targets), std::move(proposals.noise)};
    }

    std::size_t apply(const In<std::uint32_t>& elements, const In<std::uint32_t>& targets,
                      const In<double>& noise) {
        return mover_->apply(elements, targets, noise, criterion_);
    }

    Out<float> scores(std::uint32_t word) { return mover_->scores(word); }
    Out<std::uint32_t> labels() const { return std::vector<std::uint32_t>(words_->labels()); }
    double criterion() const { return criterion_; }
    double recompute_criterion() { return criterion_ = words_->criterion(); }

 private:
    ThreadPool pool_;
    std::unique_ptr<TiedWords> words_;
    std::unique_ptr<Mover<TiedWords>> mover_;
    double criterion_ = 0.0;
};

}  // namespace stategram
