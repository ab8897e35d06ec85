// Exchange for p(G(w)|S(c)): a map S from contexts to states and a map G from words to categories.
//
//   F = sum N(s,g) log N(s,g) - sum N(s) log N(s) - sum N(g) log N(g)
//
// One side moves at a time. If every context is a state of its own and stays so (predictive classes), the
// states are many and their rows short; only the table that moves words is kept then.
#include <cmath>
#include <memory>

#include "count_table.hpp"
#include "exchange.hpp"

namespace stategram {
namespace {

// Moves the elements of one side. `across`: counts of each element with the elements of the other side.
class Side {
 public:
    struct Scratch {
        ClusterCounts counts;
        std::vector<float> scores;
    };

    Side(Neighbours across, std::vector<std::uint32_t> labels, std::size_t clusters, std::size_t targets,
         int threads, std::size_t shortlist)
        : across_(std::move(across)), labels_(std::move(labels)), targets_(targets), noise_(targets) {
        if (targets < 1 || targets > clusters) throw std::invalid_argument("targets must be 1 to clusters");
        margins_ = CountTable(1, clusters);
        element_counts_.resize(labels_.size());
        for (std::size_t x = 0; x < labels_.size(); ++x) {
            element_counts_[x] = across_.total(x);
            margins_.add(0, labels_[x], element_counts_[x]);
        }
        scratch_.resize(static_cast<std::size_t>(threads));
        shortlists_ = Shortlists(labels_.size(), std::min(shortlist, targets));
    }

    // `table`: a row for each cluster of the other side, contiguous over the clusters of this one.
    // `mirror`: its transpose, if the other side moves too.
    void connect(const Side& other, CountTable& table, CountTable* mirror) {
        other_ = &other;
        table_ = &table;
        mirror_ = mirror;
        for (Scratch& mine : scratch_) {
            mine.counts.reset(table.rows());
            mine.scores.resize(targets_);
        }
    }

    // Takes another f for the sums N(s) or N(g).
    void use(const Entropy& f) { margins_.use(f); }

    // How many clusters have elements.
    std::int64_t occupied() const { return margins_.filled().any; }

    std::size_t targets() const { return targets_; }
    double largest_term() const { return Entropy::get()(margins_.total(0)); }
    std::uint32_t label(std::uint32_t element) const { return labels_[element]; }
    const std::vector<std::uint32_t>& labels() const { return labels_; }
    const CountTable& margins() const { return margins_; }
    std::vector<Scratch>& scratch() { return scratch_; }
    Shortlists& shortlists() { return shortlists_; }
    const GumbelNoise& noise() const { return noise_; }

    void gather(std::uint32_t element, Scratch& mine) const {
        mine.counts.clear();
        for (std::int64_t i = across_.begin(element); i < across_.end(element); ++i)
            mine.counts.add(other_->labels_[across_.ids.data()[i]], across_.counts.data()[i]);
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
            scores[home] = static_cast<float>(join(element, home, mine) - pending.everywhere);
    }

    // What the criterion gains when the element, first taken out of its cluster, joins the target.
    double join(std::uint32_t element, std::uint32_t target, const Scratch& mine) const {
        const Entropy& f = table_->f();
        const std::int64_t sign = target == labels_[element] ? -1 : 1;
        double sum = -margins_.f().gain(margins_.get(0, target), sign * element_counts_[element]);
        // The row of the target in the mirror is short enough for the first-level cache.
        if (mirror_ != nullptr && sign > 0) return sum + mine.counts.gains(*mirror_, target);
        for (std::uint32_t c : mine.counts.clusters())
            sum += f.gain(table_->get(c, target), sign * mine.counts[c]);
        return static_cast<double>(sign) * sum;
    }

    double gain(std::uint32_t element, std::uint32_t target, const Scratch& mine) const {
        return join(element, target, mine) - join(element, labels_[element], mine);
    }

