// Texts and vocabularies, as Python sees them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "text/encoder.hpp"
#include "text/kernels.hpp"
#include "text/merger.hpp"
#include "text/word_views.hpp"

namespace stategram {
namespace {

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

using Bad = std::optional<std::tuple<std::int64_t, std::int64_t, int>>;

Bad found(const BadPlace& bad) {
    if (bad.line == 0) return std::nullopt;
    return std::tuple(bad.line, bad.offset, bad.byte);
}

Bad feed(TextEncoder& encoder, const nb::bytes& block) {
    const std::string_view text = view(block);
    const BusyGuard guard = encoder.enter();
    nb::gil_scoped_release release;
    return found(encoder.feed(text));
}

Bad end_file(TextEncoder& encoder) {
    const BusyGuard guard = encoder.enter();
    nb::gil_scoped_release release;
    return found(encoder.end_file());
}

nb::bytes wide_words(const TextEncoder& encoder) {
    const BusyGuard guard = encoder.enter();
    const std::string words = encoder.wide_words();
    return nb::bytes(words.data(), words.size());
}

void merge(TextEncoder& encoder, const nb::bytes& lowered, const nb::bytes& digits) {
    const std::string_view lowered_view = view(lowered), digits_view = view(digits);
    const BusyGuard guard = encoder.enter();
    nb::gil_scoped_release release;
    encoder.merge(lowered_view, digits_view);
}

auto choose_vocabulary(TextEncoder& encoder, std::uint64_t size, std::uint64_t min_count) {
    const BusyGuard guard = encoder.enter();
    WordList words;
    {
        nb::gil_scoped_release release;
        words = encoder.choose_vocabulary(size, min_count);
    }
    return std::tuple(to_numpy(std::move(words.letters)), to_numpy(std::move(words.offsets)),
                      to_numpy(encoder.counts()));
}

auto use_vocabulary(TextEncoder& encoder, In<std::uint8_t> letters, In<std::int64_t> offsets) {
    const BusyGuard guard = encoder.enter();
    {
        nb::gil_scoped_release release;
        encoder.use_vocabulary(vocabulary_table(WordViews(letters, offsets)));
    }
    return to_numpy(encoder.counts());
}

auto encode(TextEncoder& encoder) {
    const BusyGuard guard = encoder.enter();
    Encoded encoded;
    {
        nb::gil_scoped_release release;
        encoded = encoder.encode();
    }
    return std::tuple(to_numpy(std::move(encoded.ids), encoded.size),
                      to_numpy(std::move(encoded.sentence_starts)),
                      to_numpy(std::move(encoded.document_starts)));
}

std::int64_t replaced(const TextEncoder& encoder) {
    const BusyGuard guard = encoder.enter();
    return encoder.replaced();
}

std::int64_t dropped(const TextEncoder& encoder) {
    const BusyGuard guard = encoder.enter();
    return encoder.dropped();
}

std::int64_t wide_spaces(const TextEncoder& encoder) {
    const BusyGuard guard = encoder.enter();
    return encoder.wide_spaces();
}

std::int64_t wide_space_line(const TextEncoder& encoder) {
    const BusyGuard guard = encoder.enter();
    return encoder.wide_space_line();
}

// The door to Python: one thread at a time, and each step after the one that it needs.
struct VocabularyMerger {
    WordMerger merger;
    std::atomic<bool> busy{false};
};

void add(VocabularyMerger& self, In<std::uint8_t> letters, In<std::int64_t> offsets,
         In<std::uint64_t> counts) {
    const BusyGuard guard(self.busy);
    nb::gil_scoped_release release;
    const WordViews words(letters, offsets);
    require(counts.size() == words.size(), "there must be one count for each word");
    require(!self.merger.is_chosen(), "the vocabulary is chosen already");
    for (std::size_t i = 0; i < words.size(); ++i) self.merger.add(words[i], counts(i));
}

auto choose(VocabularyMerger& self, std::uint64_t size, std::uint64_t min_count) {
    const BusyGuard guard(self.busy);
    WordList words;
    std::vector<std::uint64_t> counts;
    {
        nb::gil_scoped_release release;
        require(!self.merger.is_chosen(), "the vocabulary is chosen already");
        words = self.merger.choose(size, min_count);
        counts = self.merger.counts();
    }
    return std::tuple(to_numpy(std::move(words.letters)), to_numpy(std::move(words.offsets)),
                      to_numpy(std::move(counts)));
}

auto use(VocabularyMerger& self, In<std::uint8_t> letters, In<std::int64_t> offsets) {
    const BusyGuard guard(self.busy);
    std::vector<std::uint64_t> counts;
    {
        nb::gil_scoped_release release;
        require(!self.merger.is_chosen(), "the vocabulary is chosen already");
        self.merger.use(vocabulary_table(WordViews(letters, offsets)));
        counts = self.merger.counts();
    }
    return to_numpy(std::move(counts));
}

auto ids(const VocabularyMerger& self, In<std::uint8_t> letters, In<std::int64_t> offsets) {
    const BusyGuard guard(const_cast<VocabularyMerger&>(self).busy);
    std::vector<std::uint32_t> found;
    {
        nb::gil_scoped_release release;
        require(self.merger.is_chosen(), "choose a vocabulary first");
        const WordViews words(letters, offsets);
        for (std::size_t i = 0; i < words.size(); ++i) found.push_back(self.merger.id(words[i]));
    }
    return to_numpy(std::move(found));
}

void bind_encoder(nb::module_& m) {
    nb::class_<TextEncoder>(
        m, "TextEncoder",
        "Blocks of bytes to ids.\n\n"
        "Use in this order: feed and end_file for each file; merge; choose_vocabulary or use_vocabulary; "
        "encode.")
        .def(nb::init<bool, bool, int, bool>(), nb::arg("lowercase"), nb::arg("replace_errors"),
             nb::arg("threads"), nb::arg("ascii_spaces") = false)
        .def("feed", &feed, nb::arg("block"),
             "Take the next bytes of the file.\n"
             "\n"
             "Returns None, or line, offset and value of the first bad byte.")
        .def("end_file", &end_file, "Close the file; returns what `feed` returns.")
        .def("wide_words", &wide_words,
             "Return the distinct words with letters outside ASCII, each closed by a line end.")
        .def("merge", &merge, nb::arg("lowered"), nb::arg("digits"),
             "Merge the words of all threads.\n"
             "\n"
             "`lowered`: wide_words in lower case; `digits`: what stands for a number, or nothing.")
        .def("choose_vocabulary", &choose_vocabulary, nb::arg("size"), nb::arg("min_count"),
             "Keep the most frequent words; returns letters, offsets, counts.")
        .def("use_vocabulary", &use_vocabulary, nb::arg("letters").noconvert(),
             nb::arg("offsets").noconvert(),
             "Keep the given words, the special ones first; returns their counts.")
        .def("encode", &encode,
             "Return the ids, every sentence closed by </s>, where the sentences start, and the numbers of "
             "the "
             "sentences before which lines are blank.\n"
             "\n"
             "The last of these is the number of sentences if the text ends with a blank line.")
        .def_prop_ro("replaced", &replaced, "How many bad parts became U+FFFD.")
        .def_prop_ro("dropped", &dropped, "How many <s> and </s> were dropped.")
        .def_prop_ro("wide_spaces", &wide_spaces,
                     "How many characters outside ASCII were taken for white space.")
        .def_prop_ro("wide_space_line", &wide_space_line,
                     "The line of the first of them in its file, from 1; 0 if there is none.");
}

void bind_merger(nb::module_& m) {
    nb::class_<VocabularyMerger>(m, "VocabularyMerger",
                                 "The words of several texts with their counts, and a vocabulary of them.\n\n"
                                 "Use in this order: add for each text; choose, or use; ids for each text.")
        .def(nb::init<>())
        .def("add", &add, nb::arg("letters").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("counts").noconvert(), "Add the words of a text and their counts.")
        .def("choose", &choose, nb::arg("size"), nb::arg("min_count"),
             "Keep the most frequent words; returns letters, offsets, counts.")
        .def("use", &use, nb::arg("letters").noconvert(), nb::arg("offsets").noconvert(),
             "Keep the given words, the special ones first; returns their counts.")
        .def("ids", &ids, nb::arg("letters").noconvert(), nb::arg("offsets").noconvert(),
             "Return the ids of words in the vocabulary; of those that were not kept, the id of <unk>.");
}

void bind_packing(nb::module_& m) {
    m.def("pack_text", &pack_text, nb::arg("ids").noconvert(), nb::arg("sentence_starts").noconvert(),
          nb::arg("document_starts").noconvert(), "Return an encoded text as bytes.");
    m.def("unpack_text", &unpack_text, nb::arg("packed").noconvert(), nb::arg("ids").noconvert(),
          "Return the text of packed bytes, in which `ids` takes the place of 0, 1, ...\n"
          "\n"
          "Returns ids, where the sentences start, and the numbers of the sentences that start documents.");
}

}  // namespace

void register_text(nb::module_& m) {
    bind_encoder(m);
    bind_merger(m);
    bind_packing(m);
}

}  // namespace stategram
