// The exchange algorithm: move one element at a time to the cluster where the criterion gains most.
//
// A batch of elements is scored in parallel against the tables as they are; then the proposed moves are
// made in order, each only after its exact gain was computed again. So the result does not depend on the
// number of threads, and at temperature 0 the criterion never falls.
//
// At a temperature T > 0 every score gets Gumbel noise of that scale. The largest noisy score is then a
// draw from the softmax of scores / T: a heat bath, simulated annealing by the same sweep.
//
// The best targets of an element change little from sweep to sweep. A sweep that scores all targets notes a
// shortlist of them for each element, and the next sweeps may look at those alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "count_table.hpp"
#include "rows.hpp"
#include "threads.hpp"

namespace stategram {

// Counts of pairs in compressed rows, owned by NumPy.
struct Neighbours {
    In<std::int64_t> offsets;
    In<std::uint32_t> ids;
    In<std::uint32_t> counts;

    std::size_t rows() const { return offsets.size() - 1; }
    std::int64_t begin(std::size_t row) const { return offsets.data()[row]; }
    std::int64_t end(std::size_t row) const { return offsets.data()[row + 1]; }

    std::int64_t total(std::size_t row) const {
        std::int64_t sum = 0;
        for (std::int64_t i = begin(row); i < end(row); ++i) sum += counts.data()[i];
        return sum;
    }

    // Everything a sweep relies on; throws std::invalid_argument.
    void check(std::size_t expected_rows, std::size_t columns) const {
        if (offsets.size() != expected_rows + 1 || ids.size() != counts.size() || offsets(0) != 0 ||
            offsets(expected_rows) != static_cast<std::int64_t>(ids.size()))
            throw std::invalid_argument("offsets, ids and counts do not fit together");
        std::int64_t sum = 0;
        for (std::size_t r = 0; r < expected_rows; ++r)
            if (begin(r) > end(r)) throw std::invalid_argument("offsets fall");
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (ids(i) >= columns) throw std::invalid_argument("an id is out of range");
            if (counts(i) == 0) throw std::invalid_argument("a count is 0; leave such pairs out");
            sum += counts(i);
        }
        if (sum > INT32_MAX) throw std::invalid_argument("more than 2^31-1 events");
    }

    // Moves take from the tables what one side says the other has put there: a difference would make cells
    // negative. Throws std::invalid_argument.
    void check_transpose(const Neighbours& other) const {
        std::vector<std::int64_t> next(other.offsets.data(), other.offsets.data() + other.rows());
        bool same = ids.size() == other.ids.size();
        for (std::size_t r = 0; same && r < rows(); ++r)
            for (std::int64_t i = begin(r); same && i < end(r); ++i) {
                const std::size_t column = ids.data()[i];
                const std::int64_t j = next[column]++;
                same = j < other.end(column) && other.ids.data()[j] == r &&
                       other.counts.data()[j] == counts.data()[i];
            }
        if (!same) throw std::invalid_argument("the counts of the two sides are not each other's transpose");
    }
};

inline std::vector<std::uint32_t> checked_labels(const In<std::uint32_t>& labels, std::size_t elements,
                                                 std::size_t clusters) {
    if (labels.size() != elements) throw std::invalid_argument("there must be one label for each element");
    for (std::size_t i = 0; i < elements; ++i)
        if (labels(i) >= clusters) throw std::invalid_argument("a label is not below the number of clusters");
    return {labels.data(), labels.data() + elements};
}

// How often one element was seen with each cluster of the other side.
class ClusterCounts {
 public:
    void reset(std::size_t clusters) {
        counts_.assign(clusters, 0);
        seen_.resize(clusters + 1);
        values_.resize(clusters);
    }
    void clear() {
        for (std::uint32_t c : clusters()) counts_[c] = 0;
        size_ = 0;
        total_ = 0;
    }
    void add(std::uint32_t cluster, std::uint32_t count) {
        // Whether a cluster is new cannot be foretold, so there is no branch on it.
        seen_[size_] = cluster;
        size_ += counts_[cluster] == 0;
        counts_[cluster] += count;
        total_ += count;
    }
    // After the last add().
    void finish() {
        for (std::size_t i = 0; i < size_; ++i) values_[i] = counts_[seen_[i]];
    }
    std::int64_t operator[](std::size_t cluster) const { return counts_[cluster]; }
    // Those with a count.
    std::span<const std::uint32_t> clusters() const { return {seen_.data(), size_}; }

