// Plain arrays from the levels of n-grams: what is not kept goes, nodes are numbered through all lengths.
#include <algorithm>
#include <cstdint>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "ngrams/kernels.hpp"

namespace stategram {
namespace {

// Places of n-grams among those of their length that are kept: ranks of all and one more, or none if all
// stay.
struct Ranks {
    const std::uint32_t* values;

    explicit Ranks(const In<std::uint32_t>& ranks) : values(ranks.size() == 0 ? nullptr : ranks.data()) {}
    std::uint32_t of(std::size_t i) const {
        return values == nullptr ? static_cast<std::uint32_t>(i) : values[i];
    }
    bool kept(std::size_t i) const { return values == nullptr || values[i + 1] != values[i]; }
};

}  // namespace

// Writes what is kept of one length of n-grams to plain arrays. Their children are those of `next_ranks`,
// numbered from `next_begin` on; the longest n-grams have none.
void assemble_level(In<std::uint32_t> words, In<float> log_probs, In<float> backoffs,
                    In<std::uint32_t> first_child, In<std::uint32_t> ranks, In<std::uint32_t> next_ranks,
                    std::uint32_t next_begin, std::size_t begin, std::size_t end,
                    InOut<std::uint32_t> words_out, InOut<float> log_probs_out, InOut<float> backoffs_out,
                    InOut<std::uint32_t> first_child_out, int threads) {
    const bool leaves = first_child.size() == 0;
    const Ranks rank(ranks), next_rank(next_ranks);
    const std::size_t size = words.size();
    // How many children there are is known from their ranks alone; without ranks nothing is looked up.
    const std::size_t n_children = next_ranks.size() == 0 ? UINT32_MAX : next_ranks.size() - 1;
    require(log_probs.size() == size && begin <= end && end <= size &&
                (leaves || (first_child.size() == size + 1 && backoffs.size() == size)) &&
                (ranks.size() == 0 || ranks.size() == size + 1) && words_out.size() == rank.of(size) &&
                log_probs_out.size() == words_out.size() &&
                (leaves ||
                 (backoffs_out.size() == words_out.size() && first_child_out.size() == words_out.size())),
            "the levels do not fit together");
    if (ranks.size() != 0) check_ranks(ranks.data(), begin, end, words_out.size());
    if (!leaves) check_children(first_child.data(), begin, end, n_children);
    ThreadPool pool(threads);
    for_slices(pool, begin, end, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            if (!rank.kept(i)) continue;
            const std::size_t at = rank.of(i);
            words_out[at] = words[i];
            log_probs_out[at] = log_probs[i];
            if (leaves) continue;
            backoffs_out[at] = backoffs[i];
            first_child_out[at] = next_begin + next_rank.of(first_child[i]);
        }
    });
}

}  // namespace stategram
