// The reader of ARPA files as Python sees it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "base/arrays.hpp"
#include "formats/arpa_reader.hpp"

namespace stategram {
namespace {

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

}  // namespace

void register_arpa_reader(nb::module_& m) {
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
        .def("feed", &feed, nb::arg("block"),
             "Take the next bytes; returns whether the words are to be numbered now.")
        .def("finish", &finish, "Close the file; returns what `feed` returns.")
        .def("words", &words, "Return the words in the order of their ids: letters, offsets.")
        .def("number_words", &number_words, nb::arg("numbers").noconvert(),
             "Take the trie's number of each word.")
        .def("take_trie", &take_trie, "Return begins, words, log_probs, backoffs and first_child; once only.")
        .def_prop_ro("counts", &counts, "The number of n-grams of each order in the file.")
        .def_prop_ro("added", &added, "Whether <unk>, <s>, </s> were missing.")
        .def_prop_ro("renamed_unknown", &renamed_unknown, "Whether <UNK> was taken for <unk>.")
        .def_prop_ro("inserted", &inserted, "How many missing starts of n-grams were added.");
}

}  // namespace stategram
