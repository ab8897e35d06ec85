// How a text stands in a cell of a table of lines: quoted, with a backslash, or as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stategram {

enum class LineFormat : std::uint8_t { tsv, csv, jsonl };

// What has to be known of a text before it is written; several may hold.
enum TextMark : std::uint8_t {
    needs_quotes = 1,     // it holds a delimiter, a quotation mark or the end of a line
    needs_backslash = 2,  // read as it is, it would be missing, or be taken for another one that is escaped
    looks_like_value = 4  // a column of nothing but such texts is read as numbers, times or truth values
};

std::uint8_t text_marks(std::string_view text, LineFormat format, bool verbatim);

// At most this many bytes are written for a text.
constexpr std::size_t longest_text(std::size_t size) { return 6 * size + 4; }

// Both return the end of what they wrote.
char* put_text(char* p, std::string_view text, bool quotes, bool backslash);
char* put_json_text(char* p, std::string_view text);

}  // namespace stategram
