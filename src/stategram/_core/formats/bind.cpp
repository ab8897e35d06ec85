// Files of other tools, as Python sees them.

#include "base/bind.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <tuple>
#include <vector>

#include "base/checks.hpp"
#include "base/most_words.hpp"
#include "base/threads.hpp"
#include "formats/arpa_reader.hpp"
#include "formats/arpa_writer.hpp"
#include "formats/count_reader.hpp"
#include "formats/fst_writer.hpp"
#include "formats/kernels.hpp"
#include "text/merger.hpp"

namespace stategram {
namespace {

namespace of_arpa {

bool feed(ArpaReader& reader, InBytes block) { return reader.feed(block); }

void number_words(ArpaReader& reader, In<std::uint32_t> numbers) {
    reader.number_words(numbers.data(), numbers.size());
}

std::tuple<Out<std::uint8_t>, Out<std::int64_t>> words(ArpaReader& reader) {
    WordList words;
    for (std::size_t id = 0; id < reader.n_words(); ++id) words.add(reader.word(id));
    return {std::move(words.letters), std::move(words.offsets)};
}

std::tuple<Out<std::int64_t>, Out<std::uint32_t>, Out<float>, Out<float>, Out<std::uint32_t>> take_trie(
    ArpaReader& reader) {
    TrieBuilder& trie = reader.take_trie();
    return {std::vector(trie.begins()), trie.take_words(), trie.take_log_probs(), trie.take_backoffs(),
            trie.take_first_child()};
}

std::tuple<bool, bool, bool> added(ArpaReader& reader) {
    return {reader.added(0), reader.added(1), reader.added(2)};
}

}  // namespace of_arpa

namespace of_counts {

void feed(CountReader& reader, InBytes block) { reader.feed(block); }

std::tuple<Out<std::uint8_t>, Out<std::int64_t>, Out<std::uint64_t>> words(CountReader& reader) {
    WordList words;
    for (std::uint32_t id = 0; id < reader.words().size(); ++id) words.add(reader.words().word(id));
    return {std::move(words.letters), std::move(words.offsets), reader.word_counts()};
}

CountLevels levels(CountReader& reader, In<std::uint32_t> numbers, std::uint32_t n_numbers, std::size_t order,
                   bool check_suffixes) {
    require(order >= 1 && order <= std::size_t{most_words}, "order is not 1 to 9");
    require(numbers.size() == reader.words().size(), "one number for each word is needed");
    const std::vector<std::uint64_t> counts = reader.word_counts();
    for (std::size_t i = 0; i < numbers.size(); ++i)
        require(numbers[i] < n_numbers || (numbers[i] == CountReader::absent && counts[i] == 0),
                "a number is not below their number");
    return arrays_of(reader.levels(numbers.data(), n_numbers, order, check_suffixes));
}

}  // namespace of_counts

// What is wrong with a file: in Python a ValueError of the line, a colon and the rest.
template <typename Problem>
void bind_problem(nb::module_& m, const char* name) {
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* type) {
            try {
                std::rethrow_exception(thrown);
            } catch (const Problem& problem) {
                const std::string text = std::to_string(problem.line) + ": " + problem.what();
                PyErr_SetString(static_cast<PyObject*>(type), text.c_str());
            }
        },
        nb::exception<Problem>(m, name, PyExc_ValueError).ptr());
}

