// The n-grams of a trie as the lines of an ARPA file.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "checks.hpp"
#include "ngram_check.hpp"
#include "powers_of_ten.hpp"
#include "threads.hpp"

namespace stategram {
namespace {

constexpr std::int64_t nodes_a_task = 1 << 14;
constexpr std::size_t longest_number = 24;

// Writes a number as printf's %.7g does, but for -inf, which is -99. Returns the end.
char* write_number(char* out, float number) {
    if (std::isinf(number)) {
        std::memcpy(out, "-99", 3);
        return out + 3;
    }
    if (number < 0) *out++ = '-';
    double value = std::fabs(static_cast<double>(number));
    if (value == 0) {
        *out++ = '0';
        return out;
    }
    int exponent = static_cast<int>(std::floor(std::log10(value)));
    auto digits = static_cast<std::uint32_t>(std::nearbyint(times_power_of_ten(value, 6 - exponent)));
    if (digits < 1000000) {  // the logarithm was rounded up
        --exponent;
        digits = static_cast<std::uint32_t>(std::nearbyint(times_power_of_ten(value, 6 - exponent)));
    } else if (digits >= 10000000) {
        ++exponent;
        digits = static_cast<std::uint32_t>(std::nearbyint(times_power_of_ten(value, 6 - exponent)));
    }
    char digit[7];
    for (int i = 6; i >= 0; --i, digits /= 10) digit[i] = static_cast<char>('0' + digits % 10);
    int length = 7;
    while (length > 1 && digit[length - 1] == '0') --length;
    if (exponent < -4 || exponent >= 7) {
        *out++ = digit[0];
        if (length > 1) *out++ = '.';
        for (int i = 1; i < length; ++i) *out++ = digit[i];
        *out++ = 'e';
        *out++ = exponent < 0 ? '-' : '+';
        const int size = std::abs(exponent);
        *out++ = static_cast<char>('0' + size / 10);
        *out++ = static_cast<char>('0' + size % 10);
        return out;
    }
    if (exponent < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = -1; i > exponent; --i) *out++ = '0';
    }
    for (int i = 0; i < std::max(length, exponent + 1); ++i) {
        if (i > 0 && i == exponent + 1) *out++ = '.';
        *out++ = digit[i];
    }
    return out;
}

struct Trie {
    In<std::uint8_t> letters;
    In<std::int64_t> offsets;
    In<std::uint32_t> numbers;
    In<std::int64_t> begins;
    In<std::uint32_t> words;
    In<std::uint32_t> nodes;         // flat
    In<std::uint32_t> leaves;        // flat
    std::vector<std::uint32_t> ids;  // of the words, in the order of their numbers

    std::size_t order() const { return begins.size() - 2; }
    std::uint32_t first_child(std::size_t node) const { return nodes(4 * node + 2); }
    std::string_view word(std::size_t id) const {
        return {reinterpret_cast<const char*>(letters.data()) + offsets(id),
                static_cast<std::size_t>(offsets(id + 1) - offsets(id))};
    }
    std::string_view last_word(std::size_t node) const { return word(ids[words(node)]); }
};

class ArpaWriter {
 public:
    ArpaWriter(In<std::uint8_t> letters, In<std::int64_t> offsets, In<std::uint32_t> numbers,
               In<std::int64_t> begins, In<std::uint32_t> words, In<std::uint32_t> nodes,
               In<std::uint32_t> leaves, int threads)
        : trie_{letters, offsets, numbers, begins, words, nodes, leaves, {}}, pool_(threads) {
        check();
        trie_.ids.resize(numbers.size());
        for (std::size_t id = 0; id < numbers.size(); ++id)
            trie_.ids[numbers(id)] = static_cast<std::uint32_t>(id);
    }

    nb::bytes lines(std::size_t level, std::int64_t begin, std::int64_t end) {
        require(level >= 1 && level <= trie_.order() && begin >= 0 && begin <= end &&
                    end <= trie_.begins(level + 1) - trie_.begins(level),
                "there are no such n-grams");
        const BusyGuard guard(busy_);
        std::vector<std::string> parts(
            static_cast<std::size_t>((end - begin + nodes_a_task - 1) / nodes_a_task));
        {
            nb::gil_scoped_release release;
            pool_.run(parts.size(), [&](std::size_t i, int) {
                const std::int64_t first = begin + static_cast<std::int64_t>(i) * nodes_a_task;
                parts[i] = text(level, first, std::min(first + nodes_a_task, end));
            });
            for (std::size_t i = 1; i < parts.size(); ++i) parts[0] += parts[i];
        }
        return parts.empty() ? nb::bytes("", 0) : nb::bytes(parts[0].data(), parts[0].size());
    }