    // What the row of a table gains when these counts are added to it.
    double gains(const CountTable& table, std::size_t row) const {
        return table.gains(row, seen_.data(), values_.data(), size_, total_);
    }

 private:
    std::vector<std::int64_t> counts_;  // by cluster
    std::vector<std::uint32_t> seen_;   // the clusters with a count, and room for one more
    std::vector<std::int64_t> values_;  // their counts
    std::size_t size_ = 0;
    std::int64_t total_ = 0;
};

// A fixed reel of Gumbel noise; a draw for all targets is a window on it, as contiguous as the scores.
class GumbelNoise {
 public:
    explicit GumbelNoise(std::size_t targets) : reel_(length + targets) {
        std::uint64_t state = 0;
        for (float& value : reel_) {
            double uniform = (static_cast<double>(mix(++state) >> 11) + 0.5) * 0x1p-53;
            value = static_cast<float>(-std::log(-std::log(uniform)));
        }
    }
    const float* window(std::uint64_t seed, std::uint32_t element) const {
        return &reel_[mix(seed ^ mix(element + 1)) % length];
    }

 private:
    static constexpr std::size_t length = 1 << 16;

    // SplitMix64's finaliser.
    static std::uint64_t mix(std::uint64_t x) {
        x += 0x9e3779b97f4a7c15;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }
    std::vector<float> reel_;
};

struct SweepOrder {
    const std::uint32_t* elements;
    std::size_t size;
    const float* scales;  // one for each element of the side: its own factor on the temperature
    float temperature;
    std::uint64_t seed;
    bool shortlisted;  // look at the shortlists alone
};

// Good targets for each element, from when all were last scored.
class Shortlists {
 public:
    Shortlists() = default;
    Shortlists(std::size_t elements, std::size_t length)
        : length_(length), targets_(elements * length), known_(elements, false) {}

    std::size_t length() const { return length_; }
    bool known(std::uint32_t element) const { return known_[element] != 0; }
    const std::uint32_t* of(std::uint32_t element) const { return &targets_[element * length_]; }

    // The best target of each of `length` groups: among them the best of all, and nearly always the next
    // ones too, for the price of one pass.
    void note(std::uint32_t element, const std::vector<float>& scores) {
        for (std::size_t group = 0; group < length_; ++group) {
            const std::size_t begin = scores.size() * group / length_;
            const std::size_t end = scores.size() * (group + 1) / length_;
            targets_[element * length_ + group] =
                static_cast<std::uint32_t>(begin + largest(&scores[begin], end - begin));
        }
        known_[element] = length_ > 0;
    }

 private:
    std::size_t length_ = 0;
    std::vector<std::uint32_t> targets_;
    std::vector<char> known_;
};

// Elements that are scored before their moves are made.
inline constexpr std::size_t sweep_batch = 64;

