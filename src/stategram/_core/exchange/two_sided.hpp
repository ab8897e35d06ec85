// Exchange for p(G(w)|S(c)): a map S from contexts to states and a map G from words to categories.
//
//   F = sum N(s,g) log N(s,g) - sum N(s) log N(s) - sum N(g) log N(g)
//
// One side moves at a time. If every context is a state of its own and stays so (predictive classes), the
// states are many and their rows short; only the table that moves words is kept then.
#pragma once

#include <cmath>
#include <memory>

#include "exchange/count_table.hpp"
#include "exchange/exchange.hpp"

namespace stategram {

// The elements of one side and their clusters, a Problem of Mover. `across`: counts of each element with the
// elements of the other side.
class Side {
 public:
    struct Scratch {
        ClusterCounts counts;
        std::vector<float> scores;
    };

    Side(Neighbours across, std::vector<std::uint32_t> labels, std::size_t clusters, std::size_t targets)
        : across_(std::move(across)), labels_(std::move(labels)), targets_(targets) {
        if (targets < 1 || targets > clusters) throw std::invalid_argument("targets must be 1 to clusters");
        margins_ = CountTable(1, clusters, across_.total());
        element_counts_.resize(labels_.size());
        for (std::size_t x = 0; x < labels_.size(); ++x) {
            element_counts_[x] = across_.total(x);
            margins_.add(0, labels_[x], element_counts_[x]);
        }
    }

    // `table`: a row for each cluster of the other side, contiguous over the clusters of this one.
    // `mirror`: its transpose, if the other side moves too.
    void connect(const Side& other, CountTable& table, CountTable* mirror) {
        other_ = &other;
        table_ = &table;
        mirror_ = mirror;
    }

    // Replaces f for the sums N(s) or N(g).
    void use(const CountTerm& f) { margins_.use(f); }

    // How many clusters have elements.
    std::int64_t occupied() const { return margins_.filled().any; }

    Scratch new_scratch() const {
        Scratch mine;
        mine.counts.reset(table_->rows());
        mine.scores.resize(targets_);
        return mine;
    }
    std::size_t elements() const { return labels_.size(); }
    std::size_t targets() const { return targets_; }
    double largest_term() const { return CountTerm::n_log_n()(margins_.total(0)); }
    std::uint32_t label(std::uint32_t element) const { return labels_[element]; }
    const std::vector<std::uint32_t>& labels() const { return labels_; }
    const CountTable& margins() const { return margins_; }

    void gather(std::uint32_t element, Scratch& mine) const {
        mine.counts.clear();
        for (std::int64_t i = across_.begin(element); i < across_.end(element); ++i)
            mine.counts.add(other_->labels_[across_.ids[i]], across_.counts[i]);
        mine.counts.finish();
    }

    void score(std::uint32_t element, Scratch& mine) const {
        const std::uint32_t home = labels_[element];
        const std::int64_t n = element_counts_[element];
        float* scores = mine.scores.data();
        std::fill(mine.scores.begin(), mine.scores.end(), 0.0f);
        if (n > 0) margins_.accumulate_scaled(0, n, -1.0f, scores, targets_);
        CountTable::Pending pending;
        for (std::uint32_t c : mine.counts.clusters())
            table_->accumulate(c, mine.counts[c], scores, targets_, pending);
        CountTable::flush(scores, targets_, pending);
        // What sparse rows add to every target alike must be taken off the home too.
        if (home < targets_)
            scores[home] = static_cast<float>(insertion_gain(element, home, mine) - pending.everywhere);
    }

    // What the criterion gains when the element, first taken out of its cluster, is put into the target.
    double insertion_gain(std::uint32_t element, std::uint32_t target, const Scratch& mine) const {
        const CountTerm& f = table_->f();
        const std::int64_t sign = target == labels_[element] ? -1 : 1;
        double sum = -margins_.f().gain(margins_.get(0, target), sign * element_counts_[element]);
        // The row of the target in the mirror is short enough for the first-level cache.
        if (mirror_ != nullptr && sign > 0) return sum + mine.counts.gains(*mirror_, target);
        for (std::uint32_t c : mine.counts.clusters())
            sum += f.gain(table_->get(c, target), sign * mine.counts[c]);
        return static_cast<double>(sign) * sum;
    }

