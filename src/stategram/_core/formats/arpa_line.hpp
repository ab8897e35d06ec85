// The lines of an ARPA file: numbers, words, and what is wrong with a line.
//
// Every text ends with a line end, and `padding` bytes after it may be read: loops need no other bound.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/most_words.hpp"
#include "text/utf8.hpp"
#include "text/word_table.hpp"

namespace stategram {

constexpr std::size_t padding = 16;

// What is wrong with a file, and in which of its lines.
struct ArpaProblem : std::runtime_error {
    ArpaProblem(std::int64_t in_line, const std::string& what) : std::runtime_error(what), line(in_line) {}
    std::int64_t line;
};

// ASCII white space but for the line end; outside of ASCII, spaces are letters, as for other tools.
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return p;
}

inline std::string_view trimmed(std::string_view line) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    return line;
}

// The end of the word at `p`: white space, a line end or NUL.
inline const char* word_end(const char* p) {
    for (;;) {
        const std::uint64_t marks = mark_small(load_eight(p));
        if (marks == 0) {
            p += 8;
            continue;
        }
        p += std::countr_zero(marks) / 8;
        if (is_blank(*p) || *p == '\n' || *p == 0) return p;
        ++p;
    }
}

// The same as key_of, eight bytes at a time.
inline std::uint64_t padded_key(const char* p, std::size_t size) {
    const auto low = [](std::uint64_t x, std::size_t bytes) {
        return bytes == 8 ? x : x & ((std::uint64_t{1} << (8 * bytes)) - 1);
    };
    if (size <= 8) return low(load_eight(p), size);
    std::uint64_t hash = 0;
    for (; size >= 8; p += 8, size -= 8) hash = hash_step(hash, load_eight(p));
    return size == 0 ? hash : hash_step(hash, low(load_eight(p), size));
}

// A number in decimal notation, or inf; its value may be one rounding of a double away from the nearest.
struct Number {
    double value;
    const char* end;  // nullptr if there is no number
};
Number read_number(const char* p);

// What other tools write for -inf: zero probability, or no way to back off.
constexpr float stands_for_zero = -99;
inline float as_zero(float log) {
    return log <= stands_for_zero ? -std::numeric_limits<float>::infinity() : log;
}
// A log probability above 0 by no more than this was rounded.
constexpr double rounding = 1e-6;
// Back-off weights may be above 1, but nothing that was estimated weighs 10^99.
constexpr double largest_backoff = 99;

struct NgramLine {
    float log_prob;  // as it is written
    float backoff;   // -inf where it is written as -99 or less
    std::string_view words[most_words];
    const char* end;  // of the line; nullptr if it is no line of an n-gram
};

// Reads the line of an n-gram of `order` words.
NgramLine read_ngram(const char* p, std::size_t order);

// Says what is wrong with a line that read_ngram does not take.
std::string what_is_wrong(std::string_view line, std::size_t order);

// The line before the n-grams of `order` words.
std::string section_name(std::size_t order);

// A part of the file as a message shows it: short, on one line, in valid UTF-8.
std::string quoted(std::string_view text);

}  // namespace stategram
