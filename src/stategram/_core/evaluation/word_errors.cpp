// How far hypotheses are from what was said: the fewest words to substitute, delete and insert.
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "evaluation/kernels.hpp"

namespace stategram {
namespace {

// The cost of an alignment: its errors in the upper half, its insertions and deletions in the lower one. So
// the least cost has the fewest errors, and of these alignments the most substitutions.
constexpr std::uint64_t substitution = std::uint64_t{1} << 32;
constexpr std::uint64_t insertion_or_deletion = substitution + 1;

std::uint64_t least_cost(const std::uint32_t* words, std::size_t n_words, const std::uint32_t* said,
                         std::size_t n_said, std::vector<std::uint64_t>& row) {
    row.resize(n_said + 1);
    for (std::size_t j = 0; j <= n_said; ++j) row[j] = j * insertion_or_deletion;
    for (std::size_t i = 0; i < n_words; ++i) {
        std::uint64_t diagonal = row[0];
        row[0] += insertion_or_deletion;
        for (std::size_t j = 1; j <= n_said; ++j) {
            const std::uint64_t aligned = diagonal + (words[i] == said[j - 1] ? 0 : substitution);
            diagonal = row[j];
            row[j] = std::min(aligned, std::min(row[j], row[j - 1]) + insertion_or_deletion);
        }
    }
    return row[n_said];
}

}  // namespace

std::tuple<Out<std::uint32_t>, Out<std::uint32_t>, Out<std::uint32_t>> word_errors(
    In<std::uint32_t> ids, In<std::int64_t> starts, In<std::uint32_t> reference_ids,
    In<std::int64_t> reference_starts, In<std::uint32_t> references, int threads) {
    require(starts.size() == references.size() + 1, "each hypothesis needs a reference");
    require(ids.size() < UINT32_MAX / 2 && reference_ids.size() < UINT32_MAX / 2, "more than 2^31-1 words");
    check_offsets(starts, ids.size(), "the hypotheses do not cover their words");
    check_offsets(reference_starts, reference_ids.size(), "the references do not cover their words");
    const std::size_t count = references.size();
    std::vector<std::uint32_t> substituted(count), deleted(count), inserted(count);
    check_below(references, reference_starts.size() - 1, "there is no such reference");
    ThreadPool pool(threads);
    std::vector<std::vector<std::uint64_t>> rows(static_cast<std::size_t>(pool.size()));
    pool.run(count, [&](std::size_t i, int worker) {
        const std::size_t reference = references[i];
        const std::int64_t n_words = starts[i + 1] - starts[i];
        const std::int64_t n_said = reference_starts[reference + 1] - reference_starts[reference];
        const std::uint64_t cost =
            least_cost(ids.data() + starts[i], static_cast<std::size_t>(n_words),
                       reference_ids.data() + reference_starts[reference], static_cast<std::size_t>(n_said),
                       rows[static_cast<std::size_t>(worker)]);
        const auto both = static_cast<std::int64_t>(cost & UINT32_MAX);
        substituted[i] = static_cast<std::uint32_t>((cost >> 32) - (cost & UINT32_MAX));
        inserted[i] = static_cast<std::uint32_t>((both + n_words - n_said) / 2);
        deleted[i] = static_cast<std::uint32_t>((both - n_words + n_said) / 2);
    });
    return {std::move(substituted), std::move(deleted), std::move(inserted)};
}

}  // namespace stategram
