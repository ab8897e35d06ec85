// Distributions over all words after many histories at once: a row of a matrix for each history.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "checks.hpp"
#include "simd.hpp"
#include "threads.hpp"

namespace stategram {
namespace {

STATEGRAM_CLONES void scale_row(float* row, const float* values, float factor, std::size_t size) {
    float* STATEGRAM_RESTRICT out = row;
    for (std::size_t i = 0; i < size; ++i) out[i] = factor * values[i];
}

STATEGRAM_CLONES void add_to_row(float* row, const float* values, std::size_t size) {
    float* STATEGRAM_RESTRICT out = row;
    for (std::size_t i = 0; i < size; ++i) out[i] += values[i];
}

STATEGRAM_CLONES void add_category_row(float* row, const float* of_categories, const std::int32_t* categories,
                                       const float* word_probs, std::size_t size) {
    float* STATEGRAM_RESTRICT out = row;
    for (std::size_t i = 0; i < size; ++i) out[i] += of_categories[categories[i]] * word_probs[i];
}

// Adds weight * p(w | node) to the row of each node. Going from a node to its link, p is multiplied by the
// back-off weight of the node; words that are children of a node on the way have their own p.
void add_backoff_rows(In<float> probs, In<float> backoffs, In<std::uint32_t> words,
                      In<std::uint32_t> first_child, In<std::uint32_t> links, In<std::uint32_t> nodes,
                      In<float> weights, std::size_t n_words, InOut<float> rows, int threads) {
    const std::size_t n_histories = backoffs.size(), size = probs.size();
    require(first_child.size() == n_histories + 1 && words.size() == size && links.size() >= n_histories &&
                n_histories > 0 && size > n_words,
            "the arrays of the n-grams do not fit together");
    require(weights.size() == nodes.size() && rows.size() == nodes.size() * n_words,
            "there must be a weight and a row for each node");
    check_below(nodes, n_histories, "a node cannot be a history");
    require(first_child.data()[0] == 1 && first_child.data()[1] == 1 + n_words,
            "the root must have a child for each word");
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    for_slices(pool, 0, nodes.size(), [&](std::size_t begin, std::size_t end) {
        std::vector<float> own(n_words);
        std::vector<std::uint32_t> chain;
        for (std::size_t i = begin; i < end; ++i) {
            chain.clear();
            for (std::uint32_t node = nodes.data()[i]; node != 0; node = links.data()[node]) {
                require(links.data()[node] < node, "a link does not lead to a shorter n-gram");
                chain.push_back(node);
            }
            float factor = weights.data()[i];
            std::vector<float> factors(chain.size());
            for (std::size_t j = 0; j < chain.size(); ++j) {
                factors[j] = factor;
                factor *= backoffs.data()[chain[j]];
            }
            scale_row(own.data(), probs.data() + 1, factor, n_words);
            for (std::size_t j = chain.size(); j-- > 0;) {
                const IndexRange children = checked_children(first_child.data(), chain[j], size);
                for (std::size_t child = children.begin; child < children.end; ++child) {
                    require(words.data()[child] < n_words, "a word is not in the vocabulary");
                    own[words.data()[child]] = factors[j] * probs.data()[child];
                }
            }
            add_to_row(rows.data() + i * n_words, own.data(), n_words);
        }
    });
}

// Adds p(category of w) p(w | its category) to each row; `of_categories` has a row of categories for each.
void add_category_rows(In<float> of_categories, In<std::int32_t> categories, In<float> word_probs,
                       std::size_t n_categories, InOut<float> rows, int threads) {
    const std::size_t n_words = categories.size();
    require(word_probs.size() == n_words && n_words > 0 && n_categories > 0,
            "there must be a category and a probability for each word");
    const std::size_t n_rows = rows.size() / n_words;
    require(rows.size() == n_rows * n_words && of_categories.size() == n_rows * n_categories,
            "the rows of words and those of categories do not fit together");
    for (std::size_t i = 0; i < n_words; ++i)
        require(categories.data()[i] >= 0 && static_cast<std::size_t>(categories.data()[i]) < n_categories,
                "a category is not among them");
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    for_slices(pool, 0, n_rows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            add_category_row(rows.data() + i * n_words, of_categories.data() + i * n_categories,
                             categories.data(), word_probs.data(), n_words);
    });
}

}  // namespace

void register_distribution_rows(nb::module_& m) {
    m.def("add_backoff_rows", &add_backoff_rows, nb::arg("probs").noconvert(),
          nb::arg("backoffs").noconvert(), nb::arg("words").noconvert(), nb::arg("first_child").noconvert(),
          nb::arg("links").noconvert(), nb::arg("nodes").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("n_words"), nb::arg("rows").noconvert(), nb::arg("threads"),
          "Add to each row the weighted distribution of a back-off model after a node.");
    m.def("add_category_rows", &add_category_rows, nb::arg("of_categories").noconvert(),
          nb::arg("categories").noconvert(), nb::arg("word_probs").noconvert(), nb::arg("n_categories"),
          nb::arg("rows").noconvert(), nb::arg("threads"),
          "Add to each row the distribution over words that follows from one over categories.");
}

}  // namespace stategram