void bind_arpa_reader(nb::module_& m) {
    bind_problem<ArpaProblem>(m, "ArpaProblem");
    nb::class_<ArpaReader> reader(
        m, "ArpaReader",
        "Blocks of an ARPA file to a trie.\n\n"
        "Use in this order: feed for each block; finish; take_trie. Whenever feed or finish return True:\n"
        "words and number_words, and after finish once more finish. Raises ArpaProblem: the line, a colon,\n"
        "what was found and what to do.");
    def_init<int>(reader, "threads");
    def_kernel(reader, "feed", entering<&of_arpa::feed>, "block",
               "Take the next bytes; returns whether the words are to be numbered now.");
    def_kernel(reader, "finish", entering<&ArpaReader::finish>, "",
               "Close the file; returns what `feed` returns.");
    def_kernel(reader, "words", entering<&of_arpa::words>, "",
               "Return the words in the order of their ids: letters, offsets.");
    def_kernel(reader, "number_words", entering<&of_arpa::number_words>, "numbers",
               "Take the trie's number of each word.");
    def_kernel(reader, "take_trie", entering<&of_arpa::take_trie>, "",
               "Return begins, words, log_probs, backoffs and first_child; once only.");
    reader.def_prop_ro("counts", entering<&ArpaReader::counts>,
                       "The number of n-grams of each order in the file.");
    reader.def_prop_ro("added", entering<&of_arpa::added>, "Whether <unk>, <s>, </s> were missing.");
    reader.def_prop_ro("renamed_unknown", entering<&ArpaReader::renamed_unknown>,
                       "Whether <UNK> was taken for <unk>.");
    reader.def_prop_ro("inserted", entering<&ArpaReader::inserted>,
                       "How many missing starts of n-grams were added.");
}

void bind_arpa_writer(nb::module_& m) {
    nb::class_<ArpaWriter> writer(m, "ArpaWriter", "The n-grams of a trie as lines of an ARPA file.");
    def_init<In<std::uint8_t>, In<std::int64_t>, std::shared_ptr<const PlainTrie>, int>(
        writer, "letters offsets trie threads");
    def_kernel(
        writer, "lines", entering<&ArpaWriter::lines>, "level begin end",
        "Return the lines of some n-grams of `level` words, which are in the order of the ids of their "
        "words.");
}

void bind_fst_writer(nb::module_& m) {
    nb::class_<FstWriter> writer(m, "FstWriter", "A back-off model as lines of OpenFst's text format.");
    def_init<std::shared_ptr<const PlainTrie>, std::uint32_t, int>(writer, "trie backoff_label threads");
    writer.def_prop_ro("n_states", &FstWriter::n_states, "The number of states; the first is the start.");
    def_kernel(writer, "lines", entering<&FstWriter::lines>, "begin end",
               "Return the arcs and final weights of some states. The label of a word is its id and 1 more.");
}

void bind_count_files(nb::module_& m) {
    bind_problem<CountProblem>(m, "CountProblem");
    nb::class_<CountReader> reader(
        m, "CountReader",
        "Blocks of count files to n-grams.\n\n"
        "Use in this order: feed for each block and end_file for each file; words; levels. "
        "Raises CountProblem: the\n"
        "line, counted through all files, a colon, what was found and what to do.");
    def_init<int>(reader, "threads");
    def_kernel(reader, "feed", entering<&of_counts::feed>, "block", "Take the next bytes of a file.");
    def_kernel(reader, "end_file", entering<&CountReader::end_file>, "", "Close the file.");
    def_kernel(reader, "words", entering<&of_counts::words>, "",
               "Return the words, special ones first: letters, offsets, counts.");
    def_kernel(reader, "levels", entering<&of_counts::levels>, "numbers n_numbers order check_suffixes",
               "Return for each length, from 1 to `order`: words, counts, first children.\n"
               "\n"
               "`numbers` has the number of each word in the trie; 2^32-1 for words without a count.");
    reader.def_prop_ro("order", entering<&CountReader::order>, "The maximum n-gram order.");
    reader.def_prop_ro("lines", entering<&CountReader::n_lines>, "The number of lines that were read.");
    def_kernel(
        m, "count_lines", &count_lines, "letters offsets ids ranks words counts first_child nodes threads",
        "Return the lines of words and of the n-grams that begin with them, each before its extensions.\n"
        "\n"
        "`nodes` are the words, in the order of the lines; n-grams that begin alike are in the order of the\n"
        "`ranks` of their words.");
}

void bind_table_lines(nb::module_& m) {
    def_kernel(
        m, "table_lines", &table_lines,
        "format kinds names rows integers floats bools ids letters offsets missing rows_since_text threads",
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
