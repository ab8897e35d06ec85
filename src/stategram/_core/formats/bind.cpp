// Files of other tools, as Python sees them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/most_words.hpp"
#include "base/threads.hpp"
#include "formats/arpa_reader.hpp"
#include "formats/arpa_writer.hpp"
#include "formats/count_reader.hpp"
#include "formats/fst_writer.hpp"
#include "formats/kernels.hpp"

namespace stategram {
namespace {

namespace of_arpa {

bool feed(ArpaReader& reader, const nb::bytes& block) {
    const std::string_view text(block.c_str(), block.size());
    const BusyGuard guard = reader.enter();
    nb::gil_scoped_release release;
    return reader.feed(text);
}

bool finish(ArpaReader& reader) {
    const BusyGuard guard = reader.enter();
    nb::gil_scoped_release release;
    return reader.finish();
}

void number_words(ArpaReader& reader, In<std::uint32_t> numbers) {
    const BusyGuard guard = reader.enter();
    nb::gil_scoped_release release;
    reader.number_words(numbers.data(), numbers.size());
}

auto words(const ArpaReader& reader) {
    const BusyGuard guard = reader.enter();
    std::vector<std::uint8_t> letters;
    std::vector<std::int64_t> offsets{0};
    for (std::size_t id = 0; id < reader.n_words(); ++id) {
        const std::string_view word = reader.word(id);
        letters.insert(letters.end(), word.begin(), word.end());
        offsets.push_back(static_cast<std::int64_t>(letters.size()));
    }
    return std::tuple(to_numpy(std::move(letters)), to_numpy(std::move(offsets)));
}

auto take_trie(ArpaReader& reader) {
    const BusyGuard guard = reader.enter();
    TrieBuilder& trie = reader.take_trie();
    return std::tuple(to_numpy(std::vector<std::int64_t>(trie.begins())), to_numpy(trie.take_words()),
                      to_numpy(trie.take_log_probs()), to_numpy(trie.take_backoffs()),
                      to_numpy(trie.take_first_child()));
}

auto counts(const ArpaReader& reader) {
    const BusyGuard guard = reader.enter();
    return reader.counts();
}

auto added(const ArpaReader& reader) {
    const BusyGuard guard = reader.enter();
    return std::tuple(reader.added(0), reader.added(1), reader.added(2));
}

bool renamed_unknown(const ArpaReader& reader) {
    const BusyGuard guard = reader.enter();
    return reader.renamed_unknown();
}

std::size_t inserted(const ArpaReader& reader) {
    const BusyGuard guard = reader.enter();
    return reader.inserted();
}

}  // namespace of_arpa

namespace of_counts {

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

}  // namespace of_counts

void bind_arpa_reader(nb::module_& m) {
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* type) {
            try {
                std::rethrow_exception(thrown);
            } catch (const ArpaProblem& problem) {
                const std::string text = std::to_string(problem.line) + ": " + problem.what();
                PyErr_SetString(static_cast<PyObject*>(type), text.c_str());
            }
        },
        nb::exception<ArpaProblem>(m, "ArpaProblem", PyExc_ValueError).ptr());
    nb::class_<ArpaReader>(
        m, "ArpaReader",
        "Blocks of an ARPA file to a trie.\n\n"
        "Use in this order: feed for each block; finish; take_trie. Whenever feed or finish return True:\n"
        "words and number_words, and after finish once more finish. Raises ArpaProblem: the line, a colon,\n"
        "what was found and what to do.")
        .def(nb::init<int>(), nb::arg("threads"))
        .def("feed", &of_arpa::feed, nb::arg("block"),
             "Take the next bytes; returns whether the words are to be numbered now.")
        .def("finish", &of_arpa::finish, "Close the file; returns what `feed` returns.")
        .def("words", &of_arpa::words, "Return the words in the order of their ids: letters, offsets.")
        .def("number_words", &of_arpa::number_words, nb::arg("numbers").noconvert(),
             "Take the trie's number of each word.")
        .def("take_trie", &of_arpa::take_trie,
             "Return begins, words, log_probs, backoffs and first_child; once only.")
        .def_prop_ro("counts", &of_arpa::counts, "The number of n-grams of each order in the file.")
        .def_prop_ro("added", &of_arpa::added, "Whether <unk>, <s>, </s> were missing.")
        .def_prop_ro("renamed_unknown", &of_arpa::renamed_unknown, "Whether <UNK> was taken for <unk>.")
        .def_prop_ro("inserted", &of_arpa::inserted, "How many missing starts of n-grams were added.");
}

