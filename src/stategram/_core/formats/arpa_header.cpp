// The lines of an ARPA file that hold no n-gram.
#include <algorithm>

#include "formats/arpa_reader.hpp"

namespace stategram {
namespace {

constexpr std::size_t most_skipped = std::size_t{1} << 20;

bool starts_with(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

}  // namespace

void ArpaReader::read_before(std::string_view line) {
    if (line_ == 1 && starts_with(line, "\xef\xbb\xbf")) line.remove_prefix(3);
    if (line == "\\data\\") {
        state_ = State::header;
        return;
    }
    if (line_ == 1 && (line == "iARPA" || line == "qARPA"))
        fail("found " + quoted(line) +
             ", a format of IRSTLM's own; expected \\data\\: convert it with IRSTLM's compile-lm --text=yes");
    if (line_ == 1 && starts_with(line, "mmap lm"))
        fail("found a binary file of KenLM; expected \\data\\: give the ARPA file that it was made from");
    if (line.find('\0') != line.npos)
        fail("found a NUL byte before \\data\\; expected an ARPA file, as text");
    if (skipped_ + line.size() > most_skipped)
        fail("no \\data\\ in the first " + std::to_string(most_skipped) +
             " bytes; expected an ARPA file: check that it is one");
}

void ArpaReader::read_header(std::string_view line) {
    if (line.front() == '\\') {
        if (counts_.empty())
            fail("found " + quoted(line) +
                 " before any count; expected a line such as ngram 1=1000 after \\data\\");
        if (line != section_name(1)) fail("found " + quoted(line) + "; expected " + section_name(1));
        state_ = State::words;
        order_ = 1;
        return;
    }
    const std::string advice = "; expected a line such as ngram " + std::to_string(counts_.size() + 1) +
                               "=1000, or " + section_name(1);
    std::string_view rest = line;
    const auto number = [&]() -> std::optional<std::uint64_t> {
        rest = trimmed(rest);
        std::size_t digits = 0;
        std::uint64_t value = 0;
        for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits)
            value =
                std::min<std::uint64_t>(10 * value + static_cast<std::uint64_t>(rest[digits] - '0'), no_node);
        rest = trimmed(rest.substr(digits));
        return digits == 0 ? std::nullopt : std::optional(value);
    };
    if (!starts_with(rest, "ngram")) fail("found " + quoted(line) + " in the header" + advice);
    rest.remove_prefix(5);
    const auto order = number();
    if (!order || rest.empty() || rest.front() != '=')
        fail("found " + quoted(line) + " in the header" + advice);
    rest.remove_prefix(1);
    const auto count = number();
    if (!count || !rest.empty()) fail("found " + quoted(line) + " in the header" + advice);
    if (*order != counts_.size() + 1) fail("found the count of " + quoted(line) + advice);
    if (*order > most_words)
        fail("found n-grams of " + std::to_string(*order) + " words; stategram reads up to " +
             std::to_string(most_words) + ": make the model again with a lower order");
    counts_.push_back(*count);
    std::uint64_t total = 0;
    for (const std::uint64_t each : counts_) total += each;
    if (total >= no_node - 4)
        fail("found " + quoted(line) + "; stategram holds up to 4294967290 n-grams: check the header");
}

// A line with a \ where a section has ended.
void ArpaReader::read_control(std::string_view line) {
    const std::string expected = order_ == counts_.size() ? "\\end\\" : section_name(order_ + 1);
    if (line != expected)
        fail("found " + quoted(line) + "; expected " + expected + " after the " + std::to_string(order_) +
             "-grams, as the header says: make or fetch the file again");
    if (order_ == counts_.size()) {
        state_ = State::ended;
        return;
    }
    ++order_;
    count_ = 0;
    closed_ = false;
}

}  // namespace stategram