// One pass over the elements of `order`. A Problem has
//   Scratch                                    memory of one thread, with a vector<float> `scores`
//   label(element), targets()
//   largest_term()                             f(number of events), a bound on all terms of the criterion
//   gather(element, scratch)                   counts of the element with the clusters of the other side
//   score(element, scratch)                    scores[b]: gain of putting the element, taken out, into b
//   join(element, target, scratch)             the same for one target
//   gain(element, target, scratch)             exact gain of moving it from where it is
//   move(element, target, scratch)
// Returns the number of moves and adds their gains to `criterion`.
template <typename Problem>
std::size_t sweep(Problem& problem, std::vector<typename Problem::Scratch>& scratch, Shortlists& shortlists,
                  const GumbelNoise& noise, const SweepOrder& order, ThreadPool& pool, double& criterion) {
    // Smaller gains are the rounding errors of sums of n log n.
    const double least_gain = 1e-6 + 8 * std::numeric_limits<double>::epsilon() * problem.largest_term();
    constexpr std::size_t batch = sweep_batch;
    struct Proposal {
        std::uint32_t target;
        double noise;
    };
    Proposal proposals[batch];
    const std::size_t targets = problem.targets();
    std::size_t moves = 0;
    for (std::size_t begin = 0; begin < order.size; begin += batch) {
        const std::size_t size = std::min(batch, order.size - begin);
        pool.run(size, [&](std::size_t i, int worker) {
            auto& mine = scratch[static_cast<std::size_t>(worker)];
            const std::uint32_t element = order.elements[begin + i];
            const std::uint32_t home = problem.label(element);
            const float temperature = order.temperature * order.scales[element];
            const float* draw = noise.window(order.seed, element);
            problem.gather(element, mine);
            if (order.shortlisted && home < targets && shortlists.known(element)) {
                double best_score = problem.join(element, home, mine) + temperature * draw[home];
                proposals[i] = {home, 0.0};
                for (std::size_t j = 0; j < shortlists.length(); ++j) {
                    const std::uint32_t target = shortlists.of(element)[j];
                    if (target == home) continue;
                    const double score = problem.join(element, target, mine) + temperature * draw[target];
                    if (score > best_score) {
                        best_score = score;
                        proposals[i] = {target, temperature * (draw[target] - draw[home])};
                    }
                }
                return;
            }
            problem.score(element, mine);
            shortlists.note(element, mine.scores);
            float* scores = mine.scores.data();
            if (temperature > 0) add_row(scores, draw, temperature, targets);
            std::size_t best = largest(scores, targets);
            if (home >= targets) {  // from a cluster that is no target it moves whatever it costs
                proposals[i] = {static_cast<std::uint32_t>(best), std::numeric_limits<double>::infinity()};
                return;
            }
            if (!(scores[best] > scores[home])) best = home;
            proposals[i] = {static_cast<std::uint32_t>(best),
                            temperature > 0 ? temperature * (draw[best] - draw[home]) : 0.0};
        });
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t element = order.elements[begin + i];
            const Proposal& proposal = proposals[i];
            if (proposal.target == problem.label(element)) continue;
            problem.gather(element, scratch[0]);
            const double gain = problem.gain(element, proposal.target, scratch[0]);
            if (gain + proposal.noise <= least_gain) continue;
            problem.move(element, proposal.target, scratch[0]);
            criterion += gain;
            ++moves;
        }
    }
    return moves;
}

// Checks what Python gives for a sweep.
inline SweepOrder checked_order(const In<std::uint32_t>& elements, const In<float>& scales, float temperature,
                                std::uint64_t seed, bool shortlisted, std::size_t n_elements) {
    if (scales.size() != n_elements) throw std::invalid_argument("there must be one scale for each element");
    if (!(temperature >= 0) || !std::isfinite(temperature))
        throw std::invalid_argument("the temperature must be a number of at least 0");
    std::vector<bool> met(n_elements, false);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements(i) >= n_elements)
            throw std::invalid_argument("element " + std::to_string(elements(i)) + " does not exist");
        if (met[elements(i)])  // two threads would score it at a time
            throw std::invalid_argument("element " + std::to_string(elements(i)) + " is there twice");
        met[elements(i)] = true;
    }
    return {elements.data(), elements.size(), scales.data(), temperature, seed, shortlisted};
}

// With STATEGRAM_CHECK_INVARIANTS: the incremental criterion equals a full recount.
template <typename Recount>
void check_criterion([[maybe_unused]] double incremental, [[maybe_unused]] const Recount& recount) {
#ifdef STATEGRAM_CHECK_INVARIANTS
    const double recounted = recount();
    if (std::abs(incremental - recounted) > 1e-9 * (1.0 + std::abs(recounted)))
        throw std::logic_error("the criterion " + std::to_string(incremental) + " differs from its recount " +
                               std::to_string(recounted));
#endif
}

}  // namespace stategram
