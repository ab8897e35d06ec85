// What a model says of a text as lines of tab-separated columns, a line a word or a line a sentence.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "threads.hpp"

namespace stategram {
namespace {

constexpr double bits_a_decade = 3.321928094887362;  // log2(10)
constexpr std::size_t events_a_task = std::size_t{1} << 14;

// Six digits after the point, rounded to even; a hundred billion and more in scientific notation.
void put(std::string& out, double value) {
    char text[32];
    if (!std::isfinite(value)) {
        out += std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
        return;
    }
    if (std::abs(value) >= 1e11) {
        out.append(text,
                   std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, 6).ptr);
        return;
    }
    auto millionths = static_cast<std::uint64_t>(std::nearbyint(std::abs(value) * 1e6));
    if (value < 0 && millionths > 0) out += '-';
    char* const end = text + sizeof text;
    char* p = end;
    for (int digits = 0; digits < 7 || millionths > 0; ++digits, millionths /= 10) {
        if (digits == 6) *--p = '.';
        *--p = static_cast<char>('0' + millionths % 10);
    }
    out.append(p, end);
}

void put(std::string& out, std::int64_t value) {
    char text[24];
    out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

struct ScoredSentences {
    In<std::uint32_t> ids;
    In<std::int64_t> starts, numbers;
    In<std::uint8_t> letters;
    In<std::int64_t> offsets;
    In<double> log10_probs;
    In<std::uint8_t> orders, unknown;

    void check() const {
        const std::size_t n = ids.size(), sentences = numbers.size(), words = offsets.size();
        const auto fits = [](bool ok) {
            if (!ok) throw std::invalid_argument("the arrays do not fit together");
        };
        fits(log10_probs.size() == n && orders.size() == n && unknown.size() == n);
        fits(starts.size() == sentences + 1 && starts(0) == 0 &&
             starts(sentences) == static_cast<std::int64_t>(n) &&
             std::is_sorted(starts.data(), starts.data() + starts.size()));
        fits(words > 0 && offsets(0) == 0 &&
             offsets(words - 1) == static_cast<std::int64_t>(letters.size()) &&
             std::is_sorted(offsets.data(), offsets.data() + words));
        fits(n == 0 || *std::max_element(ids.data(), ids.data() + n) + std::size_t{1} < words);
    }

    std::string_view word(std::uint32_t id) const {
        return {reinterpret_cast<const char*>(letters.data()) + offsets(id),
                static_cast<std::size_t>(offsets(id + 1) - offsets(id))};
    }

    void put_words(std::string& out, std::size_t sentence) const {
        const auto start = static_cast<std::size_t>(starts(sentence));
        const auto stop = static_cast<std::size_t>(starts(sentence + 1));
        std::string number;
        put(number, numbers(sentence));
        for (std::size_t i = start; i < stop; ++i) {
            out += number;
            out += '\t';
            put(out, static_cast<std::int64_t>(i - start + 1));
            out += '\t';
            out += word(ids(i));
            out += '\t';
            put(out, log10_probs(i));
            out += '\t';
            put(out, -log10_probs(i) * bits_a_decade);
            out += '\t';
            put(out, std::int64_t{orders(i)});
            out += unknown(i) ? "\t1\n" : "\t0\n";
        }
    }

    // The last event of a sentence is its end, which is no word but counts in the perplexity.
    void put_sentence(std::string& out, std::size_t sentence) const {
        const auto start = static_cast<std::size_t>(starts(sentence));
        const auto stop = static_cast<std::size_t>(starts(sentence + 1));
        double log10_prob = 0;
        std::int64_t n_unknown = 0;
        for (std::size_t i = start; i < stop; ++i) {
            log10_prob += log10_probs(i);
            n_unknown += unknown(i) != 0;
        }
        const auto events = static_cast<std::int64_t>(stop - start);
        put(out, numbers(sentence));
        out += '\t';
        put(out, events - 1);
        out += '\t';
        put(out, n_unknown);
        out += '\t';
        put(out, log10_prob);
        out += '\t';
        put(out, std::pow(10.0, -log10_prob / static_cast<double>(events)));
        out += '\n';
    }
};

nb::bytes score_lines(In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::int64_t> numbers,
                      In<std::uint8_t> letters, In<std::int64_t> offsets, In<double> log10_probs,
                      In<std::uint8_t> orders, In<std::uint8_t> unknown, bool sentences, int threads) {
    const ScoredSentences text{ids, sentence_starts, numbers, letters, offsets, log10_probs, orders, unknown};
    std::vector<std::string> parts;
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
        for (const std::string& part : parts) size += part.size();
    }
    nb::bytes lines = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!lines.is_valid()) throw nb::python_error();
    char* out = PyBytes_AsString(lines.ptr());
    for (std::string& part : parts) {
        std::memcpy(out, part.data(), part.size());
        out += part.size();
        part = std::string();
    }
    return lines;
}

}  // namespace

void register_score_lines(nb::module_& m) {
    m.def("score_lines", &score_lines, nb::arg("ids").noconvert(), nb::arg("sentence_starts").noconvert(),
          nb::arg("numbers").noconvert(), nb::arg("letters").noconvert(), nb::arg("offsets").noconvert(),
          nb::arg("log10_probs").noconvert(), nb::arg("orders").noconvert(), nb::arg("unknown").noconvert(),
          nb::arg("sentences"), nb::arg("threads"),
          "Lines of tab-separated columns: for each word, or each sentence, what a model says of it.");
}

}  // namespace stategram
