// Distributions over all words after many histories at once: a row of a matrix for each history; their
// entropies.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/simd.hpp"
#include "base/threads.hpp"
#include "evaluation/kernels.hpp"

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

template <typename Real>
STATEGRAM_INLINE void add_category_row(Real* row, const Real* of_categories, const std::int32_t* categories,
                                       const Real* word_probs, std::size_t size) {
    Real* STATEGRAM_RESTRICT out = row;
    for (std::size_t i = 0; i < size; ++i) out[i] += of_categories[categories[i]] * word_probs[i];
}

STATEGRAM_CLONES void add_category_floats(float* row, const float* of_categories,
                                          const std::int32_t* categories, const float* word_probs,
                                          std::size_t size) {
    add_category_row(row, of_categories, categories, word_probs, size);
}

STATEGRAM_CLONES void add_category_doubles(double* row, const double* of_categories,
                                           const std::int32_t* categories, const double* word_probs,
                                           std::size_t size) {
    add_category_row(row, of_categories, categories, word_probs, size);
}

// ln x for x > 0 to the last digit or two, without a branch; a finite number for 0, which p ln p makes 0.
//
// With x = 2^n m, m from 0.7 to 1.4, and f = (m - 1) / (m + 1): ln x = n ln 2 + 2 (f + f^3/3 + f^5/5 + ...).
STATEGRAM_INLINE double log_of(double x) {
    constexpr std::uint64_t of_root = 0x3FE6A09E667F3BCD;  // the square root of one half
    constexpr std::uint64_t shift = 0x3FF0000000000000 - of_root;
    const std::uint64_t shifted = std::bit_cast<std::uint64_t>(x) + shift;
    const std::uint64_t low = shifted & 0x000FFFFFFFFFFFFF;
    // 2^52 plus the exponent: no processor is needed that converts 64 bits.
    const double n = std::bit_cast<double>((shifted >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    const double m = std::bit_cast<double>(low + of_root);
    const double f = (m - 1) / (m + 1), g = f * f;
    double sum = 1.0 / 21;
    sum = sum * g + 1.0 / 19;
    sum = sum * g + 1.0 / 17;
    sum = sum * g + 1.0 / 15;
    sum = sum * g + 1.0 / 13;
    sum = sum * g + 1.0 / 11;
    sum = sum * g + 1.0 / 9;
    sum = sum * g + 1.0 / 7;
    sum = sum * g + 1.0 / 5;
    sum = sum * g + 1.0 / 3;
    return n * 0.69314718055994530942 + 2 * (f + f * g * sum);
}

constexpr std::size_t lanes = 16;  // sums that do not wait for each other

// sum_i e_i p_i - m_i p_i ln p_i
STATEGRAM_CLONES double row_entropy(const double* row, const double* masses, const double* entropies,
                                    std::size_t size) {
    double sums[lanes] = {};
    const std::size_t even = size - size % lanes;
    for (std::size_t i = 0; i < even; i += lanes)
        for (std::size_t j = 0; j < lanes; ++j) {
            const double p = row[i + j];
            sums[j] += p * (entropies[i + j] - masses[i + j] * log_of(p));
        }
    double sum = 0;
    for (std::size_t j = 0; j < lanes; ++j) sum += sums[j];
    for (std::size_t i = even; i < size; ++i) sum += row[i] * (entropies[i] - masses[i] * log_of(row[i]));
    return sum;
}

}  // namespace

Out<double> row_entropies(In<double> rows, In<double> masses, In<double> entropies, int threads) {
    const std::size_t size = masses.size();
    require(size > 0 && entropies.size() == size && rows.size() % size == 0,
            "each column needs a mass and an entropy");
    const std::size_t n_rows = rows.size() / size;
    std::vector<double> found(n_rows);
    ThreadPool pool(threads);
    for_slices(pool, 0, n_rows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            found[i] = row_entropy(rows.data() + i * size, masses.data(), entropies.data(), size);
    });
    return found;
}

// Adds weight * p(w | node) to the row of each node. Going from a node to its link, p is multiplied by the
// back-off weight of the node; words that are children of a node on the way have their own p.
void add_backoff_rows(const PlainTrie& trie, In<float> probs, In<float> backoffs, In<std::uint32_t> nodes,
                      In<float> weights, InOut<float> rows, int threads) {
    const std::size_t n_words = trie.n_words();
    require(probs.size() == trie.size() && backoffs.size() == trie.n_histories(),
            "the arrays of the n-grams do not fit together");
    require(weights.size() == nodes.size() && rows.size() == nodes.size() * n_words,
            "there must be a weight and a row for each node");
    check_below(nodes, trie.n_histories(), "a node cannot be a history");
    const In<std::uint32_t> links = trie.links(threads);
    ThreadPool pool(threads);
    for_slices(pool, 0, nodes.size(), [&](std::size_t begin, std::size_t end) {
        std::vector<float> own(n_words);
        std::vector<std::uint32_t> chain;
        for (std::size_t i = begin; i < end; ++i) {
            chain.clear();
            for (std::uint32_t node = nodes[i]; node != 0; node = links[node]) chain.push_back(node);
            float factor = weights[i];
            std::vector<float> factors(chain.size());
            for (std::size_t j = 0; j < chain.size(); ++j) {
                factors[j] = factor;
                factor *= backoffs[chain[j]];
            }
            scale_row(own.data(), probs.data() + 1, factor, n_words);
            for (std::size_t j = chain.size(); j-- > 0;)
                for (std::uint32_t child = trie.first_child[chain[j]]; child < trie.first_child[chain[j] + 1];
                     ++child)
                    own[trie.words[child]] = factors[j] * probs[child];
            add_to_row(rows.data() + i * n_words, own.data(), n_words);
        }
    });
}

// Adds p(category of w) p(w | its category) to each row; `of_categories` has a row of categories for each.
template <typename Real>
void add_category_rows(In<Real> of_categories, In<std::int32_t> categories, In<Real> word_probs,
                       std::size_t n_categories, InOut<Real> rows, int threads) {
    const std::size_t n_words = categories.size();
    require(word_probs.size() == n_words && n_words > 0 && n_categories > 0,
            "there must be a category and a probability for each word");
    const std::size_t n_rows = rows.size() / n_words;
    require(rows.size() == n_rows * n_words && of_categories.size() == n_rows * n_categories,
            "the rows of words and those of categories do not fit together");
    for (std::size_t i = 0; i < n_words; ++i)
        require(categories[i] >= 0 && static_cast<std::size_t>(categories[i]) < n_categories,
                "a category is not among them");
    ThreadPool pool(threads);
    for_slices(pool, 0, n_rows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Real* const row = rows.data() + i * n_words;
            const Real* const of_row = of_categories.data() + i * n_categories;
            if constexpr (sizeof(Real) == sizeof(float))
                add_category_floats(row, of_row, categories.data(), word_probs.data(), n_words);
            else
                add_category_doubles(row, of_row, categories.data(), word_probs.data(), n_words);
        }
    });
}

template void add_category_rows(In<float>, In<std::int32_t>, In<float>, std::size_t, InOut<float>, int);
template void add_category_rows(In<double>, In<std::int32_t>, In<double>, std::size_t, InOut<double>, int);

}  // namespace stategram