    void move(std::uint32_t element, std::uint32_t target, const Scratch& mine) {
        const std::uint32_t home = labels_[element];
        for (std::uint32_t c : mine.counts.clusters()) {
            change(c, home, -mine.counts[c]);
            change(c, target, mine.counts[c]);
        }
        margins_.add(0, home, -element_counts_[element]);
        margins_.add(0, target, element_counts_[element]);
        labels_[element] = target;
    }

 private:
    void change(std::size_t across, std::size_t own, std::int64_t by) {
        table_->add(across, own, by);
        if (mirror_ != nullptr) mirror_->add(own, across, by);
    }

    Neighbours across_;
    std::vector<std::uint32_t> labels_;
    std::size_t targets_;
    CountTable margins_;
    std::vector<std::int64_t> element_counts_;
    const Side* other_ = nullptr;
    CountTable* table_ = nullptr;
    CountTable* mirror_ = nullptr;
};

enum class Which { words, contexts };

class TwoSidedExchange : public Exclusive {
 public:
    TwoSidedExchange(In<std::int64_t> word_offsets, In<std::uint32_t> words, In<std::uint32_t> word_counts,
                     In<std::int64_t> context_offsets, In<std::uint32_t> contexts,
                     In<std::uint32_t> context_counts, In<std::uint32_t> states, In<std::uint32_t> categories,
                     std::size_t n_states, std::size_t state_targets, std::size_t n_categories,
                     std::size_t category_targets, bool states_move, int threads, std::size_t shortlist)
        : states_move_(states_move), pool_(threads) {
        const Neighbours of_contexts{word_offsets, words, word_counts};
        const Neighbours of_words{context_offsets, contexts, context_counts};
        of_contexts.check(states.size(), categories.size());
        of_words.check(categories.size(), states.size());
        of_contexts.check_transpose(of_words);
        contexts_ = std::make_unique<Side>(of_contexts, checked_labels(states, states.size(), n_states),
                                           n_states, state_targets);
        words_ = std::make_unique<Side>(of_words, checked_labels(categories, categories.size(), n_categories),
                                        n_categories, category_targets);
        fill_tables(of_contexts, n_states, n_categories);
        words_->connect(*contexts_, by_state_, states_move ? &by_category_ : nullptr);
        word_mover_ = std::make_unique<Mover<Side>>(*words_, shortlist, threads);
        if (states_move) {
            contexts_->connect(*words_, by_category_, &by_state_);
            context_mover_ = std::make_unique<Mover<Side>>(*contexts_, shortlist, threads);
        }
        criterion_ = recount();
    }

    template <Which which>
    std::size_t visit(const In<std::uint32_t>& elements, const In<float>& scales, float temperature,
                      std::uint64_t seed, bool shortlisted) {
        const Scoring how{scales, temperature, seed, shortlisted};
        const std::size_t moves = mover<which>().visit(elements, how, pool_, criterion_);
        check_criterion(criterion_, [&] { return recount(); });
        return moves;
    }

    template <Which which>
    ProposalArrays propose(const In<std::uint32_t>& elements, const In<float>& scales, float temperature,
                           std::uint64_t seed, bool shortlisted) {
        const Scoring how{scales, temperature, seed, shortlisted};
        Proposals proposals = mover<which>().propose(elements, how, pool_);
        return {std::move(proposals.targets), std::move(proposals.noise)};
    }

    template <Which which>
    std::size_t apply(const In<std::uint32_t>& elements, const In<std::uint32_t>& targets,
                      const In<double>& noise) {
        return mover<which>().apply(elements, targets, noise, criterion_);
    }

    template <Which which>
    Out<float> scores(std::uint32_t element) {
        return mover<which>().scores(element);
    }

    template <Which which>
    Out<double> gains(std::uint32_t target) {
        return mover<which>().gains(target, pool_);
    }

    template <Which which>
    Out<std::uint32_t> labels() const {
        return std::vector<std::uint32_t>((which == Which::words ? words_ : contexts_)->labels());
    }

