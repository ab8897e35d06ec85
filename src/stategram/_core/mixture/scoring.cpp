// The probabilities of a mixture from those of its parts: log sum_i w_i exp(l_i) for each event.
//
// Events go through in blocks that stay in the cache. Blocks are as large for any number of threads, and
// their sums are added in order: the results are the same bytes.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/simd.hpp"
#include "base/threads.hpp"
#include "mixture/gate_tables.hpp"
#include "mixture/kernels.hpp"

namespace stategram {
namespace {

constexpr std::size_t events_a_block = 256;

// e^x for x <= 0 to the last digit or two, without a branch; 0 where it is below 1e-307.
STATEGRAM_INLINE double exp_of(double x) {
    constexpr double to_integer = 0x1.8p52;  // what is added to it is rounded
    constexpr double lowest = -708.0;
    const bool tiny = x < lowest;
    x = tiny ? lowest : x;
    const double shifted = x * 1.4426950408889634 + to_integer, n = shifted - to_integer;
    const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;  // n ln 2, in two parts
    double sum = 1.0 / 6227020800;  // the series of e^r; |r| is below 0.35
    sum = sum * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    const std::int64_t exponent = std::bit_cast<std::int64_t>(shifted) << 52;
    return tiny ? 0.0 : std::bit_cast<double>(std::bit_cast<std::int64_t>(sum) + exponent);
}

struct Features {
    const float *first, *second;  // null if a table has no such feature
};

struct Problem {
    const GateTables* gate;
    std::vector<const double*> log_probs;  // of each part
    std::vector<Features> features;        // of each table
    double* mixed;
};

// What is summed over the events of a block, for each part.
struct BlockSums {
    std::vector<double> log_probs, weights;
};

// Of each event of a block: the greatest log-probability of a part; a row for all parts; a bucket of each
// table.
struct Scratch {
    std::vector<double> greatest, rows;
    std::vector<std::uint32_t> buckets;
};

// Mixes the events [begin, end). With a `fixed` width the loops over parts become a few vector instructions.
template <std::size_t fixed>
STATEGRAM_INLINE void mix(const Problem& of, std::size_t begin, std::size_t end, Scratch& scratch,
                          BlockSums& sums) {
    const std::size_t n = end - begin, n_parts = of.gate->n_parts();
    const std::size_t width = fixed ? fixed : of.gate->width(), n_tables = of.gate->tables().size();
    double* STATEGRAM_RESTRICT greatest = scratch.greatest.data();
    double* STATEGRAM_RESTRICT rows = scratch.rows.data();
    std::copy_n(of.log_probs[0] + begin, n, greatest);
    for (std::size_t part = 1; part < n_parts; ++part) {
        const double* STATEGRAM_RESTRICT logs = of.log_probs[part] + begin;
        for (std::size_t e = 0; e < n; ++e) greatest[e] = logs[e] > greatest[e] ? logs[e] : greatest[e];
    }
    double greatest_sum = 0;
    for (std::size_t e = 0; e < n; ++e) {
        // An event that no part has a probability for keeps none.
        greatest[e] = greatest[e] < -1e300 ? 0.0 : greatest[e];
        greatest_sum += greatest[e];
    }
    for (std::size_t part = 0; part < n_parts; ++part) {
        const double* STATEGRAM_RESTRICT logs = of.log_probs[part] + begin;
        for (std::size_t e = 0; e < n; ++e) rows[e * width + part] = logs[e] - greatest[e];
    }
    for (std::size_t e = 0; e < n; ++e)
        for (std::size_t i = n_parts; i < width; ++i) rows[e * width + i] = 0;
    double* STATEGRAM_RESTRICT log_sums = sums.log_probs.data();
    for (std::size_t i = 0; i < width; ++i) log_sums[i] = greatest_sum;
    for (std::size_t e = 0; e < n; ++e)
        for (std::size_t i = 0; i < width; ++i) log_sums[i] += rows[e * width + i];
    for (std::size_t i = 0; i < n * width; ++i) rows[i] = exp_of(rows[i]);
    for (std::size_t t = 0; t < n_tables; ++t) {
        const GateTable& table = of.gate->tables()[t];
        const auto [first, second] = of.features[t];
        std::uint32_t* buckets = scratch.buckets.data() + t;
        for (std::size_t e = 0; first != nullptr && e < n; ++e)
            buckets[e * n_tables] =
                table.bucket(first[begin + e], second == nullptr ? 0.0F : second[begin + e]);
    }
    double* STATEGRAM_RESTRICT weight_sums = sums.weights.data();
    std::array<double, fixed> few;
    std::vector<double> many(fixed ? 0 : width);
    double* STATEGRAM_RESTRICT weights = fixed ? few.data() : many.data();
    for (std::size_t e = 0; e < n; ++e) {
        of.gate->weigh<fixed>(scratch.buckets.data() + e * n_tables, weights);
        double mixed = 0;
        for (std::size_t i = 0; i < width; ++i) weight_sums[i] += weights[i];
        for (std::size_t i = 0; i < width; ++i) mixed += weights[i] * rows[e * width + i];
        of.mixed[begin + e] = std::log(mixed) + greatest[e];
    }
}

STATEGRAM_CLONES
void mix_4(const Problem& of, std::size_t begin, std::size_t end, Scratch& scratch, BlockSums& sums) {
    mix<4>(of, begin, end, scratch, sums);
}

STATEGRAM_CLONES
void mix_8(const Problem& of, std::size_t begin, std::size_t end, Scratch& scratch, BlockSums& sums) {
    mix<8>(of, begin, end, scratch, sums);
}

STATEGRAM_CLONES
void mix_many(const Problem& of, std::size_t begin, std::size_t end, Scratch& scratch, BlockSums& sums) {
    mix<0>(of, begin, end, scratch, sums);
}

}  // namespace

// Returns the sums over all events of each part's log-probabilities and weights.
std::tuple<Out<double>, Out<double>> mix_events(const GateTables& gate,
                                                const std::vector<In<double>>& log_probs,
                                                const std::vector<std::vector<In<float>>>& features,
                                                InOut<double> mixed, int threads) {
    const std::size_t n_parts = gate.n_parts(), size = mixed.size(), n_tables = gate.tables().size();
    require(n_tables > 0 && features.size() == n_tables && log_probs.size() == n_parts,
            "a mixture needs the log-probabilities of each part, and the features of each table");
    Problem problem{&gate, {}, {}, mixed.data()};
    for (const In<double>& of_part : log_probs) {
        require(of_part.size() == size, "each part needs a log-probability of each event");
        problem.log_probs.push_back(of_part.data());
    }
    for (std::size_t t = 0; t < n_tables; ++t) {
        require(features[t].size() == gate.tables()[t].names.size(), "a table lacks features");
        Features of{nullptr, nullptr};
        for (const In<float>& values : features[t]) {
            require(values.size() == size, "a table needs a feature of each event");
            (of.first == nullptr ? of.first : of.second) = values.data();
        }
        problem.features.push_back(of);
    }
    std::vector<double> log_sums(n_parts), weight_sums(n_parts);
    const std::size_t blocks = (size + events_a_block - 1) / events_a_block;
    const std::size_t width = gate.width();
    const auto mix_block = width == 4 ? mix_4 : width == 8 ? mix_8 : mix_many;
    std::vector<BlockSums> sums(blocks, {std::vector<double>(width), std::vector<double>(width)});
    ThreadPool pool(threads);
    for_slices(pool, 0, blocks, [&](std::size_t first, std::size_t last) {
        Scratch scratch{std::vector<double>(events_a_block), std::vector<double>(events_a_block * width),
                        std::vector<std::uint32_t>(events_a_block * n_tables)};
        for (std::size_t block = first; block < last; ++block)
            mix_block(problem, block * events_a_block, std::min(size, (block + 1) * events_a_block), scratch,
                      sums[block]);
    });
    for (const BlockSums& block : sums)
        for (std::size_t part = 0; part < n_parts; ++part) {
            log_sums[part] += block.log_probs[part];
            weight_sums[part] += block.weights[part];
        }
    return {std::move(log_sums), std::move(weight_sums)};
}

}  // namespace stategram
