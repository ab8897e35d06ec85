#include "formats/count_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "formats/arpa_line.hpp"
#include "text/part_encoder.hpp"
#include "text/utf8.hpp"

namespace stategram {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::uint32_t sentence_begin = 1, sentence_end = 2;  // places of special words in the table
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view table_header = "ngram\torder\tcount";

constexpr const char* expected = "; expected words and a count, such as 'the cat<TAB>3': correct the line";

// A count, or what is wrong with it.
std::uint32_t read_count(std::string_view field, std::string& problem) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (field.size() > 1 && field[0] == '-' && std::all_of(field.begin() + 1, field.end(), is_digit)) {
        problem = "the count " + quoted(field) + " is below 0";
        return 0;
    }
    if (!std::all_of(field.begin(), field.end(), is_digit)) {
        problem = "found " + quoted(field) + " where the count belongs, which is a whole number";
        return 0;
    }
    std::uint64_t count = 0;
    for (const char c : field) {
        count = 10 * count + static_cast<std::uint64_t>(c - '0');
        if (count > UINT32_MAX) {
            problem = "the count " + quoted(field) + " is above " + std::to_string(UINT32_MAX);
            return 0;
        }
    }
    return static_cast<std::uint32_t>(count);
}

// The node of an n-gram, or `absent`.
std::uint32_t find_node(const std::vector<CountLevel>& levels, const std::uint32_t* words, std::size_t length,
                        const std::uint32_t* numbers) {
    std::uint32_t node = numbers[words[0]];
    for (std::size_t i = 1; i < length && node != CountReader::absent; ++i) {
        const std::uint32_t word = numbers[words[i]];
        const auto first = levels[i].words.begin() + levels[i - 1].first_child[node];
        const auto last = levels[i].words.begin() + levels[i - 1].first_child[node + std::size_t{1}];
        const auto at = std::lower_bound(first, last, word);
        node = at != last && *at == word ? static_cast<std::uint32_t>(at - levels[i].words.begin())
                                         : CountReader::absent;
    }
    return node;
}

// The smaller one stays, whichever thread comes first.
void keep_least(std::atomic<std::size_t>& least, std::size_t value) {
    std::size_t now = least.load();
    while (value < now && !least.compare_exchange_weak(now, value)) {
    }
}

}  // namespace

CountReader::CountReader(int threads) : pool_(threads), text_(padding, 0) {
    for (std::size_t i = 0; i < special_words; ++i) table_.find_or_add(fixed_words[i]);
}

void CountReader::feed(std::string_view block) {
    text_.resize(size_ + block.size() + padding);
    std::copy(block.begin(), block.end(), text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += block.size();
    std::fill(text_.begin() + static_cast<std::ptrdiff_t>(size_), text_.end(), '\0');
    if (at_file_start_ && size_ < byte_order_mark.size()) return;
    const char *p = text_.data(), *stop = p + size_;
    if (at_file_start_ && std::string_view(p, byte_order_mark.size()) == byte_order_mark)
        p += byte_order_mark.size();
    at_file_start_ = false;
    while (stop > p && stop[-1] != '\n') --stop;
    const char* const bad = find_bad(p, stop);
    while (p < stop) {
        const char* const end =
            static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(stop - p)));
        if (bad < end)
            fail(*bad == 0 ? "a NUL byte; convert the file to UTF-8 text"
                           : "not UTF-8; convert the file to UTF-8");
        const std::size_t blank = end > p && end[-1] == '\r' ? 1 : 0;
        if (std::exchange(at_first_line_, false) &&
            std::string_view(p, static_cast<std::size_t>(end - p) - blank) == table_header)
            is_table_ = true;
        else if (is_table_)
            read_row(p, end);
        else
            read_line(p, end);
        ++n_lines_;
        p = end + 1;
    }
    size_ = static_cast<std::size_t>(text_.data() + size_ - stop);
    if (size_ > longest_line)
        fail("a line of more than " + std::to_string(longest_line) +
             " bytes; a count file has an n-gram a line: check that it is one");
    std::memmove(text_.data(), stop, size_);
}

