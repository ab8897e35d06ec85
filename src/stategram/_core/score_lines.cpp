// What a model says of a text as lines of tab-separated columns, a line a word or a line a sentence.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "checks.hpp"
#include "threads.hpp"

namespace stategram {
namespace {

constexpr double bits_a_decade = 3.321928094887362;  // log2(10)
constexpr std::size_t events_a_task = std::size_t{1} << 14;

constexpr std::size_t longest_number = 32;
constexpr std::size_t longest_columns = 6 * longest_number;  // of a line, without the word

// Text that grows at its end. Who writes asks for room first, then says how far the text goes now.
class Lines {
 public:
    char* room(std::size_t size) {
        if (capacity_ - size_ < size) grow(size);
        return data_.get() + size_;
    }
    void end(const char* p) { size_ = static_cast<std::size_t>(p - data_.get()); }
    const char* data() const { return data_.get(); }
    std::size_t size() const { return size_; }

 private:
    void grow(std::size_t size) {
        capacity_ = std::max(2 * capacity_, size_ + size + (std::size_t{1} << 16));
        std::unique_ptr<char[]> larger(new char[capacity_]);
        if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
        data_ = std::move(larger);
    }

    std::unique_ptr<char[]> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

char* put(char* p, std::string_view text) {
    std::memcpy(p, text.data(), text.size());
    return p + text.size();
}

char* put(char* p, std::int64_t value) { return std::to_chars(p, p + longest_number, value).ptr; }

// -1.234567e+89. Not by to_chars, which older systems lack for doubles; not simply by printf, whose point is
// that of the locale.
char* put_scientific(char* p, double value) {
    char text[2 * longest_number];
    std::snprintf(text, sizeof text, "%.6e", value);
    const std::string_view written(text);
    const std::size_t sign = value < 0 ? 1 : 0;
    p = put(p, written.substr(0, sign + 1));
    *p++ = '.';
    return put(p, written.substr(written.find('e') - 6));
}

// Six digits after the point, rounded to even; a hundred billion and more in scientific notation.
char* put(char* p, double value) {
    if (!std::isfinite(value)) return put(p, std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    if (std::abs(value) >= 1e11) return put_scientific(p, value);
    const auto millionths = static_cast<std::uint64_t>(std::nearbyint(std::abs(value) * 1e6));
    if (value < 0 && millionths > 0) *p++ = '-';
    p = put(p, static_cast<std::int64_t>(millionths / 1000000));
    auto rest = static_cast<std::uint32_t>(millionths % 1000000);
    *p = '.';
    for (int digit = 6; digit > 0; --digit, rest /= 10) p[digit] = static_cast<char>('0' + rest % 10);
    return p + 7;
}

struct ScoredSentences {
    In<std::uint32_t> ids;
    In<std::int64_t> starts, numbers;
    In<std::uint8_t> letters;
    In<std::int64_t> offsets;
    In<double> log10_probs;
    In<std::uint8_t> orders, unknown;

    void check() const {
        const std::size_t n = ids.size();
        const char* const message = "the arrays do not fit together";
        require(log10_probs.size() == n && orders.size() == n && unknown.size() == n &&
                    starts.size() == numbers.size() + 1,
                message);
        check_offsets(starts, n, message);
        check_offsets(offsets, letters.size(), message);
        check_below(ids, offsets.size() - 1, message);
    }

    std::string_view word(std::uint32_t id) const {
        return {reinterpret_cast<const char*>(letters.data()) + offsets(id),
                static_cast<std::size_t>(offsets(id + std::size_t{1}) - offsets(id))};
    }

    void put_words(Lines& out, std::size_t sentence) const {
        const auto start = static_cast<std::size_t>(starts(sentence));
        const auto stop = static_cast<std::size_t>(starts(sentence + 1));
        char number[longest_number];
        const std::string_view numbered(number,
                                        static_cast<std::size_t>(put(number, numbers(sentence)) - number));
        for (std::size_t i = start; i < stop; ++i) {
            const std::string_view spelled = word(ids(i));
            char* p = out.room(spelled.size() + longest_columns);
            p = put(p, numbered);
            *p++ = '\t';
            p = put(p, static_cast<std::int64_t>(i - start + 1));
            *p++ = '\t';
            p = put(p, spelled);
            *p++ = '\t';
            p = put(p, log10_probs(i));
            *p++ = '\t';
            p = put(p, -log10_probs(i) * bits_a_decade);
            *p++ = '\t';
            p = put(p, std::int64_t{orders(i)});
            p = put(p, unknown(i) ? "\t1\n" : "\t0\n");
            out.end(p);
        }
    }

    // The last event of a sentence is its end, which is no word but counts in the perplexity.
    void put_sentence(Lines& out, std::size_t sentence) const {
        const auto start = static_cast<std::size_t>(starts(sentence));
        const auto stop = static_cast<std::size_t>(starts(sentence + 1));
        double log10_prob = 0;
        std::int64_t n_unknown = 0;
        for (std::size_t i = start; i < stop; ++i) {
            log10_prob += log10_probs(i);
            n_unknown += unknown(i) != 0;
        }
        const auto events = static_cast<std::int64_t>(stop - start);
        char* p = out.room(longest_columns);
        p = put(p, numbers(sentence));
        *p++ = '\t';
        p = put(p, events - 1);
        *p++ = '\t';
        p = put(p, n_unknown);
        *p++ = '\t';
        p = put(p, log10_prob);
        *p++ = '\t';
        p = put(p, std::pow(10.0, -log10_prob / static_cast<double>(events)));
        *p++ = '\n';
        out.end(p);
    }
};

nb::bytes score_lines(In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::int64_t> numbers,
                      In<std::uint8_t> letters, In<std::int64_t> offsets, In<double> log10_probs,
                      In<std::uint8_t> orders, In<std::uint8_t> unknown, bool sentences, int threads) {
    const ScoredSentences text{ids, sentence_starts, numbers, letters, offsets, log10_probs, orders, unknown};
    std::vector<Lines> parts;
    std::size_t size = 0;
    {
        nb::gil_scoped_release release;
        text.check();
        const std::size_t count = numbers.size();
        // Each task takes the sentences that start in its range of events.
        const std::size_t tasks = (ids.size() + events_a_task - 1) / events_a_task;
        parts.resize(tasks);
        ThreadPool pool(threads);
        pool.run(tasks, [&](std::size_t i, int) {
            const std::int64_t* const starts = sentence_starts.data();
            const auto first = [&](std::size_t task) {
                const auto event = static_cast<std::int64_t>(task * events_a_task);
                return static_cast<std::size_t>(std::lower_bound(starts, starts + count, event) - starts);
            };
            for (std::size_t sentence = first(i), last = first(i + 1); sentence < last; ++sentence) {
                if (sentences)
                    text.put_sentence(parts[i], sentence);
                else
                    text.put_words(parts[i], sentence);
            }
        });
        for (const Lines& part : parts) size += part.size();
    }
    nb::bytes lines = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!lines.is_valid()) throw nb::python_error();
    char* out = PyBytes_AsString(lines.ptr());
    for (Lines& part : parts) {
        if (part.size() > 0) out = put(out, {part.data(), part.size()});
        part = Lines();
    }
    return lines;
}

}  // namespace

void register_score_lines(nb::module_& m) {
    m.def("score_lines", &score_lines, nb::arg("ids").noconvert(), nb::arg("sentence_starts").noconvert(),
          nb::arg("numbers").noconvert(), nb::arg("letters").noconvert(), nb::arg("offsets").noconvert(),
          nb::arg("log10_probs").noconvert(), nb::arg("orders").noconvert(), nb::arg("unknown").noconvert(),
          nb::arg("sentences"), nb::arg("threads"),
          "Return lines of tab-separated columns, one per word or one per sentence.\n"
          "\n"
          "Words: number of the sentence, position, word, log10 probability, surprisal in bits, length of "
          "the n-gram,\n"
          "whether it is unknown. Sentences: number, words, unknown words, log10 probability, perplexity.");
}

}  // namespace stategram
