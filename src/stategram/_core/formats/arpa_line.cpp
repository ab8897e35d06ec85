#include "formats/arpa_line.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "formats/powers_of_ten.hpp"

namespace stategram {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t longest_number = 64;
constexpr std::size_t longest_quote = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool ends_field(char c) { return is_blank(c) || c == '\n'; }

bool reads(const char*& p, std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i)
        if ((p[i] | 0x20) != word[i]) return false;
    p += word.size();
    return true;
}

Number infinite(const char* p, bool negative) {
    if (!reads(p, "inf")) return {0, nullptr};
    reads(p, "inity");
    return {negative ? -infinity : infinity, ends_field(*p) ? p : nullptr};
}

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at < line.size();) {
        std::size_t end = at;
        while (end < line.size() && !is_blank(line[end])) ++end;
        if (end > at) fields.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return fields;
}

// What is wrong with a number, or nothing.
std::string wrong_number(std::string_view field, const std::string& meaning, bool probability) {
    const std::string found = "found " + quoted(field) + " where " + meaning + " belongs; ";
    if (field.size() > longest_number)
        return "found a number of " + std::to_string(field.size()) + " characters where " + meaning +
               " belongs; expected a log10 value such as -1.234567: mend the line, or make the file again";
    const std::string padded = std::string(field) + "\n" + std::string(padding, ' ');
    const Number number = read_number(padded.c_str());
    if (number.end == nullptr)
        return found + "expected a log10 value such as -1.234567: mend the line, or make the file again";
    if (probability && number.value > rounding)
        return found + "a log10 probability is never above 0: make the file again with a newer tool";
    if (!probability && number.value > largest_backoff)
        return found + "a log10 back-off weight is never above 99: mend the line, or make the file again";
    return "";
}

// -0 becomes 0.
float as_float(double value) {
    return value < -std::numeric_limits<float>::max() ? -std::numeric_limits<float>::infinity()
                                                      : static_cast<float>(value + 0.0);
}

}  // namespace

Number read_number(const char* p) {
    const char* const begin = p;
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    std::uint64_t digits = 0;
    int exponent = 0, significant = 0;
    const char* const first = p;
    const auto take = [&](int dropped, int kept) {
        if (significant < 18) {
            digits = 10 * digits + static_cast<std::uint64_t>(*p - '0');
            significant += digits != 0;
            exponent += kept;
        } else {
            exponent += dropped;
        }
    };
    for (; is_digit(*p) && p - begin <= static_cast<std::ptrdiff_t>(longest_number); ++p) take(1, 0);
    std::ptrdiff_t n_digits = p - first;
    if (*p == '.') {
        const char* const point = ++p;
        for (; is_digit(*p) && p - begin <= static_cast<std::ptrdiff_t>(longest_number); ++p) take(0, -1);
        n_digits += p - point;
    }
    if (n_digits == 0) return infinite(first, negative);
    if (*p == 'e' || *p == 'E') {
        ++p;
        const bool down = *p == '-';
        if (*p == '-' || *p == '+') ++p;
        if (!is_digit(*p)) return {0, nullptr};
        int power = 0;
        for (; is_digit(*p) && p - begin <= static_cast<std::ptrdiff_t>(longest_number); ++p)
            power = std::min(10 * power + (*p - '0'), 1000);
        exponent += down ? -power : power;
    }
    if (!ends_field(*p) || p - begin > static_cast<std::ptrdiff_t>(longest_number)) return {0, nullptr};
    const double value = digits == 0 ? 0 : times_power_of_ten(static_cast<double>(digits), exponent);
    return {negative ? -value : value, p};
}

NgramLine read_ngram(const char* p, std::size_t order) {
    NgramLine line;
    line.end = nullptr;
    const Number log_prob = read_number(p);
    if (log_prob.end == nullptr || log_prob.value > rounding) return line;
    line.log_prob = as_float(std::min(log_prob.value, 0.0));
    p = log_prob.end;
    for (std::size_t i = 0; i < order; ++i) {
        p = skip_blanks(p);
        const char* const end = word_end(p);
        if (end == p) return line;
        line.words[i] = {p, static_cast<std::size_t>(end - p)};
        p = end;
    }
    p = skip_blanks(p);
    line.backoff = 0;
    if (*p != '\n') {
        const Number backoff = read_number(p);
        if (backoff.end == nullptr || backoff.value > largest_backoff) return line;
        line.backoff = as_zero(as_float(backoff.value));
        p = skip_blanks(backoff.end);
        if (*p != '\n') return line;
    }
    line.end = p;
    return line;
}

std::string what_is_wrong(std::string_view line, std::size_t order) {
    const char* const bad = find_bad(line.data(), line.data() + line.size());
    if (bad != line.data() + line.size()) {
        if (*bad == 0) return "found a NUL byte; expected text: this is no ARPA file, or a damaged one";
        char hex[8];
        std::snprintf(hex, sizeof hex, "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(*bad)));
        return std::string("the byte ") + hex +
               " is not UTF-8; expected text in UTF-8: convert the file, for instance with "
               "iconv -f LATIN1 -t UTF-8";
    }
    const std::vector<std::string_view> fields = fields_of(line);
    const std::string ngram = std::to_string(order) + "-gram";
    const std::string log_prob =
        wrong_number(fields.empty() ? line : fields[0], "the log10 probability of a " + ngram, true);
    if (!log_prob.empty()) return log_prob;
    const std::size_t n_words = fields.size() - 1;
    if (n_words == order + 1) {
        const std::string backoff =
            wrong_number(fields[order + 1], "the back-off weight of a " + ngram, false);
        if (!backoff.empty()) return backoff;
    }
    return "found " + std::to_string(n_words) + (n_words == 1 ? " field" : " fields") +
           " after the log10 probability; a " + ngram + " has " + std::to_string(order) +
           (order == 1 ? " word" : " words") +
           " and at most a back-off weight: mend the line, or make the file again";
}

std::string section_name(std::size_t order) {
    return std::string("\\").append(std::to_string(order)).append("-grams:");
}

std::string quoted(std::string_view text) {
    const std::string_view start = text.substr(0, std::min(text.size(), 4 * longest_quote));
    std::string clean;
    replace_bad(start.data(), start.data() + start.size(), clean);
    std::string shown = "'";
    std::size_t characters = 0;
    for (std::size_t at = 0; at < clean.size() && characters < longest_quote; ++characters) {
        const std::size_t length = next_character(clean.data() + at, clean.data() + clean.size()).length;
        const auto c = static_cast<unsigned char>(clean[at]);
        if (c < 0x20 || c == 0x7f)
            shown += '?';
        else
            shown.append(clean, at, length);
        at += length;
    }
    return shown + (characters == longest_quote && text.size() > longest_quote ? "...'" : "'");
}

}  // namespace stategram
