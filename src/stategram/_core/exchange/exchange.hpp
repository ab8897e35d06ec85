// The exchange algorithm: move one element at a time to the cluster where the criterion gains most.
//
// A sweep visits its elements in batches, which Python chooses. `propose` scores a batch in parallel against
// the tables as they are and names a target for each element; `apply` computes the exact gain of each
// proposal again and makes the moves that still gain, in order. So the result does not depend on the number
// of threads, nor on where the proposals were computed, and at temperature 0 the criterion never falls. With
// batches of one element this is the exchange algorithm of the textbooks.
//
// The best targets of an element change little from sweep to sweep. A sweep that scores all targets keeps a
// shortlist of them for each element, and later sweeps may score only those.
//
// At a temperature T > 0 the scores of the targets on the shortlist get Gumbel noise of that scale, that of
// the element's own cluster gets none. So the element leaves with the probability
//     1 - exp(-Z),   Z = sum over the shortlist of exp((score - score of its cluster) / T),
// for a draw from the softmax of the scores / T: simulated annealing by the same sweep. Noise on all targets
// instead would melt the clustering, as there are so many poor ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/hash.hpp"
#include "base/threads.hpp"
#include "exchange/count_table.hpp"
#include "exchange/rows.hpp"

namespace stategram {

// Counts of pairs in compressed rows, owned by NumPy.
struct Neighbours {
    In<std::int64_t> offsets;
    In<std::uint32_t> ids;
    In<std::uint32_t> counts;

    std::size_t rows() const { return offsets.size() - 1; }
    std::int64_t begin(std::size_t row) const { return offsets[row]; }
    std::int64_t end(std::size_t row) const { return offsets[row + 1]; }

    std::int64_t total() const {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) sum += counts[i];
        return sum;
    }

    std::int64_t total(std::size_t row) const {
        std::int64_t sum = 0;
        for (std::int64_t i = begin(row); i < end(row); ++i) sum += counts[i];
        return sum;
    }

    // Everything a sweep relies on; throws std::invalid_argument.
    void check(std::size_t expected_rows, std::size_t columns) const {
        if (offsets.size() != expected_rows + 1 || ids.size() != counts.size() || offsets[0] != 0 ||
            offsets[expected_rows] != static_cast<std::int64_t>(ids.size()))
            throw std::invalid_argument("offsets, ids and counts do not fit together");
        for (std::size_t r = 0; r < expected_rows; ++r)
            if (begin(r) > end(r)) throw std::invalid_argument("offsets fall");
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (ids[i] >= columns) throw std::invalid_argument("an id is out of range");
            if (counts[i] == 0) throw std::invalid_argument("a count is 0; leave such pairs out");
        }
    }

    // Moves take from the tables what one side says the other has put there: a difference would make cells
    // negative. Throws std::invalid_argument.
    void check_transpose(const Neighbours& other) const {
        std::vector<std::int64_t> next(other.offsets.data(), other.offsets.data() + other.rows());
        bool same = ids.size() == other.ids.size();
        for (std::size_t r = 0; same && r < rows(); ++r)
            for (std::int64_t i = begin(r); same && i < end(r); ++i) {
                const std::size_t column = ids[i];
                const std::int64_t j = next[column]++;
                same = j < other.end(column) && other.ids[j] == r && other.counts[j] == counts[i];
            }
        if (!same) throw std::invalid_argument("the counts of the two sides are not each other's transpose");
    }
};

inline std::vector<std::uint32_t> checked_labels(const In<std::uint32_t>& labels, std::size_t elements,
                                                 std::size_t clusters) {
    if (labels.size() != elements) throw std::invalid_argument("there must be one label for each element");
    for (std::size_t i = 0; i < elements; ++i)
        if (labels[i] >= clusters) throw std::invalid_argument("a label is not below the number of clusters");
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

    static std::uint64_t mix(std::uint64_t x) { return mix_bits(x + golden_ratio); }
    std::vector<float> reel_;
};

// Good targets for each element, from when all were last scored.
class Shortlists {
 public:
    Shortlists(std::size_t elements, std::size_t length)
        : length_(length), targets_(elements * length), known_(elements, false) {}

