// The contexts of a text as a tree, with the words that follow them.
//
// Every event gives one key: the values of its context from the first refinement on, then the word. Sorted
// keys are the leaves with their words; beginnings of keys are the nodes above.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "counts/kernels.hpp"
#include "counts/range_counter.hpp"

namespace stategram {
namespace {

// Value k of a context: what `map` makes of the word so many places back. Before a sentence stands `before`.
struct Value {
    const std::uint32_t* map;
    std::int64_t distance;
};

struct ContextSource {
    const std::uint32_t* ids;
    const std::int64_t* starts;
    std::size_t sentences;
    std::uint32_t before;
    std::vector<Value> values;

    std::size_t pieces() const { return sentences; }

    template <std::size_t Limbs, typename Use>
    void for_keys(std::size_t begin, std::size_t end, int bits, int order, const Use& use) const {
        for (std::size_t sentence = begin; sentence < end; ++sentence) {
            const std::int64_t start = starts[sentence];
            for (std::int64_t i = start; i < starts[sentence + 1]; ++i) {
                NgramKey<Limbs> key{};
                key.prepend(ids[i] + std::uint64_t{1}, bits, order);
                std::uint32_t symbol = 0;
                for (std::size_t k = values.size(); k-- > 0;) {
                    const std::int64_t place = i - values[k].distance;
                    symbol = values[k].map[place >= start ? ids[place] : before];
                    key.prepend(symbol + std::uint64_t{1}, bits, order);
                }
                use(key, symbol);
            }
        }
    }
};

using Maps = std::vector<In<std::uint32_t>>;

}  // namespace

CountLevels count_contexts(In<std::uint32_t> ids, In<std::int64_t> sentence_starts, std::uint32_t before,
                           const Maps& maps, const std::vector<std::int64_t>& distances,
                           std::uint32_t n_values, std::uint32_t first, std::uint32_t last, int threads) {
    require(!maps.empty() && maps.size() < most_words && maps.size() == distances.size(),
            "a context has 1 to 8 values");
    check_offsets(sentence_starts, ids.size(), "the sentences do not cover the ids");
    require(ids.size() <= UINT32_MAX / 2, "more than 2^31-1 events; count a part of the text");
    require(first < last && last <= n_values && n_values < UINT32_MAX,
            "values and their range do not fit together");
    ContextSource source{ids.data(), sentence_starts.data(), sentence_starts.size() - 1, before, {}};
    const std::size_t n_words = maps[0].size();
    for (std::size_t k = 0; k < maps.size(); ++k) {
        require(distances[k] >= 1 && maps[k].size() == n_words,
                "a value is not that of a word before, for all words");
        source.values.push_back({maps[k].data(), distances[k]});
    }
    require(before < n_words && n_words <= n_values, "there are fewer values than words");
    for (const auto& map : maps) check_below(map, n_values, "a value is not below their number");
    check_below(ids, n_words, "an id is not below the number of words");
    ThreadPool pool(threads);
    return arrays_of(count_range(source, static_cast<int>(maps.size()) + 1,
                                 static_cast<int>(std::bit_width(n_values)), first, last, pool));
}

namespace {

// Where to cut groups into slices of about as many groups and rows: a few groups may have most of all rows,
// beside many of a single one.
std::vector<std::size_t> even_cuts(const In<std::int64_t>& group_offsets, std::size_t slices) {
    const std::size_t groups = group_offsets.size() - 1;
    const double of_groups = 1.0 / static_cast<double>(groups);
    const double of_rows = 1.0 / static_cast<double>(group_offsets[groups] - group_offsets[0] + 1);
    std::vector<std::size_t> cuts{0};
    double share = 0.0;
    for (std::size_t group = 0; group < groups; ++group) {
        const std::int64_t rows = group_offsets[group + 1] - group_offsets[group];
        share += of_groups + of_rows * static_cast<double>(rows);
        if (share * static_cast<double>(slices) >= 2.0 || group + 1 == groups) {
            cuts.push_back(group + 1);
            share = 0.0;
        }
    }
    return cuts;
}

}  // namespace

// Sums rows of counts, group by group: group j is made of the rows rows[group_offsets[j] ..
// group_offsets[j+1]).
CountRows sum_rows(In<std::int64_t> offsets, In<std::uint32_t> columns, In<std::uint32_t> counts,
                   In<std::uint32_t> rows, In<std::int64_t> group_offsets, std::uint32_t n_columns,
                   int threads) {
    check_offsets(offsets, columns.size(), "rows and groups do not fit together");
    require(columns.size() == counts.size() && group_offsets.size() > 0 && group_offsets[0] >= 0 &&
                group_offsets[group_offsets.size() - 1] <= static_cast<std::int64_t>(rows.size()) &&
                std::is_sorted(group_offsets.data(), group_offsets.data() + group_offsets.size()),
            "rows and groups do not fit together");
    const std::size_t groups = group_offsets.size() - 1;
    std::vector<std::int64_t> out_offsets(groups + 1, 0);
    std::vector<std::uint32_t> out_columns, out_counts;
    check_below(rows, offsets.size() - 1, "no such row");
    check_below(columns, n_columns, "no such column");
    for (std::size_t i = 0; i < counts.size(); ++i) require(counts[i] > 0, "a count is 0");
    ThreadPool pool(threads);
    const std::vector<std::size_t> cuts = even_cuts(group_offsets, static_cast<std::size_t>(threads) * 16);
    const std::size_t slices = cuts.size() - 1;
    struct Part {
        std::vector<std::uint32_t> columns, counts;
    };
    std::vector<Part> parts(slices);
    std::vector<std::vector<std::uint32_t>> sums(static_cast<std::size_t>(threads));
    pool.run(slices, [&](std::size_t slice, int worker) {
        auto& sum = sums[static_cast<std::size_t>(worker)];
        sum.resize(n_columns, 0);
        std::vector<std::uint32_t> touched;
        for (std::size_t group = cuts[slice]; group < cuts[slice + 1]; ++group) {
            touched.clear();
            for (std::int64_t r = group_offsets[group]; r < group_offsets[group + 1]; ++r) {
                const std::size_t row = rows[r];
                for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
                    const std::uint32_t column = columns[i], count = counts[i];
                    if (sum[column] == 0) touched.push_back(column);
                    sum[column] += count;
                    require(sum[column] >= count,
                            "a sum of counts is above 2^32-1; count a part of the text");
                }
            }
            std::sort(touched.begin(), touched.end());
            for (const std::uint32_t column : touched) {
                parts[slice].columns.push_back(column);
                parts[slice].counts.push_back(sum[column]);
                sum[column] = 0;
            }
            out_offsets[group + 1] = static_cast<std::int64_t>(touched.size());
        }
    });
    for (std::size_t group = 0; group < groups; ++group) out_offsets[group + 1] += out_offsets[group];
    out_columns.reserve(static_cast<std::size_t>(out_offsets[groups]));
    out_counts.reserve(out_columns.capacity());
    for (Part& part : parts) {
        out_columns.insert(out_columns.end(), part.columns.begin(), part.columns.end());
        out_counts.insert(out_counts.end(), part.counts.begin(), part.counts.end());
        part = {};
    }
    return {std::move(out_offsets), std::move(out_columns), std::move(out_counts)};
}

