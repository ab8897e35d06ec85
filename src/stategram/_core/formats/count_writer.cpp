// The n-grams of a trie as the lines of count files.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/most_words.hpp"
#include "base/threads.hpp"
#include "formats/kernels.hpp"

namespace stategram {
namespace {

constexpr std::size_t words_a_task = 16;

struct CountedNgrams {
    In<std::uint8_t> letters;
    In<std::int64_t> offsets;
    In<std::uint32_t> ids, ranks;  // of each number
    std::vector<In<std::uint32_t>> words, counts, first_child;

    std::string_view word(std::uint32_t number) const {
        const std::size_t id = ids[number];
        return {reinterpret_cast<const char*>(letters.data()) + offsets[id],
                static_cast<std::size_t>(offsets[id + 1] - offsets[id])};
    }

    // Writes an n-gram and then those that begin with it, which are in the order of their words.
    void write(std::string& out, std::string& ngram, std::size_t level, std::size_t node,
               std::array<std::vector<std::uint32_t>, most_words>& scratch) const {
        const std::uint32_t number = words[level][node], count = counts[level][node];
        require(number < ids.size(), "a word has no id");
        if (count == 0) return;
        const std::size_t length = ngram.size();
        if (level > 0) ngram += ' ';
        ngram += word(number);
        char digits[16];
        out += ngram;
        out += '\t';
        out.append(digits, std::to_chars(digits, digits + sizeof digits, count).ptr);
        out += '\n';
        if (level + 1 < words.size()) {
            const IndexRange range =
                checked_children(first_child[level].data(), node, words[level + 1].size());
            std::vector<std::uint32_t>& children = scratch[level];
            children.clear();
            for (std::size_t child = range.begin; child < range.end; ++child) {
                require(words[level + 1][child] < ids.size(), "a word has no id");
                children.push_back(static_cast<std::uint32_t>(child));
            }
            std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
                return ranks[words[level + 1][a]] < ranks[words[level + 1][b]];
            });
            for (const std::uint32_t child : children) write(out, ngram, level + 1, child, scratch);
        }
        ngram.resize(length);
    }
};

}  // namespace

OutBytes<> count_lines(In<std::uint8_t> letters, In<std::int64_t> offsets, In<std::uint32_t> ids,
                       In<std::uint32_t> ranks, std::vector<In<std::uint32_t>> level_words,
                       std::vector<In<std::uint32_t>> counts, std::vector<In<std::uint32_t>> first_child,
                       In<std::uint32_t> nodes, int threads) {
    const std::size_t order = level_words.size();
    require(order >= 1 && order <= std::size_t{most_words} && counts.size() == order &&
                first_child.size() == order - 1 && ranks.size() == ids.size() &&
                offsets.size() == ids.size() + 1,
            "the levels do not fit together");
    for (std::size_t level = 0; level < order; ++level)
        require(counts[level].size() == level_words[level].size() &&
                    (level + 1 == order || first_child[level].size() == level_words[level].size() + 1),
                "the levels do not fit together");
    check_offsets(offsets, letters.size(), "letters and offsets do not fit together");
    check_below(ids, ids.size(), "there is no such id");
    check_below(nodes, level_words[0].size(), "there is no such node");
    const CountedNgrams ngrams{
        letters, offsets, ids, ranks, std::move(level_words), std::move(counts), std::move(first_child)};
    OutBytes<> parts;
    parts.resize((nodes.size() + words_a_task - 1) / words_a_task);
    ThreadPool pool(threads);
    pool.run(parts.size(), [&](std::size_t part, int) {
        std::array<std::vector<std::uint32_t>, most_words> scratch;
        std::string ngram;
        for (std::size_t i = part * words_a_task; i < std::min((part + 1) * words_a_task, nodes.size()); ++i)
            ngrams.write(parts[part], ngram, 0, nodes[i], scratch);
    });
    return parts;
}

}  // namespace stategram