    std::size_t length() const { return length_; }
    bool known(std::uint32_t element) const { return known_[element] != 0; }
    std::span<const std::uint32_t> of(std::uint32_t element) const {
        return {targets_.data() + element * length_, length_};
    }

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

// How the elements of a sweep are scored.
struct Scoring {
    std::span<const float> scales;  // for each element of the side, its own factor on the temperature
    float temperature;
    std::uint64_t seed;
    bool shortlisted;  // score only the targets on the shortlists
};

// For each element of a batch the target that scored best, and by how much its noise is larger than that of
// the cluster where the element is.
struct Proposals {
    std::vector<std::uint32_t> targets;
    std::vector<double> noise;
};
using ProposalArrays = std::tuple<Out<std::uint32_t>, Out<double>>;

// Moves the elements of a Problem. A Problem has
//   Scratch, new_scratch()                     memory of one thread, with a vector<float> `scores`
//   elements(), targets(), label(element)
//   largest_term()                             f(number of events), a bound on all terms of the criterion
//   gather(element, scratch)                   counts of the element with the clusters of the other side
//   score(element, scratch)                    scores[b]: gain of putting the element, taken out, into b
//   insertion_gain(element, target, scratch)   the same for one target, exactly
//   move(element, target, scratch)
template <typename Problem>
class Mover {
 public:
    using Elements = std::span<const std::uint32_t>;
    using Scratch = typename Problem::Scratch;

    Mover(Problem& problem, std::size_t shortlist, int threads)
        : problem_(problem),
          noise_(problem.targets()),
          shortlists_(problem.elements(), std::min(shortlist, problem.targets())),
          scratch_(static_cast<std::size_t>(threads), problem.new_scratch()),
          met_(problem.elements(), false),
          // Smaller gains are the rounding errors of sums of n log n.
          least_gain_(1e-6 + 8 * std::numeric_limits<double>::epsilon() * problem.largest_term()) {}

    // Moves the elements of a batch. Returns the number of moves and adds their gains to `criterion`.
    std::size_t visit(Elements elements, const Scoring& how, ThreadPool& pool, double& criterion) {
        check(elements, how);
        propose_into(elements, how, pool, proposals_);
        return apply_checked(elements, proposals_.targets, proposals_.noise, criterion);
    }

    Proposals propose(Elements elements, const Scoring& how, ThreadPool& pool) {
        check(elements, how);
        Proposals proposals;
        propose_into(elements, how, pool, proposals);
        return proposals;
    }

    // Returns the number of moves and adds their gains to `criterion`.
    std::size_t apply(Elements elements, std::span<const std::uint32_t> targets,
                      std::span<const double> noise, double& criterion) {
        check(elements);
        if (targets.size() != elements.size() || noise.size() != elements.size())
            throw std::invalid_argument("there must be one target and one noise for each element");
        for (std::size_t i = 0; i < elements.size(); ++i) {
            if (targets[i] >= problem_.targets())
                throw std::invalid_argument("cluster " + std::to_string(targets[i]) + " takes no elements");
            if (std::isnan(noise[i])) throw std::invalid_argument("a noise is not a number");
        }
        return apply_checked(elements, targets, noise, criterion);
    }

    // What the criterion would gain by a move of each element, and of no other, to the target.
    std::vector<double> gains(std::uint32_t target, ThreadPool& pool) {
        if (target >= problem_.targets())
            throw std::invalid_argument("cluster " + std::to_string(target) + " takes no elements");
        std::vector<double> result(problem_.elements());
        pool.run(result.size(), [&](std::size_t i, int worker) {
            const auto element = static_cast<std::uint32_t>(i);
            Scratch& mine = scratch_[static_cast<std::size_t>(worker)];
            problem_.gather(element, mine);
            result[i] = problem_.insertion_gain(element, target, mine) -
                        problem_.insertion_gain(element, problem_.label(element), mine);
        });
        return result;
    }

    std::vector<float> scores(std::uint32_t element) {
        check(Elements(&element, 1));
        problem_.gather(element, scratch_[0]);
        problem_.score(element, scratch_[0]);
        return scratch_[0].scores;
    }