    Out<float> scores(std::uint32_t element) {
        if (element >= labels_.size()) throw std::invalid_argument("no such element");
        gather(element, scratch_[0]);
        score(element, scratch_[0]);
        return to_numpy(std::vector<float>(scratch_[0].scores));
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
    GumbelNoise noise_;
    CountTable margins_;
    std::vector<std::int64_t> element_counts_;
    std::vector<Scratch> scratch_;
    Shortlists shortlists_;
    const Side* other_ = nullptr;
    CountTable* table_ = nullptr;
    CountTable* mirror_ = nullptr;
};

class TwoSidedExchange {
 public:
    TwoSidedExchange(In<std::int64_t> word_offsets, In<std::uint32_t> words, In<std::uint32_t> word_counts,
                     In<std::int64_t> context_offsets, In<std::uint32_t> contexts,
                     In<std::uint32_t> context_counts, In<std::uint32_t> states, In<std::uint32_t> categories,
                     std::size_t n_states, std::size_t state_targets, std::size_t n_categories,
                     std::size_t category_targets, bool states_move, int threads, std::size_t shortlist)
        : states_move_(states_move), pool_(threads) {
        const Neighbours of_contexts{word_offsets, words, word_counts};
        const Neighbours of_words{context_offsets, contexts, context_counts};
        nb::gil_scoped_release release;
        of_contexts.check(states.size(), categories.size());
        of_words.check(categories.size(), states.size());
        of_contexts.check_transpose(of_words);
        contexts_ = std::make_unique<Side>(of_contexts, checked_labels(states, states.size(), n_states),
                                           n_states, state_targets, threads, shortlist);
        words_ = std::make_unique<Side>(of_words, checked_labels(categories, categories.size(), n_categories),
                                        n_categories, category_targets, threads, shortlist);
        by_state_ = CountTable(n_categories, widths(of_contexts, n_states, n_categories));
        if (states_move) by_category_ = CountTable(n_categories, n_states);
        for (std::size_t x = 0; x < states.size(); ++x)
            for (std::int64_t i = of_contexts.begin(x); i < of_contexts.end(x); ++i) {
                const std::uint32_t g = words_->labels()[words.data()[i]];
                by_state_.add(contexts_->labels()[x], g, word_counts.data()[i]);
                if (states_move) by_category_.add(g, contexts_->labels()[x], word_counts.data()[i]);
            }
        words_->connect(*contexts_, by_state_, states_move ? &by_category_ : nullptr);
        if (states_move) contexts_->connect(*words_, by_category_, &by_state_);
        criterion_ = recount();
    }

    std::size_t sweep_words(In<std::uint32_t> order, In<float> scales, float temperature, std::uint64_t seed,
                            bool shortlisted) {
        return run(*words_, order, scales, temperature, seed, shortlisted);
    }

    std::size_t sweep_contexts(In<std::uint32_t> order, In<float> scales, float temperature,
                               std::uint64_t seed, bool shortlisted) {
        check_states_move();
        return run(*contexts_, order, scales, temperature, seed, shortlisted);
    }

    // Turns to the criterion of leaving-one-out, with the b, n+ and n0 of the present tables; called again,
    // it takes their new values. They stay as they are during a sweep.
    void leave_one_out() {
        check_states_move();
        const CountTable::Filled cells = by_state_.filled();
        const double ones = static_cast<double>(cells.ones), twos = static_cast<double>(cells.twos);
        b_ = ones > 0.0 ? ones / (ones + 2.0 * twos) : 0.0;
        const auto empty = static_cast<double>(contexts_->occupied() * words_->occupied() - cells.any);
        const double share = b_ * (static_cast<double>(cells.any) - 1.0) / (empty + 1.0);
        auto cell = std::make_unique<const Entropy>(b_, share > 0.0 ? std::log(share) : 0.0);
        auto margin = std::make_unique<const Entropy>(0.0, 0.0);
        by_state_.use(*cell);
        by_category_.use(*cell);
        contexts_->use(*margin);
        words_->use(*margin);
        cell_ = std::move(cell);
        margin_ = std::move(margin);
        criterion_ = recount();
        likelihood_ = recount_likelihood();
    }
    double b() const { return b_; }

    // Takes the criterion anew from the tables, so that it does not depend on how they came about.
    void settle() { criterion_ = recount(); }

    Out<float> word_scores(std::uint32_t word) { return words_->scores(word); }
    Out<float> context_scores(std::uint32_t context) {
        check_states_move();
        return contexts_->scores(context);
    }

    double criterion() const { return criterion_; }
    // The criterion of maximum likelihood, whichever is used. Under leaving-one-out it would take too long to
    // compute at all times: it is that of the tables when `leave_one_out` was last called.
    double likelihood() const { return cell_ ? likelihood_ : criterion_; }
    double recount() const {
        return by_state_.entropy() - contexts_->margins().entropy() - words_->margins().entropy();
    }
    Out<std::uint32_t> states() const { return to_numpy(std::vector<std::uint32_t>(contexts_->labels())); }
    Out<std::uint32_t> categories() const { return to_numpy(std::vector<std::uint32_t>(words_->labels())); }

