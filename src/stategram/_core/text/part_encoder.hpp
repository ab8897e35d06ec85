// One worker of the text encoder: complete lines in, ids of the worker's own table out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/word_table.hpp"

namespace stategram {

// Every table starts with these words, so that their ids are known.
constexpr std::uint32_t unknown_id = 0, start_id = 1, end_id = 2;
constexpr std::string_view fixed_words[] = {"<unk>", "<s>", "</s>", "<S>", "</S>"};
constexpr std::uint32_t special_words = 3;

// A run of ids in the order of the text.
struct Segment {
    std::shared_ptr<std::uint32_t[]> memory;  // freed with the last segment in it
    const std::uint32_t* ids;
    std::size_t size;
    std::size_t sentences;  // closed in this segment
    int worker;
};

struct PartResult {
    std::vector<Segment> segments;
    std::size_t sentences = 0;
    // The sentences before which lines are blank: each is the number of those that the part closed before.
    std::vector<std::size_t> document_starts;
    std::int64_t lines = 0;
    std::int64_t replaced = 0;
    std::int64_t dropped = 0;
    std::int64_t wide_spaces = 0;      // characters outside ASCII that were taken for white space
    std::int64_t wide_space_line = 0;  // where in the part the first of them is, from 0
    std::optional<std::size_t> bad;    // where in the part the first bad byte is
};

class PartEncoder {
 public:
    // With `lowercase`, <S> and </S> are markers too; everything else is lowered once, in the merged table.
    // With `ascii_spaces`, words are those of `bytes.split`, else those of `str.split`.
    PartEncoder(int worker, bool lowercase, bool replace_errors, bool ascii_spaces);

    // Encodes lines, each closed by "\n". At least 8 bytes after `end` can be read.
    PartResult encode(const char* begin, const char* end);

    const WordTable& words() const { return words_; }

    // Gives the table's memory back once it is merged.
    void forget();

 private:
    // More than 32 MiB: memory of this size goes back to the system as soon as it is freed.
    static constexpr std::size_t chunk_size = (std::size_t{8} << 20) + 1024;

    void encode_clean(const char* p, const char* end, PartResult& result);
    void start_document(PartResult& result);
    void close_segment(PartResult& result);
    void open_chunk();

    int worker_;
    std::uint32_t markers_;
    bool replace_errors_, ascii_spaces_;
    WordTable words_;
    std::string clean_;

    std::shared_ptr<std::uint32_t[]> chunk_;
    std::uint32_t* segment_begin_ = nullptr;
    std::uint32_t* out_ = nullptr;
    std::uint32_t* out_end_ = nullptr;
    std::size_t sentences_ = 0;
};

}  // namespace stategram
