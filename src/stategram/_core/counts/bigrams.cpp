// Counts of adjacent pairs in a stream of ids, from packed keys.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "counts/kernels.hpp"
#include "counts/key_counts.hpp"

namespace stategram {
namespace {

// Compressed rows: the neighbours of row r are columns[offsets[r] .. offsets[r + 1]), in rising order.
struct Rows {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> columns;
    std::vector<std::uint32_t> counts;
};

CountRows arrays_of(Rows&& rows) {
    return {std::move(rows.offsets), std::move(rows.columns), std::move(rows.counts)};
}

template <typename Key>
Rows count_pairs(const std::uint32_t* ids, std::size_t size, std::uint32_t first, std::size_t types,
                 ThreadPool& pool) {
    auto key_of = [=](std::size_t i) {
        const Key previous = i == 0 ? first : ids[i - 1];
        return static_cast<Key>(previous * static_cast<Key>(types) + ids[i]);
    };
    const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(types) * types - 1));
    KeyCounts<Key> pairs = count_keys<Key>(size, bits, key_of, pool);

    Rows rows;
    rows.offsets.assign(types + 1, 0);
    rows.columns.resize(pairs.keys.size());
    rows.counts = std::move(pairs.counts);
    std::size_t row = 0;
    Key row_begin = 0;
    for (std::size_t i = 0; i < pairs.keys.size(); ++i) {
        while (pairs.keys[i] - row_begin >= types) {
            row_begin = static_cast<Key>(row_begin + types);
            rows.offsets[++row] = static_cast<std::int64_t>(i);
        }
        rows.columns[i] = static_cast<std::uint32_t>(pairs.keys[i] - row_begin);
    }
    while (row < types) rows.offsets[++row] = static_cast<std::int64_t>(pairs.keys.size());
    return rows;
}

}  // namespace

CountRows count_bigrams(In<std::uint32_t> ids, std::uint32_t first, std::uint32_t types, int threads) {
    require(first < types, "first is not below the number of types");
    require(ids.size() <= UINT32_MAX, "more than 2^32-1 events");
    check_below(ids, types, "an id is not below the number of types");
    ThreadPool pool(threads);
    // Keys of 32 bits halve the memory that the sort has to move.
    if (static_cast<std::uint64_t>(types) * types <= UINT32_MAX)
        return arrays_of(count_pairs<std::uint32_t>(ids.data(), ids.size(), first, types, pool));
    return arrays_of(count_pairs<std::uint64_t>(ids.data(), ids.size(), first, types, pool));
}

// The same counts seen from the columns. A counting sort: rows are read in order, so each column's
// neighbours come out in order too.
CountRows transpose_counts(In<std::int64_t> offsets, In<std::uint32_t> columns, In<std::uint32_t> counts,
                           std::size_t n_columns) {
    check_offsets(offsets, columns.size(), "offsets, columns and counts do not fit together");
    require(columns.size() == counts.size() && n_columns <= UINT32_MAX && offsets.size() <= UINT32_MAX,
            "offsets, columns and counts do not fit together");
    const std::size_t n_rows = offsets.size() - 1;
    Rows rows;
    rows.offsets.assign(n_columns + 1, 0);
    rows.columns.resize(columns.size());
    rows.counts.resize(columns.size());
    check_below(columns, n_columns, "a column is not below their number");
    for (std::size_t i = 0; i < columns.size(); ++i) ++rows.offsets[columns[i] + 1];
    for (std::size_t c = 0; c < n_columns; ++c) rows.offsets[c + 1] += rows.offsets[c];
    std::vector<std::int64_t> place(rows.offsets.begin(), rows.offsets.end() - 1);
    for (std::size_t r = 0; r < n_rows; ++r)
        for (std::int64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
            std::int64_t at = place[columns[static_cast<std::size_t>(i)]]++;
            rows.columns[static_cast<std::size_t>(at)] = static_cast<std::uint32_t>(r);
            rows.counts[static_cast<std::size_t>(at)] = counts[static_cast<std::size_t>(i)];
        }
    return arrays_of(std::move(rows));
}

// The bigrams of a trie, whose words have numbers, by ids. What follows <s> is the row of </s>: the beginning
// and the end of a sentence are one symbol.
CountRows bigram_rows(In<std::uint32_t> first_child, In<std::uint32_t> words, In<std::uint32_t> counts,
                      In<std::uint32_t> numbers, std::uint32_t begin, std::uint32_t end, int threads) {
    const std::size_t types = numbers.size();
    require(first_child.size() == types + 1 && words.size() == counts.size() && begin < types &&
                end < types && begin != end && types < UINT32_MAX,
            "the levels do not fit together");
    Rows rows;
    check_children(first_child.data(), 0, types, words.size());
    check_below(words, types, "a word has no id");
    const std::vector<std::uint32_t> id_of = inverse(numbers);
    const auto row_of = [&](std::size_t id) {
        const std::size_t number = numbers[id == end ? begin : id];
        const bool is_empty = id == begin;
        return IndexRange{first_child[number], is_empty ? first_child[number] : first_child[number + 1]};
    };
    rows.offsets.assign(types + 1, 0);
    for (std::size_t id = 0; id < types; ++id)
        rows.offsets[id + 1] =
            rows.offsets[id] + static_cast<std::int64_t>(row_of(id).end - row_of(id).begin);
    const std::size_t size = static_cast<std::size_t>(rows.offsets[types]);
    rows.columns.resize(size);
    rows.counts.resize(size);
    ThreadPool pool(threads);
    for_slices(pool, 0, types, [&](std::size_t first, std::size_t last) {
        std::vector<std::uint64_t> row;  // columns, and counts in the low bits
        for (std::size_t id = first; id < last; ++id) {
            row.clear();
            const IndexRange range = row_of(id);
            for (std::size_t i = range.begin; i < range.end; ++i)
                row.push_back(std::uint64_t{id_of[words[i]]} << 32 | counts[i]);
            std::sort(row.begin(), row.end());
            auto at = static_cast<std::size_t>(rows.offsets[id]);
            for (const std::uint64_t one : row) {
                rows.columns[at] = static_cast<std::uint32_t>(one >> 32);
                rows.counts[at++] = static_cast<std::uint32_t>(one);
            }
        }
    });
    return arrays_of(std::move(rows));
}

}  // namespace stategram