void CountReader::end_file() {
    if (at_file_start_ || size_ > 0) {
        at_file_start_ = false;
        feed("\n");
    }
    at_file_start_ = at_first_line_ = true;
    is_table_ = false;
}

// The n-gram without its quotes and the backslash before it, and its count.
void CountReader::read_row(const char* p, const char* end) {
    const bool is_quoted = p < end && *p == '"';
    const char* at = p + is_quoted;
    row_.clear();
    for (; at < end && (is_quoted || *at != '\t'); ++at) {
        if (is_quoted && *at == '"' && *++at != '"') break;
        row_ += *at;
    }
    const char* last = end;
    while (last > at && last[-1] != '\t') --last;
    if (last == at) return read_line(p, end);  // says what is wrong with it
    if (row_.starts_with('\\')) row_.erase(0, 1);
    row_ += '\t';
    row_.append(last, end);
    const std::size_t size = row_.size();
    row_ += '\n';
    row_.append(padding, '\0');
    read_line(row_.data(), row_.data() + size);
}

void CountReader::read_line(const char* p, const char* end) {
    std::array<std::string_view, most_words + 1> fields;
    std::size_t n_fields = 0;
    for (p = skip_blanks(p); p < end; p = skip_blanks(p)) {
        const char* const stop = word_end(p);
        if (n_fields == fields.size())
            fail("an n-gram of more than " + std::to_string(most_words) +
                 " words; leave out n-grams of so many words");
        fields[n_fields++] = {p, static_cast<std::size_t>(stop - p)};
        p = stop;
    }
    if (n_fields == 0) return;
    if (n_fields == 1) fail("found " + quoted(fields[0]) + " alone" + expected);
    const std::size_t length = n_fields - 1;
    std::string problem;
    const std::uint32_t count = read_count(fields[length], problem);
    if (!problem.empty()) fail(problem + expected);
    if (count == 0) return;
    if (n_lines_ >= UINT32_MAX) fail("more than 2^32 lines; merge fewer files");
    std::array<std::uint32_t, most_words> words;
    for (std::size_t i = 0; i < length; ++i) {
        words[i] = table_.find_or_add(fields[i]);
        if (words[i] == sentence_begin && i > 0)
            fail("<s> is not the first word; a sentence begins with it: correct the line");
        if (words[i] == sentence_end && i + 1 < length)
            fail("</s> is not the last word; a sentence ends with it: correct the line");
    }
    Lines& lines = lines_[length];
    lines.words.insert(lines.words.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(length));
    lines.counts.push_back(count);
    lines.lines.push_back(static_cast<std::uint32_t>(n_lines_));
}

std::vector<std::uint64_t> CountReader::word_counts() const {
    std::vector<std::uint64_t> counts(table_.size(), 0);
    for (std::size_t i = 0; i < lines_[1].size(); ++i) counts[lines_[1].words[i]] += lines_[1].counts[i];
    return counts;
}

std::size_t CountReader::order() const {
    std::size_t order = most_words;
    while (order > 0 && lines_[order].size() == 0) --order;
    return order;
}

std::string CountReader::ngram(std::size_t length, std::size_t entry) const {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) {
        if (i > 0) text += ' ';
        text += table_.word(lines_[length].words[entry * length + i]);
    }
    return quoted(text);
}

std::vector<CountLevel> CountReader::levels(const std::uint32_t* numbers, std::size_t n_numbers,
                                            std::size_t order, bool check_suffixes) {
    std::vector<CountLevel> levels{unigrams(numbers, n_numbers)};
    while (levels.size() < order) add_level(levels, numbers, check_suffixes);
    return levels;
}