void bind_arpa_writer(nb::module_& m) {
    nb::class_<ArpaWriter>(m, "ArpaWriter", "The n-grams of a trie as lines of an ARPA file.")
        .def(nb::init<In<std::uint8_t>, In<std::int64_t>, In<std::uint32_t>, In<std::int64_t>,
                      In<std::uint32_t>, In<float>, In<float>, In<std::uint32_t>, int>(),
             nb::arg("letters").noconvert(), nb::arg("offsets").noconvert(), nb::arg("numbers").noconvert(),
             nb::arg("begins").noconvert(), nb::arg("words").noconvert(), nb::arg("log_probs").noconvert(),
             nb::arg("backoffs").noconvert(), nb::arg("first_child").noconvert(), nb::arg("threads"))
        .def("lines", &ArpaWriter::lines, nb::arg("level"), nb::arg("begin"), nb::arg("end"),
             "Return the lines of some n-grams of `level` words, which are in the order of the ids of their "
             "words.");
}

void bind_fst_writer(nb::module_& m) {
    nb::class_<FstWriter>(m, "FstWriter", "A back-off model as lines of OpenFst's text format.")
        .def(nb::init<In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>, In<float>, In<float>,
                      In<std::uint32_t>, std::uint32_t, int>(),
             nb::arg("numbers").noconvert(), nb::arg("begins").noconvert(), nb::arg("words").noconvert(),
             nb::arg("log_probs").noconvert(), nb::arg("backoffs").noconvert(),
             nb::arg("first_child").noconvert(), nb::arg("backoff_label"), nb::arg("threads"))
        .def_prop_ro("n_states", &FstWriter::n_states, "The number of states; the first is the start.")
        .def("lines", &FstWriter::lines, nb::arg("begin"), nb::arg("end"),
             "Return the arcs and final weights of some states. The label of a word is its id and 1 more.");
}

void bind_count_files(nb::module_& m) {
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
        .def("feed", &of_counts::feed, nb::arg("block"), "Take the next bytes of a file.")
        .def("end_file", &of_counts::end_file, "Close the file.")
        .def("words", &of_counts::words, "Return the words, special ones first: letters, offsets, counts.")
        .def("levels", &of_counts::levels, nb::arg("numbers").noconvert(), nb::arg("n_numbers"),
             nb::arg("order"), nb::arg("check_suffixes"),
             "Return for each length, from 1 to `order`: words, counts, first children.\n"
             "\n"
             "`numbers` has the number of each word in the trie; 2^32-1 for words without a count.")
        .def_prop_ro("order", &of_counts::order, "The number of words of the longest n-grams.")
        .def_prop_ro("lines", &of_counts::n_lines, "The number of lines that were read.");
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

void bind_table_lines(nb::module_& m) {
    m.def("table_lines", &table_lines, nb::arg("format"), nb::arg("kinds"), nb::arg("names"), nb::arg("rows"),
          nb::arg("integers"), nb::arg("floats"), nb::arg("bools"), nb::arg("ids"), nb::arg("letters"),
          nb::arg("offsets"), nb::arg("missing"), nb::arg("rows_since_text").noconvert(), nb::arg("threads"),
          "Return the rows of a table as lines of tsv, csv or jsonl.\n"
          "\n"
          "`kinds` has a letter for each column: i, f, b, t (texts, by ids). The arrays of each kind are in "
          "the order of the columns;\n"
          "`missing` has one for each column, empty if nothing is missing. `rows_since_text`, one for each "
          "column of texts: -1 before\n"
          "the first rows of a file, -2 for a column written verbatim, -3 for one of numbers; it is updated "
          "for the rows that "
          "follow.");
}

}  // namespace

void register_formats(nb::module_& m) {
    bind_arpa_reader(m);
    bind_arpa_writer(m);
    bind_fst_writer(m);
    bind_count_files(m);
    bind_table_lines(m);
}

}  // namespace stategram