 private:
    void check() {
        const Trie& t = trie_;
        const TrieArrays arrays{t.numbers.data(), t.numbers.size(),   t.begins.data(), t.begins.size(),
                                t.words.data(),   t.words.size(),     t.nodes.data(),  t.nodes.size() / 4,
                                t.leaves.data(),  t.leaves.size() / 2};
        nb::gil_scoped_release release;
        check_ngrams(arrays, pool_);
        const char* const message = "the words and the trie do not fit together";
        require(t.offsets.size() == t.numbers.size() + 1, message);
        check_offsets(t.offsets, t.letters.size(), message);
    }

    // The lines of the n-grams begin .. end - 1 of a level; those of the first are in the order of the ids.
    std::string text(std::size_t level, std::int64_t begin, std::int64_t end) const {
        std::string out;
        if (level == 1) {
            for (auto id = static_cast<std::size_t>(begin); id < static_cast<std::size_t>(end); ++id)
                write(out, 1, 1 + std::size_t{trie_.numbers(id)}, {});
            return out;
        }
        if (begin == end) return out;
        const auto first = static_cast<std::size_t>(trie_.begins(level));
        std::vector<std::size_t> path(level);  // the node of each level 1 .. level - 1 over the present one
        const std::size_t start = first + static_cast<std::size_t>(begin);
        for (std::size_t above = level - 1, node = start; above >= 1; --above)
            node = path[above] = parent(above, node);
        std::string words = words_of(path);
        for (std::size_t node = start; node < first + static_cast<std::size_t>(end); ++node) {
            if (trie_.first_child(path[level - 1] + 1) <= node) {
                for (std::size_t above = level - 1, below = node; above >= 1; below = path[above], --above)
                    while (trie_.first_child(path[above] + 1) <= below) ++path[above];
                words = words_of(path);
            }
            write(out, level, node, words);
        }
        return out;
    }

    std::size_t parent(std::size_t level, std::size_t node) const {
        auto low = static_cast<std::size_t>(trie_.begins(level));
        auto high = static_cast<std::size_t>(trie_.begins(level + 1));
        while (high - low > 1) {
            const std::size_t middle = low + (high - low) / 2;
            (trie_.first_child(middle) <= node ? low : high) = middle;
        }
        return low;
    }

    std::string words_of(const std::vector<std::size_t>& path) const {
        std::string words;
        for (std::size_t above = 1; above < path.size(); ++above) {
            words += trie_.last_word(path[above]);
            words += ' ';
        }
        return words;
    }

    void write(std::string& out, std::size_t level, std::size_t node, std::string_view words) const {
        char number[longest_number];
        const bool highest = level == trie_.order();
        const std::size_t leaf = node - static_cast<std::size_t>(trie_.begins(trie_.order()));
        const auto log_prob = std::bit_cast<float>(highest ? trie_.leaves(2 * leaf) : trie_.nodes(4 * node));
        out.append(number, write_number(number, log_prob));
        out += '\t';
        out += words;
        out += trie_.last_word(node);
        if (!highest) {
            const auto backoff = std::bit_cast<float>(trie_.nodes(4 * node + 1));
            // As in SRILM, an n-gram that nothing follows has no weight.
            if (backoff != 0 || trie_.first_child(node) != trie_.first_child(node + 1)) {
                out += '\t';
                out.append(number, write_number(number, backoff));
            }
        }
        out += '\n';
    }

    Trie trie_;
    ThreadPool pool_;
    std::atomic<bool> busy_{false};
};

}  // namespace

void register_arpa_writer(nb::module_& m) {
    nb::class_<ArpaWriter>(m, "ArpaWriter", "The n-grams of a trie as lines of an ARPA file.")
        .def(nb::init<In<std::uint8_t>, In<std::int64_t>, In<std::uint32_t>, In<std::int64_t>,
                      In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, int>(),
             nb::arg("letters").noconvert(), nb::arg("offsets").noconvert(), nb::arg("numbers").noconvert(),
             nb::arg("begins").noconvert(), nb::arg("words").noconvert(), nb::arg("nodes").noconvert(),
             nb::arg("leaves").noconvert(), nb::arg("threads"))
        .def("lines", &ArpaWriter::lines, nb::arg("level"), nb::arg("begin"), nb::arg("end"),
             "Return the lines of some n-grams of `level` words; words themselves are in the order of their "
             "ids.");
}

}  // namespace stategram