    // Switches to the criterion of leaving-one-out, with the b, n+ and n0 of the present tables; called
    // again, it takes their new values. They stay as they are during a sweep.
    double leave_one_out() {
        if (!states_move_) throw std::invalid_argument("the states of this exchange do not move");
        const CountTable::Filled cells = by_state_.filled();
        const double ones = static_cast<double>(cells.ones), twos = static_cast<double>(cells.twos);
        b_ = ones > 0.0 ? ones / (ones + 2.0 * twos) : 0.0;
        const auto empty = static_cast<double>(contexts_->occupied() * words_->occupied() - cells.any);
        const double unseen = b_ * (static_cast<double>(cells.any) - 1.0) / (empty + 1.0);
        auto cell = std::make_unique<const CountTerm>(b_, unseen > 0.0 ? std::log(unseen) : 0.0);
        auto margin = std::make_unique<const CountTerm>(0.0, 0.0);
        by_state_.use(*cell);
        by_category_.use(*cell);
        contexts_->use(*margin);
        words_->use(*margin);
        cell_ = std::move(cell);
        margin_ = std::move(margin);
        likelihood_ = recount_likelihood();
        return criterion_ = recount();
    }

    double b() const { return b_; }
    double criterion() const { return criterion_; }
    double recompute_criterion() { return criterion_ = recount(); }
    // The criterion of maximum likelihood, whichever is used. Under leaving-one-out it would take too long to
    // compute at all times: it is that of the tables when `leave_one_out` was last called.
    double likelihood() const { return cell_ ? likelihood_ : criterion_; }

 private:
    template <Which which>
    Mover<Side>& mover() {
        if constexpr (which == Which::words) return *word_mover_;
        if (!states_move_) throw std::invalid_argument("the states of this exchange do not move");
        return *context_mover_;
    }

    double recount() const {
        return by_state_.sum_of_terms() - contexts_->margins().sum_of_terms() -
               words_->margins().sum_of_terms();
    }

    double recount_likelihood() const {
        const CountTerm& f = CountTerm::n_log_n();
        return by_state_.sum_of_terms(f) - contexts_->margins().sum_of_terms(f) -
               words_->margins().sum_of_terms(f);
    }

    void fill_tables(const Neighbours& of_contexts, std::size_t n_states, std::size_t n_categories) {
        const std::int64_t events = of_contexts.total();
        by_state_ = CountTable(n_categories, widths(of_contexts, n_states, n_categories), events);
        if (states_move_) by_category_ = CountTable(n_categories, n_states, events);
        for (std::size_t x = 0; x < of_contexts.rows(); ++x)
            for (std::int64_t i = of_contexts.begin(x); i < of_contexts.end(x); ++i) {
                const std::uint32_t s = contexts_->labels()[x];
                const std::uint32_t g = words_->labels()[of_contexts.ids[i]];
                by_state_.add(s, g, of_contexts.counts[i]);
                if (states_move_) by_category_.add(g, s, of_contexts.counts[i]);
            }
    }

    // A state that moves may get any context; one that stays has the words of its contexts and no others.
    std::vector<std::size_t> widths(const Neighbours& of_contexts, std::size_t n_states,
                                    std::size_t n_categories) const {
        if (states_move_) return std::vector<std::size_t>(n_states, n_categories);
        std::vector<std::size_t> result(n_states, 0);
        for (std::size_t x = 0; x < of_contexts.rows(); ++x)
            result[contexts_->labels()[x]] +=
                static_cast<std::size_t>(of_contexts.end(x) - of_contexts.begin(x));
        for (std::size_t s = 0; s < n_states; ++s)
            if (contexts_->margins().get(0, s) > CountTable::largest_in_list) result[s] = n_categories;
        return result;
    }

    bool states_move_;
    ThreadPool pool_;
    std::unique_ptr<Side> contexts_, words_;
    std::unique_ptr<Mover<Side>> context_mover_, word_mover_;
    CountTable by_state_;                             // N[s][g]: row s contiguous over categories
    CountTable by_category_;                          // its transpose
    std::unique_ptr<const CountTerm> cell_, margin_;  // of leaving-one-out
    double b_ = 0.0;
    double criterion_ = 0.0;
    double likelihood_ = 0.0;
};

}  // namespace stategram
