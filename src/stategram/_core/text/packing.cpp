// An encoded text as bytes: the ids of its words as varints, frequent words having small ids.
//
// Every sentence is closed by </s>. <s>, which no sentence has, stands where a new document starts.
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/varints.hpp"
#include "text/kernels.hpp"
#include "text/part_encoder.hpp"

namespace stategram {

Out<std::uint8_t> pack_text(In<std::uint32_t> ids, In<std::int64_t> sentence_starts,
                            In<std::int64_t> document_starts) {
    check_offsets(sentence_starts, ids.size(), "the sentences do not cover the ids");
    const auto sentences = static_cast<std::int64_t>(sentence_starts.size()) - 1;
    std::vector<std::uint8_t> bytes;
    bytes.reserve(2 * ids.size());
    std::size_t document = 0;
    for (std::int64_t sentence = 0; sentence <= sentences; ++sentence) {
        if (document < document_starts.size() && document_starts[document] == sentence) {
            append_varint(bytes, start_id);
            ++document;
        }
        if (sentence == sentences) break;
        const auto at = static_cast<std::size_t>(sentence);
        const std::int64_t begin = sentence_starts[at], end = sentence_starts[at + 1];
        for (std::int64_t i = begin; i < end; ++i) {
            const std::uint32_t id = ids[static_cast<std::size_t>(i)];
            require(id != start_id && (id == end_id) == (i + 1 == end),
                    "a sentence does not end with </s>, or has <s> or </s> inside");
            append_varint(bytes, id);
        }
    }
    require(document == document_starts.size(), "documents do not start at sentences, in rising order");
    return bytes;
}

std::tuple<Out<std::uint32_t>, Out<std::int64_t>, Out<std::int64_t>> unpack_text(In<std::uint8_t> packed,
                                                                                 In<std::uint32_t> ids) {
    std::vector<std::uint32_t> made;
    std::vector<std::int64_t> sentence_starts{0}, document_starts;
    made.reserve(packed.size());
    std::span<const std::uint8_t> rest(packed.data(), packed.size());
    while (!rest.empty()) {
        const std::uint64_t id = take_varint(rest);
        require(id < ids.size(), "the text is damaged: a word is not in the vocabulary");
        if (id == start_id) {
            require(sentence_starts.back() == static_cast<std::int64_t>(made.size()),
                    "the text is damaged: a document starts inside a sentence");
            document_starts.push_back(static_cast<std::int64_t>(sentence_starts.size()) - 1);
            continue;
        }
        made.push_back(ids[static_cast<std::size_t>(id)]);
        if (id == end_id) sentence_starts.push_back(static_cast<std::int64_t>(made.size()));
    }
    require(sentence_starts.back() == static_cast<std::int64_t>(made.size()),
            "the text is damaged: it ends inside a sentence");
    made.shrink_to_fit();
    return {std::move(made), std::move(sentence_starts), std::move(document_starts)};
}

}  // namespace stategram