CountLevel CountReader::unigrams(const std::uint32_t* numbers, std::size_t n_numbers) const {
    CountLevel level;
    level.words.resize(n_numbers);
    for (std::size_t i = 0; i < n_numbers; ++i) level.words[i] = static_cast<std::uint32_t>(i);
    std::vector<std::uint64_t> sums(n_numbers, 0);
    for (std::size_t i = 0; i < lines_[1].size(); ++i) {
        std::uint64_t& sum = sums[numbers[lines_[1].words[i]]];
        sum += lines_[1].counts[i];
        if (sum > UINT32_MAX)
            throw CountProblem(lines_[1].lines[i] + std::int64_t{1},
                               "the counts of " + ngram(1, i) + " add up to more than " +
                                   std::to_string(UINT32_MAX) + "; merge fewer files");
    }
    level.counts.assign(sums.begin(), sums.end());
    return level;
}

void CountReader::add_level(std::vector<CountLevel>& levels, const std::uint32_t* numbers,
                            bool check_suffixes) {
    const std::size_t length = levels.size() + 1;
    const Lines& lines = lines_[length];
    CountLevel& parents = levels.back();
    const auto fail_at = [&](std::size_t entry, const std::string& what) {
        throw CountProblem(lines.lines[entry] + std::int64_t{1}, what);
    };
    // An n-gram is its start, a node, and its last word.
    struct Child {
        std::uint64_t key;
        std::size_t entry;
        bool operator<(const Child& other) const {
            return key != other.key ? key < other.key : entry < other.entry;
        }
    };
    std::vector<Child> children(lines.size());
    std::atomic<std::size_t> orphan{SIZE_MAX};
    for_slices(pool_, 0, lines.size(), [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t* const words = lines.words.data() + i * length;
            const std::uint32_t parent = find_node(levels, words, length - 1, numbers);
            const std::uint32_t word = numbers[words[length - 1]];
            if (parent == absent || word == absent ||
                (check_suffixes && find_node(levels, words + 1, length - 1, numbers) == absent)) {
                keep_least(orphan, i);
                return;
            }
            children[i] = {std::uint64_t{parent} << 32 | word, i};
        }
    });
    if (orphan != SIZE_MAX)
        fail_at(orphan, "the n-gram " + ngram(length, orphan) +
                            " is counted, but not all shorter ones in it; give the counts of all lengths, as "
                            "'stategram count --format srilm' and SRILM's 'ngram-count -write' do");
    std::sort(children.begin(), children.end());
    CountLevel level;
    parents.first_child.assign(parents.words.size() + 1, 0);
    for (std::size_t i = 0; i < children.size();) {
        const std::size_t same = i;
        std::uint64_t count = 0;
        for (; i < children.size() && children[i].key == children[same].key; ++i)
            count += lines.counts[children[i].entry];
        if (count > UINT32_MAX)
            fail_at(children[same].entry, "the counts of " + ngram(length, children[same].entry) +
                                              " add up to more than " + std::to_string(UINT32_MAX) +
                                              "; merge fewer files");
        if (level.words.size() >= UINT32_MAX - 1) fail_at(children[same].entry, "more than 2^32 n-grams");
        level.words.push_back(static_cast<std::uint32_t>(children[same].key));
        level.counts.push_back(static_cast<std::uint32_t>(count));
        ++parents.first_child[(children[same].key >> 32) + 1];
    }
    for (std::size_t i = 0; i < parents.words.size(); ++i) {
        parents.first_child[i + 1] += parents.first_child[i];
        std::uint64_t sum = 0;
        for (std::size_t child = parents.first_child[i]; child < parents.first_child[i + 1]; ++child)
            sum += level.counts[child];
        if (sum <= parents.counts[i]) continue;
        const auto first =
            std::lower_bound(children.begin(), children.end(), Child{std::uint64_t{i} << 32, 0});
        fail_at(first->entry, "the n-grams that begin as " + ngram(length, first->entry) +
                                  " are counted more often, " + std::to_string(sum) +
                                  " times, than that beginning, " + std::to_string(parents.counts[i]) +
                                  "; expected counts of a text: make the file again");
    }
    levels.push_back(std::move(level));
}

}  // namespace stategram
