// Count files, `w1 w2 w3<TAB>count` a line, to the levels of a trie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/most_words.hpp"
#include "base/threads.hpp"
#include "counts/levels.hpp"
#include "text/word_table.hpp"

namespace stategram {

// What is wrong with a file, and in which of the lines that were fed.
struct CountProblem : std::runtime_error {
    CountProblem(std::int64_t in_line, const std::string& what) : std::runtime_error(what), line(in_line) {}
    std::int64_t line;
};

using CountLevel = CountedLevel<std::vector<std::uint32_t>>;

class CountReader : public Exclusive {
 public:
    static constexpr std::uint32_t absent = UINT32_MAX;

    explicit CountReader(int threads);

    // The next bytes of a file; they may end anywhere.
    void feed(std::string_view block);
    // Closes the file; a last line without "\n" is a line.
    void end_file();

    const WordTable& words() const { return table_; }
    // The count of each word by itself; 0 where there is no such line.
    std::vector<std::uint64_t> word_counts() const;
    std::size_t order() const;
    std::int64_t n_lines() const { return n_lines_; }

    // The n-grams of 1 to `order` words; `numbers` has the trie's number of each word, below `n_numbers`, or
    // `absent` where the word has no count of its own. Those that become the same are added up.
    std::vector<CountLevel> levels(const std::uint32_t* numbers, std::size_t n_numbers, std::size_t order,
                                   bool check_suffixes);

 private:
    // The n-grams of one length, as they are in the files.
    struct Lines {
        std::vector<std::uint32_t> words;  // of the table, one n-gram after the other
        std::vector<std::uint32_t> counts;
        std::vector<std::uint32_t> lines;
        std::size_t size() const { return counts.size(); }
    };

    void read_line(const char* p, const char* end);
    void read_row(const char* p, const char* end);
    CountLevel unigrams(const std::uint32_t* numbers, std::size_t n_numbers) const;
    void add_level(std::vector<CountLevel>& levels, const std::uint32_t* numbers, bool check_suffixes);
    std::string ngram(std::size_t length, std::size_t entry) const;
    [[noreturn]] void fail(const std::string& what) const { throw CountProblem(n_lines_ + 1, what); }

    ThreadPool pool_;
    std::vector<char> text_;  // padded; what is still to be read
    std::size_t size_ = 0;
    bool at_file_start_ = true;
    bool at_first_line_ = true;
    bool is_table_ = false;  // the file has a line of names, and n-grams as `table_lines` writes them
    std::string row_;
    std::int64_t n_lines_ = 0;
    WordTable table_;
    std::array<Lines, most_words + 1> lines_;  // by length
};

}  // namespace stategram