 private:
    void propose_into(Elements elements, const Scoring& how, ThreadPool& pool, Proposals& proposals) {
        proposals.targets.resize(elements.size());
        proposals.noise.resize(elements.size());
        pool.run(elements.size(), [&](std::size_t i, int worker) {
            const auto [target, noise] =
                proposal(elements[i], how, scratch_[static_cast<std::size_t>(worker)]);
            proposals.targets[i] = target;
            proposals.noise[i] = noise;
        });
    }

    struct Proposal {
        std::uint32_t target;
        double noise;
    };

    Proposal proposal(std::uint32_t element, const Scoring& how, Scratch& mine) {
        const std::uint32_t home = problem_.label(element);
        const bool is_placed = home < problem_.targets();
        const float temperature = how.temperature * how.scales[element];
        problem_.gather(element, mine);
        if (how.shortlisted && is_placed && shortlists_.known(element))
            return best_on_shortlist(element, temperature, how.seed, [&](std::uint32_t target) {
                return problem_.insertion_gain(element, target, mine);
            });
        problem_.score(element, mine);
        const std::vector<float>& scores = mine.scores;
        shortlists_.note(element, scores);
        if (is_placed && temperature > 0)
            return best_on_shortlist(element, temperature, how.seed,
                                     [&](std::uint32_t target) { return scores[target]; });
        const auto best = static_cast<std::uint32_t>(largest(scores.data(), scores.size()));
        // An element in a cluster that is no target moves whatever it costs.
        if (!is_placed) return {best, std::numeric_limits<double>::infinity()};
        return {scores[best] > scores[home] ? best : home, 0.0};
    }

    template <typename Score>
    Proposal best_on_shortlist(std::uint32_t element, float temperature, std::uint64_t seed,
                               const Score& score) const {
        const std::uint32_t home = problem_.label(element);
        const float* draw = noise_.window(seed, element);
        Proposal best{home, 0.0};
        double best_score = score(home);
        for (const std::uint32_t target : shortlists_.of(element)) {
            if (target == home) continue;
            const double noise = temperature * draw[target];
            if (const double noisy = score(target) + noise; noisy > best_score) {
                best_score = noisy;
                best = {target, noise};
            }
        }
        return best;
    }

    std::size_t apply_checked(Elements elements, std::span<const std::uint32_t> targets,
                              std::span<const double> noise, double& criterion) {
        Scratch& mine = scratch_[0];
        std::size_t moves = 0;
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const std::uint32_t element = elements[i], target = targets[i], home = problem_.label(element);
            if (target == home) continue;
            problem_.gather(element, mine);
            const double gain =
                problem_.insertion_gain(element, target, mine) - problem_.insertion_gain(element, home, mine);
            if (gain + noise[i] <= least_gain_) continue;
            problem_.move(element, target, mine);
            criterion += gain;
            ++moves;
        }
        return moves;
    }

    void check(Elements elements, const Scoring& how) {
        if (how.scales.size() != problem_.elements())
            throw std::invalid_argument("there must be one scale for each element");
        if (!(how.temperature >= 0) || !std::isfinite(how.temperature))
            throw std::invalid_argument("the temperature must be a number of at least 0");
        if (how.temperature > 0 && shortlists_.length() == 0)
            throw std::invalid_argument("a temperature above 0 needs shortlists");
        check(elements);
    }

    void check(Elements elements) {
        std::size_t good = 0;
        while (good < elements.size() && elements[good] < met_.size() && !met_[elements[good]])
            met_[elements[good++]] = true;
        for (const std::uint32_t element : elements.first(good)) met_[element] = false;
        if (good == elements.size()) return;
        // Two threads would score a duplicate at the same time.
        const bool exists = elements[good] < met_.size();
        throw std::invalid_argument("element " + std::to_string(elements[good]) +
                                    (exists ? " is a duplicate" : " does not exist"));
    }

    Problem& problem_;
    GumbelNoise noise_;
    Shortlists shortlists_;
    std::vector<Scratch> scratch_;
    std::vector<bool> met_;
    double least_gain_;
    Proposals proposals_;
};

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
