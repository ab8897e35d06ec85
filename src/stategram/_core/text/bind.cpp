// Texts and vocabularies, as Python sees them.
#include "base/bind.hpp"

#include <nanobind/stl/optional.h>

#include <optional>
#include <tuple>
#include <vector>

#include "base/checks.hpp"
#include "base/threads.hpp"
#include "text/encoder.hpp"
#include "text/kernels.hpp"
#include "text/merger.hpp"
#include "text/word_views.hpp"

namespace stategram {
namespace {

using Bad = std::optional<std::tuple<std::int64_t, std::int64_t, int>>;
using Words = std::tuple<Out<std::uint8_t>, Out<std::int64_t>, Out<std::uint64_t>>;

Bad found(const BadPlace& bad) {
    if (bad.line == 0) return std::nullopt;
    return std::tuple(bad.line, bad.offset, bad.byte);
}

Bad feed(TextEncoder& encoder, InBytes block) { return found(encoder.feed(block)); }

Bad end_file(TextEncoder& encoder) { return found(encoder.end_file()); }

OutBytes<> wide_words(TextEncoder& encoder) { return {{encoder.wide_words()}}; }

void merge(TextEncoder& encoder, InBytes lowered, InBytes digits) { encoder.merge(lowered, digits); }

Words choose_vocabulary(TextEncoder& encoder, std::uint64_t size, std::uint64_t min_count) {
    WordList words = encoder.choose_vocabulary(size, min_count);
    return {std::move(words.letters), std::move(words.offsets), encoder.counts()};
}

Out<std::uint64_t> use_vocabulary(TextEncoder& encoder, In<std::uint8_t> letters, In<std::int64_t> offsets) {
    encoder.use_vocabulary(vocabulary_table(WordViews(letters, offsets)));
    return encoder.counts();
}

std::tuple<Out<std::uint32_t>, Out<std::int64_t>, Out<std::int64_t>> encode(TextEncoder& encoder) {
    Encoded encoded = encoder.encode();
    return {std::move(encoded.ids), std::move(encoded.sentence_starts), std::move(encoded.document_starts)};
}

// One thread at a time, and each step after the one that it needs.
struct VocabularyMerger : WordMerger, Exclusive {};

void add(VocabularyMerger& merger, In<std::uint8_t> letters, In<std::int64_t> offsets,
         In<std::uint64_t> counts) {
    const WordViews words(letters, offsets);
    require(counts.size() == words.size(), "there must be one count for each word");
    require(!merger.is_chosen(), "the vocabulary is chosen already");
    for (std::size_t i = 0; i < words.size(); ++i) merger.add(words[i], counts[i]);
}

Words choose(VocabularyMerger& merger, std::uint64_t size, std::uint64_t min_count) {
    require(!merger.is_chosen(), "the vocabulary is chosen already");
    WordList words = merger.choose(size, min_count);
    return {std::move(words.letters), std::move(words.offsets), merger.counts()};
}

Out<std::uint64_t> use(VocabularyMerger& merger, In<std::uint8_t> letters, In<std::int64_t> offsets) {
    require(!merger.is_chosen(), "the vocabulary is chosen already");
    merger.use(vocabulary_table(WordViews(letters, offsets)));
    return merger.counts();
}

Out<std::uint32_t> ids(VocabularyMerger& merger, In<std::uint8_t> letters, In<std::int64_t> offsets) {
    require(merger.is_chosen(), "choose a vocabulary first");
    const WordViews words(letters, offsets);
    std::vector<std::uint32_t> found;
    for (std::size_t i = 0; i < words.size(); ++i) found.push_back(merger.id(words[i]));
    return found;
}

void bind_encoder(nb::module_& m) {
    nb::class_<TextEncoder> encoder(
        m, "TextEncoder",
        "Blocks of bytes to ids.\n\n"
        "Use in this order: feed and end_file for each file; merge; choose_vocabulary or use_vocabulary; "
        "encode.");
    def_init<bool, bool, int, bool>(encoder, "lowercase replace_errors threads",
                                    nb::arg("ascii_spaces") = false);
    def_kernel(encoder, "feed", entering<&feed>, "block",
               "Take the next bytes of the file.\n"
               "\n"
               "Returns None, or line, offset and value of the first bad byte.");
    def_kernel(encoder, "end_file", entering<&end_file>, "", "Close the file; returns what `feed` returns.");
    def_kernel(encoder, "wide_words", entering<&wide_words>, "",
               "Return the distinct words with letters outside ASCII, each closed by a line end.");
    def_kernel(encoder, "merge", entering<&merge>, "lowered digits",
               "Merge the words of all threads.\n"
               "\n"
               "`lowered`: wide_words in lower case; `digits`: what stands for a number, or nothing.");
    def_kernel(encoder, "choose_vocabulary", entering<&choose_vocabulary>, "size min_count",
               "Keep the most frequent words; returns letters, offsets, counts.");
    def_kernel(encoder, "use_vocabulary", entering<&use_vocabulary>, "letters offsets",
               "Keep the given words, the special ones first; returns their counts.");
    def_kernel(encoder, "encode", entering<&encode>, "",
               "Return the ids, every sentence closed by </s>, where the sentences start, and the numbers of "
               "the "
               "sentences before which lines are blank.\n"
               "\n"
               "The last of these is the number of sentences if the text ends with a blank line.");
    encoder.def_prop_ro("replaced", entering<&TextEncoder::replaced>, "How many bad parts became U+FFFD.");
    encoder.def_prop_ro("dropped", entering<&TextEncoder::dropped>, "How many <s> and </s> were dropped.");
    encoder.def_prop_ro("wide_spaces", entering<&TextEncoder::wide_spaces>,
                        "How many characters outside ASCII were taken for white space.");
    encoder.def_prop_ro("wide_space_line", entering<&TextEncoder::wide_space_line>,
                        "The line of the first of them in its file, from 1; 0 if there is none.");
}

void bind_merger(nb::module_& m) {
    nb::class_<VocabularyMerger> merger(
        m, "VocabularyMerger",
        "The words of several texts with their counts, and a vocabulary of them.\n\n"
        "Use in this order: add for each text; choose, or use; ids for each text.");
    def_init<>(merger, "");
    def_kernel(merger, "add", entering<&add>, "letters offsets counts",
               "Add the words of a text and their counts.");
    def_kernel(merger, "choose", entering<&choose>, "size min_count",
               "Keep the most frequent words; returns letters, offsets, counts.");
    def_kernel(merger, "use", entering<&use>, "letters offsets",
               "Keep the given words, the special ones first; returns their counts.");
    def_kernel(merger, "ids", entering<&ids>, "letters offsets",
               "Return the ids of words in the vocabulary; of those that were not kept, the id of <unk>.");
}

void bind_packing(nb::module_& m) {
    def_kernel(m, "pack_text", &pack_text, "ids sentence_starts document_starts",
               "Return an encoded text as bytes.");
    def_kernel(
        m, "unpack_text", &unpack_text, "packed ids",
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
