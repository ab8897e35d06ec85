// The arrays of a model from the levels of its n-grams: what is not kept goes, nodes are numbered through all
// lengths, links jump over nodes without children.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "arrays.hpp"
#include "checks.hpp"
#include "prefetch.hpp"
#include "threads.hpp"

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

// For each n-gram of one length, its link: the suffix if that is kept and has children, else the suffix's
// link.
void link_level(In<std::uint32_t> suffixes, In<std::uint32_t> lower_first_child,
                In<std::uint32_t> lower_links, In<std::uint32_t> lower_ranks, In<std::uint32_t> ranks,
                std::uint32_t lower_begin, std::size_t begin, std::size_t end, InOut<std::uint32_t> links,
                int threads) {
    require(lower_first_child.size() == lower_links.size() + 1 && links.size() == suffixes.size() &&
                begin <= end && end <= suffixes.size() &&
                (ranks.size() == 0 || ranks.size() == suffixes.size() + 1) &&
                (lower_ranks.size() == 0 || lower_ranks.size() == lower_links.size() + 1),
            "the levels do not fit together");
    const Ranks lower_rank(lower_ranks), rank(ranks);
    const std::uint32_t *suffix = suffixes.data(), *first_child = lower_first_child.data();
    nb::gil_scoped_release release;
    check_suffixes(suffix, begin, end, lower_links.size());
    ThreadPool pool(threads);
    const std::uint32_t* const lower_link = lower_links.data();
    std::uint32_t* const link = links.data();
    const std::size_t size = suffixes.size();
    // By value: what is captured by reference would be read anew for each n-gram.
    for_slices(pool, begin, end, [=](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            if (i + 16 < last) prefetch(first_child + suffix[i + 16]);
            const std::size_t s = suffix[i];
            const std::uint32_t child = first_child[s], child_end = first_child[s + 1];
            require(std::max(child, child_end) <= size,
                    "the levels do not fit together: the children of a node are not there");
            const bool has_children = rank.of(child) != rank.of(child_end);
            link[i] = has_children && lower_rank.kept(s) ? lower_begin + lower_rank.of(s) : lower_link[s];
        }
    });
}

// Writes one length of n-grams to the arrays of the model: to `nodes` (four values each) if they have
// children of `next_ranks`, beginning at node `next_begin`; else to `leaves` (two values each).
void assemble_level(In<std::uint32_t> words, In<float> log_probs, In<float> backoffs,
                    In<std::uint32_t> first_child, In<std::uint32_t> links, In<std::uint32_t> ranks,
                    In<std::uint32_t> next_ranks, std::uint32_t next_begin, std::size_t begin,
                    std::size_t end, InOut<std::uint32_t> words_out, InOut<std::uint32_t> rows_out,
                    int threads) {
    const bool leaves = first_child.size() == 0;
    const std::size_t width = leaves ? 2 : 4;
    const Ranks rank(ranks), next_rank(next_ranks);
    const std::size_t size = words.size();
    // How many children there are is known from their ranks alone; without ranks nothing is looked up.
    const std::size_t n_children = next_ranks.size() == 0 ? UINT32_MAX : next_ranks.size() - 1;
    require(log_probs.size() == size && links.size() == size && begin <= end && end <= size &&
                (leaves || (first_child.size() == size + 1 && backoffs.size() == size)) &&
                (ranks.size() == 0 || ranks.size() == size + 1) && words_out.size() == rank.of(size) &&
                rows_out.size() == width * words_out.size(),
            "the levels do not fit together");
    nb::gil_scoped_release release;
    if (ranks.size() != 0) check_ranks(ranks.data(), begin, end, words_out.size());
    if (!leaves) check_children(first_child.data(), begin, end, n_children);
    ThreadPool pool(threads);
    for_slices(pool, begin, end, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            if (!rank.kept(i)) continue;
            const std::size_t at = rank.of(i);
            words_out.data()[at] = words.data()[i];
            std::uint32_t* row = rows_out.data() + at * width;
            row[0] = std::bit_cast<std::uint32_t>(log_probs.data()[i]);
            row[width - 1] = links.data()[i];
            if (leaves) continue;
            row[1] = std::bit_cast<std::uint32_t>(backoffs.data()[i]);
            row[2] = next_begin + next_rank.of(first_child.data()[i]);
        }
    });
}

}  // namespace

void register_trie_assembly(nb::module_& m) {
    m.def("link_level", &link_level, nb::arg("suffixes").noconvert(),
          nb::arg("lower_first_child").noconvert(), nb::arg("lower_links").noconvert(),
          nb::arg("lower_ranks").noconvert(), nb::arg("ranks").noconvert(), nb::arg("lower_begin"),
          nb::arg("begin"), nb::arg("end"), nb::arg("links").noconvert(), nb::arg("threads"),
          "Write for each n-gram the node of its longest suffix that has children.");
    m.def("assemble_level", &assemble_level, nb::arg("words").noconvert(), nb::arg("log_probs").noconvert(),
          nb::arg("backoffs").noconvert(), nb::arg("first_child").noconvert(), nb::arg("links").noconvert(),
          nb::arg("ranks").noconvert(), nb::arg("next_ranks").noconvert(), nb::arg("next_begin"),
          nb::arg("begin"), nb::arg("end"), nb::arg("words_out").noconvert(), nb::arg("rows_out").noconvert(),
          nb::arg("threads"), "Write the n-grams of one length to the arrays of a model.");
}

}  // namespace stategram
