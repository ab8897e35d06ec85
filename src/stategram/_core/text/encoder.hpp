// Blocks of bytes to ids: lines are shared out to workers, their tables merged, their ids renumbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/big_array.hpp"
#include "base/threads.hpp"
#include "text/merger.hpp"
#include "text/part_encoder.hpp"

namespace stategram {

// Where the first bad byte of a file is; line 0 when there is none.
struct BadPlace {
    std::int64_t line = 0;    // from 1
    std::int64_t offset = 0;  // in the file, from 0
    int byte = 0;
};

struct Encoded {
    BigArray<std::uint32_t> ids;
    std::vector<std::int64_t> sentence_starts;
    std::vector<std::int64_t> document_starts;
};

// The order of use: feed and end_file for each file; merge; choose_vocabulary or use_vocabulary; encode.
class TextEncoder : public Exclusive {
 public:
    TextEncoder(bool lowercase, bool replace_errors, int threads, bool ascii_spaces);

    // The next bytes of the file; they may end anywhere.
    BadPlace feed(std::string_view block);
    // Closes the file; a last line without "\n" is a line.
    BadPlace end_file();

    // The distinct words that hold letters outside ASCII, one a line: the caller lowers them.
    std::string wide_words() const;
    // One table of all words, lowered, numbers put together as the word `digits` (when not empty).
    // `lowered` is what became of wide_words().
    void merge(std::string_view lowered, std::string_view digits);

    // The `size` most frequent words that occur at least `min_count` times, after the special words.
    WordList choose_vocabulary(std::size_t size, std::uint64_t min_count);
    void use_vocabulary(const WordTable& vocabulary);
    // How often each id of the vocabulary occurs.
    std::vector<std::uint64_t> counts() const { return merger_.counts(); }

    Encoded encode();

    std::int64_t replaced() const { return replaced_; }
    std::int64_t dropped() const { return dropped_; }
    // White space characters outside ASCII, and the line of the first of them in its file, from 1.
    std::int64_t wide_spaces() const { return wide_spaces_; }
    std::int64_t wide_space_line() const { return wide_space_line_; }

 private:
    BadPlace encode_lines(std::size_t size);

    // Each step needs what the one before it left behind. While one runs, and after one that threw, the
    // phase is `broken`: nothing can follow.
    enum class Phase { reading, merged, chosen, encoded, broken };
    void start(Phase phase);
    Phase phase_ = Phase::reading;

    bool lowercase_;
    ThreadPool pool_;
    std::vector<PartEncoder> workers_;

    // The open file: `size_` bytes that are not encoded yet, then at least 8 bytes to read beyond them.
    std::vector<char> buffer_;
    std::size_t size_ = 0;
    std::int64_t file_offset_ = 0;  // of the buffer's first byte
    std::int64_t file_lines_ = 0;

    std::vector<Segment> segments_;
    std::size_t sentences_ = 0;
    std::vector<std::int64_t> document_starts_;  // rising, of all files
    std::int64_t replaced_ = 0, dropped_ = 0, wide_spaces_ = 0, wide_space_line_ = 0;

    WordMerger merger_;
    std::vector<std::vector<std::uint32_t>> merged_;  // the merger's number of each worker's words
};

}  // namespace stategram