// The leaf of the tree that each event's context reaches: for each event and level, the node, or `none`.
// `first_child`, `symbols`: of each level, from the root down. Gives the node of the deepest level that is
// known, and that level.
std::tuple<Out<std::uint32_t>, Out<std::uint8_t>> find_contexts(
    In<std::uint32_t> ids, In<std::int64_t> sentence_starts, std::uint32_t before, const Maps& maps,
    const std::vector<std::int64_t>& distances, const Maps& first_child, const Maps& symbols, int threads) {
    const std::size_t depth = maps.size(), size = ids.size();
    require(depth > 0 && depth <= UINT8_MAX && distances.size() == depth && first_child.size() == depth &&
                symbols.size() == depth,
            "the levels do not fit the context");
    check_offsets(sentence_starts, size, "the sentences do not cover the ids");
    for (std::size_t k = 0; k < depth; ++k)
        require(distances[k] >= 1 && before < maps[k].size(),
                "a value is not that of a word before, for all words");
    std::vector<std::uint32_t> nodes(size, 0);
    std::vector<std::uint8_t> levels(size, 0);
    for (const auto& map : maps) check_below(ids, map.size(), "an id is not below the number of words");
    ThreadPool pool(threads);
    const std::size_t sentences = sentence_starts.size() - 1;
    const std::size_t slices =
        std::max<std::size_t>(1, std::min<std::size_t>(sentences, static_cast<std::size_t>(threads) * 16));
    pool.run(slices, [&](std::size_t slice, int) {
        for (std::size_t s = sentences * slice / slices; s < sentences * (slice + 1) / slices; ++s)
            for (std::int64_t i = sentence_starts[s]; i < sentence_starts[s + 1]; ++i) {
                std::uint32_t node = 0;
                std::size_t level = 0;
                for (; level < depth; ++level) {
                    const std::int64_t place = i - distances[level];
                    const std::uint32_t value =
                        maps[level].data()[place >= sentence_starts[s] ? ids[place] : before];
                    const auto& children = first_child[level];
                    // The tree may come from a damaged file; to look at all of it would take longer.
                    require(node + std::size_t{1} < children.size(),
                            "the children of a node are not in the tree");
                    const IndexRange range = checked_children(children.data(), node, symbols[level].size());
                    const std::uint32_t* begin = symbols[level].data() + range.begin;
                    const std::uint32_t* end = symbols[level].data() + range.end;
                    const std::uint32_t* found = std::lower_bound(begin, end, value);
                    if (found == end || *found != value) break;
                    node = static_cast<std::uint32_t>(found - symbols[level].data());
                }
                nodes[static_cast<std::size_t>(i)] = node;
                levels[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(level);
            }
    });
    return {std::move(nodes), std::move(levels)};
}

}  // namespace stategram
