// The errors of the best hypotheses as a function of one weight: Och (2003), "Minimum error rate training in
// statistical machine translation".
//
// The total score of a hypothesis is a straight line of the weight. The best hypotheses of an utterance are
// the upper envelope of its lines, so the errors change only where two neighbouring lines of it cross.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "evaluation/kernels.hpp"

namespace stategram {
namespace {

struct Changes {
    std::int64_t errors_at_low = 0;
    std::vector<double> places;
    std::vector<std::int64_t> changes;
};

struct Lines {
    const double *offsets, *slopes;
    const std::uint32_t* errors;
    double low, high;

    // Adds the envelope of the lines [begin, end), of which there is at least one.
    void add(std::size_t begin, std::size_t end, std::vector<std::size_t>& order, Changes& found) const {
        order.resize(end - begin);
        std::iota(order.begin(), order.end(), begin);
        // Of parallel lines the highest comes first, of equal ones the one that comes first in the list.
        std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
            if (slopes[a] != slopes[b]) return slopes[a] < slopes[b];
            return offsets[a] != offsets[b] ? offsets[a] > offsets[b] : a < b;
        });
        struct Piece {
            double from;
            std::size_t line;
        };
        std::vector<Piece> envelope;
        for (const std::size_t line : order) {
            if (!envelope.empty() && slopes[envelope.back().line] == slopes[line]) continue;
            double from = -std::numeric_limits<double>::infinity();
            while (!envelope.empty()) {
                from = crossing(envelope.back().line, line);
                if (from > envelope.back().from) break;
                envelope.pop_back();
                from = -std::numeric_limits<double>::infinity();
            }
            envelope.push_back({from, line});
        }
        std::size_t piece = 0;
        while (piece + 1 < envelope.size() && envelope[piece + 1].from <= low) ++piece;
        found.errors_at_low += errors[envelope[piece].line];
        for (; piece + 1 < envelope.size() && envelope[piece + 1].from < high; ++piece) {
            const std::int64_t before = errors[envelope[piece].line];
            const std::int64_t after = errors[envelope[piece + 1].line];
            if (before == after) continue;
            found.places.push_back(envelope[piece + 1].from);
            found.changes.push_back(after - before);
        }
    }

    double crossing(std::size_t a, std::size_t b) const {
        return (offsets[a] - offsets[b]) / (slopes[b] - slopes[a]);
    }
};

}  // namespace

std::tuple<std::int64_t, Out<double>, Out<std::int64_t>> error_envelope(In<std::int64_t> starts,
                                                                        In<double> offsets, In<double> slopes,
                                                                        In<std::uint32_t> errors, double low,
                                                                        double high, int threads) {
    const std::size_t size = offsets.size();
    require(slopes.size() == size && errors.size() == size, "the hypotheses have not all their numbers");
    require(std::isfinite(low) && std::isfinite(high) && low < high, "the range of the weight is empty");
    check_offsets(starts, size, "the utterances do not cover the hypotheses");
    const std::size_t utterances = starts.size() - 1;
    Changes all;
    const auto finite = [](double value) { return std::isfinite(value); };
    require(std::all_of(offsets.data(), offsets.data() + size, finite) &&
                std::all_of(slopes.data(), slopes.data() + size, finite),
            "a score is not finite");
    for (std::size_t i = 0; i < utterances; ++i)
        require(starts[i] < starts[i + 1], "an utterance has no hypotheses");
    const Lines lines{offsets.data(), slopes.data(), errors.data(), low, high};
    ThreadPool pool(threads);
    const std::size_t slices = std::min<std::size_t>(utterances, 64);
    std::vector<Changes> parts(slices);
    pool.run(slices, [&](std::size_t slice, int) {
        std::vector<std::size_t> order;
        for (std::size_t i = utterances * slice / slices; i < utterances * (slice + 1) / slices; ++i)
            lines.add(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(starts[i + 1]), order,
                      parts[slice]);
    });
    for (const Changes& part : parts) {
        all.errors_at_low += part.errors_at_low;
        all.places.insert(all.places.end(), part.places.begin(), part.places.end());
        all.changes.insert(all.changes.end(), part.changes.begin(), part.changes.end());
    }
    return std::tuple(all.errors_at_low, std::move(all.places), std::move(all.changes));
}

}  // namespace stategram