 private:
    double recount_likelihood() const {
        const Entropy& f = Entropy::get();
        return by_state_.entropy(f) - contexts_->margins().entropy(f) - words_->margins().entropy(f);
    }

    void check_states_move() const {
        if (!states_move_) throw std::invalid_argument("the states of this exchange do not move");
    }

    std::size_t run(Side& side, In<std::uint32_t>& order, In<float>& scales, float temperature,
                    std::uint64_t seed, bool shortlisted) {
        SweepOrder checked =
            checked_order(order, scales, temperature, seed, shortlisted, side.labels().size());
        nb::gil_scoped_release release;
        const BusyGuard guard(occupied_);
        std::size_t moves =
            sweep(side, side.scratch(), side.shortlists(), side.noise(), checked, pool_, criterion_);
        check_criterion(criterion_, [&] { return recount(); });
        return moves;
    }

    // A state that moves may get any context; one that stays has the words of its contexts and no others.
    std::vector<std::size_t> widths(const Neighbours& of_contexts, std::size_t n_states,
                                    std::size_t n_categories) const {
        if (states_move_) return std::vector<std::size_t>(n_states, n_categories);
        std::vector<std::size_t> result(n_states, 0);
        for (std::size_t x = 0; x < of_contexts.rows(); ++x)
            result[contexts_->labels()[x]] +=
                static_cast<std::size_t>(of_contexts.end(x) - of_contexts.begin(x));
        return result;
    }

    bool states_move_;
    ThreadPool pool_;
    std::unique_ptr<Side> contexts_, words_;
    CountTable by_state_;                           // N[s][g]: row s contiguous over categories
    CountTable by_category_;                        // its transpose
    std::unique_ptr<const Entropy> cell_, margin_;  // of leaving-one-out
    double b_ = 0.0;
    double criterion_ = 0.0;
    double likelihood_ = 0.0;
    std::atomic<bool> occupied_{false};
};

}  // namespace

void register_two_sided_exchange(nb::module_& m) {
    nb::class_<TwoSidedExchange>(m, "TwoSidedExchange")
        .def(nb::init<In<std::int64_t>, In<std::uint32_t>, In<std::uint32_t>, In<std::int64_t>,
                      In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, std::size_t,
                      std::size_t, std::size_t, std::size_t, bool, int, std::size_t>(),
             nb::arg("word_offsets").noconvert(), nb::arg("words").noconvert(),
             nb::arg("word_counts").noconvert(), nb::arg("context_offsets").noconvert(),
             nb::arg("contexts").noconvert(), nb::arg("context_counts").noconvert(),
             nb::arg("states").noconvert(), nb::arg("categories").noconvert(), nb::arg("n_states"),
             nb::arg("state_targets"), nb::arg("n_categories"), nb::arg("category_targets"),
             nb::arg("states_move"), nb::arg("threads"), nb::arg("shortlist") = 0)
        .def("sweep_words", &TwoSidedExchange::sweep_words, nb::arg("order").noconvert(),
             nb::arg("scales").noconvert(), nb::arg("temperature"), nb::arg("seed"),
             nb::arg("shortlisted") = false)
        .def("sweep_contexts", &TwoSidedExchange::sweep_contexts, nb::arg("order").noconvert(),
             nb::arg("scales").noconvert(), nb::arg("temperature"), nb::arg("seed"),
             nb::arg("shortlisted") = false)
        .def("word_scores", &TwoSidedExchange::word_scores, nb::arg("word"),
             "For each category, the gain of putting the word, first taken out, into it; up to a constant.")
        .def("context_scores", &TwoSidedExchange::context_scores, nb::arg("context"),
             "For each state, the gain of putting the context, first taken out, into it; up to a constant.")
        .def("leave_one_out", &TwoSidedExchange::leave_one_out,
             "Take the criterion of leaving-one-out, with b of the present counts.")
        .def_prop_ro("b", &TwoSidedExchange::b)
        .def("settle", &TwoSidedExchange::settle, "Compute the criterion anew.")
        .def("states", &TwoSidedExchange::states)
        .def("categories", &TwoSidedExchange::categories)
        .def_prop_ro("criterion", &TwoSidedExchange::criterion)
        .def_prop_ro("likelihood", &TwoSidedExchange::likelihood)
        .def("recount", &TwoSidedExchange::recount, "The criterion computed anew from the tables.");
}

}  // namespace stategram
