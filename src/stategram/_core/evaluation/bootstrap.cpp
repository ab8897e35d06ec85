// Sums over units of a text, such as its sentences, each time of as many units drawn with replacement.
//
// Every draw is a hash of the seed, the number of the resample and the number of the draw: so a resample is
// the same for any number of threads, and the same for columns that are summed in different calls.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/hash.hpp"
#include "base/simd.hpp"
#include "base/threads.hpp"
#include "evaluation/kernels.hpp"

namespace stategram {
namespace {

constexpr std::size_t columns_at_once = 8;
constexpr std::size_t lanes = 4;  // sums that do not wait for each other

// How often each of `units` < 2^32 units is drawn.
void draw(std::uint64_t stream, std::size_t units, std::uint32_t* counts) {
    std::fill_n(counts, units, 0);
    for (std::size_t i = 0; i < units; ++i) {
        const std::uint64_t x = mix_bits(stream + (i + 1) * golden_ratio);
        // The upper half of the product of x and `units`: each unit has 2^64 / units values of x, give or
        // take one.
        const std::uint64_t low = (x & UINT32_MAX) * units >> 32;
        ++counts[((x >> 32) * units + low) >> 32];
    }
}

// Adds up the first `columns` of the columns at `values`, whose rows are `width` apart.
template <std::size_t fixed>
STATEGRAM_INLINE void add_up(const std::uint32_t* counts, std::size_t units, const double* values,
                             std::size_t width, std::size_t columns, double* sums) {
    std::array<std::array<double, columns_at_once>, lanes> part{};
    const std::size_t n = fixed ? fixed : columns;
    const auto add = [&](std::size_t unit, std::size_t lane) {
        const double count = counts[unit];
        const double* row = values + unit * width;
        for (std::size_t i = 0; i < n; ++i) part[lane][i] += count * row[i];
    };
    std::size_t unit = 0;
    for (; unit + lanes <= units; unit += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) add(unit + lane, lane);
    for (; unit < units; ++unit) add(unit, unit % lanes);
    for (std::size_t i = 0; i < n; ++i) sums[i] = (part[0][i] + part[1][i]) + (part[2][i] + part[3][i]);
}

STATEGRAM_CLONES
void add_up_all(const std::uint32_t* counts, std::size_t units, const double* values, std::size_t width,
                double* sums) {
    std::size_t column = 0;
    for (; column + columns_at_once <= width; column += columns_at_once)
        add_up<columns_at_once>(counts, units, values + column, width, columns_at_once, sums + column);
    if (column < width) add_up<0>(counts, units, values + column, width, width - column, sums + column);
}

}  // namespace

Out<double> bootstrap_sums(In<double> values, std::size_t width, std::size_t resamples, std::uint64_t seed,
                           int threads) {
    require(width > 0 && values.size() % width == 0, "each unit needs a value in each column");
    const std::size_t units = values.size() / width;
    require(units > 0 && units <= UINT32_MAX, "there must be from one to 2^32-1 units");
    require(resamples <= (std::size_t{1} << 40) / width, "there are too many resamples");
    std::vector<double> sums(resamples * width);
    require(std::all_of(values.data(), values.data() + values.size(),
                        [](double value) { return std::isfinite(value); }),
            "a value is not finite");
    ThreadPool pool(threads);
    std::vector<std::vector<std::uint32_t>> counts(static_cast<std::size_t>(pool.size()));
    pool.run(resamples, [&](std::size_t resample, int worker) {
        std::vector<std::uint32_t>& of_worker = counts[static_cast<std::size_t>(worker)];
        of_worker.resize(units);
        draw(mix_bits(mix_bits(seed) + resample), units, of_worker.data());
        add_up_all(of_worker.data(), units, values.data(), width, sums.data() + resample * width);
    });
    return sums;
}

}  // namespace stategram
