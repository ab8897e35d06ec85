#include "formats/table_text.hpp"

#include <algorithm>
#include <array>

#include "formats/line_buffer.hpp"
#include "text/utf8.hpp"

namespace stategram {
namespace {

// What pandas, R, polars or Arrow take for a missing value unless told otherwise, quoted or not.
constexpr std::array<std::string_view, 19> missing_words{
    "",     "#N/A", "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A",  "NA",       "NULL", "NaN",     "None",     "n/a",  "nan",  "null"};

// In lower case, without a sign.
constexpr std::array<std::string_view, 7> value_words{"t", "f", "true", "false", "inf", "infinity", "nan"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool is_missing_word(std::string_view text) {
    constexpr std::size_t longest = 8;
    return text.size() <= longest &&
           std::find(missing_words.begin(), missing_words.end(), text) != missing_words.end();
}

bool starts_with_space(std::string_view text) {
    if (is_space(text[0], spaces_of_str)) return true;
    return (text.size() > 2 || (text.size() == 2 && text[0] == '\xc2')) && wide_space(text.data()) > 0;
}

// Generous: 12:30, 0x1f and 1-2-3 are among them, and white space, of which R takes a column for missing.
bool is_value(std::string_view text) {
    if (text.empty()) return false;
    const bool starts_number = is_digit(text[0]) || text[0] == '.' || text[0] == '-' || text[0] == '+';
    if (starts_number && std::any_of(text.begin(), text.end(), is_digit)) return true;
    if (starts_with_space(text)) return true;
    if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
    return std::any_of(value_words.begin(), value_words.end(), [&](std::string_view word) {
        return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                          [](char a, char b) { return lower(a) == b; });
    });
}

}  // namespace

std::uint8_t text_marks(std::string_view text, LineFormat format, bool verbatim) {
    if (format == LineFormat::jsonl) return 0;
    const char delimiter = format == LineFormat::csv ? ',' : '\t';
    const bool quotes = std::any_of(text.begin(), text.end(), [=](char c) {
        return c == '"' || c == delimiter || c == '\n' || c == '\r';
    });
    // Without quotes, an empty text would be a missing one.
    if (verbatim) return quotes || text.empty() ? needs_quotes : 0;
    const bool backslash = is_missing_word(text) || text[0] == '\\';
    return static_cast<std::uint8_t>((quotes ? needs_quotes : 0) | (backslash ? needs_backslash : 0) |
                                     (!backslash && is_value(text) ? looks_like_value : 0));
}

char* put_text(char* p, std::string_view text, bool quotes, bool backslash) {
    if (quotes) *p++ = '"';
    if (backslash) *p++ = '\\';
    if (quotes) {
        for (const char c : text) {
            if (c == '"') *p++ = '"';
            *p++ = c;
        }
        *p++ = '"';
        return p;
    }
    return put(p, text);
}

char* put_json_text(char* p, std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    *p++ = '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            *p++ = '\\';
            *p++ = c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            p = put(p, "\\u00");
            *p++ = hex[static_cast<unsigned char>(c) >> 4];
            *p++ = hex[static_cast<unsigned char>(c) & 15];
        } else {
            *p++ = c;
        }
    }
    *p++ = '"';
    return p;
}

}  // namespace stategram
