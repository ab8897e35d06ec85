// Count files: the reader's door to Python, and the n-grams of a trie as lines.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "formats/count_reader.hpp"

namespace stategram {
namespace {

void feed(CountReader& reader, const nb::bytes& block) {
    const BusyGuard guard = reader.enter();
    const std::string_view bytes(block.c_str(), block.size());
    nb::gil_scoped_release release;
    reader.feed(bytes);
}

void end_file(CountReader& reader) {
    const BusyGuard guard = reader.enter();
    nb::gil_scoped_release release;
    reader.end_file();
}

auto words(const CountReader& reader) {
    const BusyGuard guard = reader.enter();
    const WordTable& table = reader.words();
    std::vector<std::uint8_t> letters;
    std::vector<std::int64_t> offsets{0};
    for (std::uint32_t id = 0; id < table.size(); ++id) {
        const std::string_view word = table.word(id);
        letters.insert(letters.end(), word.begin(), word.end());
        offsets.push_back(static_cast<std::int64_t>(letters.size()));
    }
    return std::tuple(to_numpy(std::move(letters)), to_numpy(std::move(offsets)),
                      to_numpy(reader.word_counts()));
}

auto levels(CountReader& reader, In<std::uint32_t> numbers, std::uint32_t n_numbers, std::size_t order,
            bool check_suffixes) {
    const BusyGuard guard = reader.enter();
    require(order >= 1 && order <= std::size_t{most_words}, "order is not 1 to 9");
    require(numbers.size() == reader.words().size(), "one number for each word is needed");
    std::vector<CountLevel> made;
    {
        nb::gil_scoped_release release;
        const std::vector<std::uint64_t> counts = reader.word_counts();
        for (std::size_t i = 0; i < numbers.size(); ++i)
            require(numbers(i) < n_numbers || (numbers(i) == CountReader::absent && counts[i] == 0),
                    "a number is not below their number");
        made = reader.levels(numbers.data(), n_numbers, order, check_suffixes);
    }
    std::vector<std::tuple<Out<std::uint32_t>, Out<std::uint32_t>, Out<std::uint32_t>>> arrays;
    for (CountLevel& level : made)
        arrays.emplace_back(to_numpy(std::move(level.words)), to_numpy(std::move(level.counts)),
                            to_numpy(std::move(level.first_child)));
    return arrays;
}

std::size_t order(const CountReader& reader) {
    const BusyGuard guard = reader.enter();
    return reader.order();
}

std::int64_t n_lines(const CountReader& reader) {
    const BusyGuard guard = reader.enter();
    return reader.n_lines();
}

constexpr std::size_t words_a_task = 16;

struct CountedNgrams {
    In<std::uint8_t> letters;
    In<std::int64_t> offsets;
    In<std::uint32_t> ids, ranks;  // of each number
    std::vector<In<std::uint32_t>> words, counts, first_child;

    std::string_view word(std::uint32_t number) const {
        const std::size_t id = ids(number);
        return {reinterpret_cast<const char*>(letters.data()) + offsets(id),
                static_cast<std::size_t>(offsets(id + 1) - offsets(id))};
    }

    // Writes an n-gram and then those that begin with it, which are in the order of their words.
    void write(std::string& out, std::string& ngram, std::size_t level, std::size_t node,
               std::array<std::vector<std::uint32_t>, most_words>& scratch) const {
        const std::uint32_t number = words[level](node), count = counts[level](node);
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
                require(words[level + 1](child) < ids.size(), "a word has no id");
                children.push_back(static_cast<std::uint32_t>(child));
            }
            std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
                return ranks(words[level + 1](a)) < ranks(words[level + 1](b));
            });
            for (const std::uint32_t child : children) write(out, ngram, level + 1, child, scratch);
        }
        ngram.resize(length);
    }
};

nb::bytes count_lines(In<std::uint8_t> letters, In<std::int64_t> offsets, In<std::uint32_t> ids,
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
    std::vector<std::string> parts((nodes.size() + words_a_task - 1) / words_a_task);
    {
        nb::gil_scoped_release release;
        ThreadPool pool(threads);
        pool.run(parts.size(), [&](std::size_t part, int) {
            std::array<std::vector<std::uint32_t>, most_words> scratch;
            std::string ngram;
            for (std::size_t i = part * words_a_task; i < std::min((part + 1) * words_a_task, nodes.size());
                 ++i)
                ngrams.write(parts[part], ngram, 0, nodes(i), scratch);
        });
        for (std::size_t i = 1; i < parts.size(); ++i) parts[0] += std::exchange(parts[i], {});
    }
    return parts.empty() ? nb::bytes("", 0) : nb::bytes(parts[0].data(), parts[0].size());
}

}  // namespace

void register_count_files(nb::module_& m) {
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* type) {
            try {
                std::rethrow_exception(thrown);
            } catch (const CountProblem& problem) {
                const std::string text = std::to_string(problem.line) + ": " + problem.what();
                PyErr_SetString(static_cast<PyObject*>(type), text.c_str());
            }
        },
        nb::exception<CountProblem>(m, "CountProblem", PyExc_ValueError).ptr());
    nb::class_<CountReader>(
        m, "CountReader",
        "Blocks of count files to n-grams.\n\n"
        "Use in this order: feed for each block and end_file for each file; words; levels. "
        "Raises CountProblem: the\n"
        "line, counted through all files, a colon, what was found and what to do.")
        .def(nb::init<int>(), nb::arg("threads"))
        .def("feed", &feed, nb::arg("block"), "Take the next bytes of a file.")
        .def("end_file", &end_file, "Close the file.")
        .def("words", &words, "Return the words, special ones first: letters, offsets, counts.")
        .def("levels", &levels, nb::arg("numbers").noconvert(), nb::arg("n_numbers"), nb::arg("order"),
             nb::arg("check_suffixes"),
             "Return for each length, from 1 to `order`: words, counts, first children.\n"
             "\n"
             "`numbers` has the number of each word in the trie; 2^32-1 for words without a count.")
        .def_prop_ro("order", &order, "The number of words of the longest n-grams.")
        .def_prop_ro("lines", &n_lines, "The number of lines that were read.");
    m.def(
        "count_lines", &count_lines, nb::arg("letters").noconvert(), nb::arg("offsets").noconvert(),
        nb::arg("ids").noconvert(), nb::arg("ranks").noconvert(), nb::arg("words").noconvert(),
        nb::arg("counts").noconvert(), nb::arg("first_child").noconvert(), nb::arg("nodes").noconvert(),
        nb::arg("threads"),
        "Return the lines of words and of the n-grams that begin with them, each before its extensions.\n"
        "\n"
        "`nodes` are the words, in the order of the lines; n-grams that begin alike are in the order of the\n"
        "`ranks` of their words.");
}

}  // namespace stategram
