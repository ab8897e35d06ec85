// An ARPA file, block by block, to a vocabulary and the arrays of a trie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.hpp"
#include "formats/arpa_line.hpp"
#include "ngrams/trie_builder.hpp"
#include "text/word_table.hpp"

namespace stategram {

class ArpaReader : public Exclusive {
 public:
    explicit ArpaReader(int threads);

    // The next bytes of the file. Returns true when all words are known: number_words has then to be called.
    bool feed(std::string_view block);
    // The trie's number of each word of the vocabulary. Reading goes on with what was fed before.
    void number_words(const std::uint32_t* numbers, std::size_t count);
    // Ends the file; true as for feed, and then it has to be called once more.
    bool finish();

    std::size_t n_words() const { return word_ids_.size(); }
    std::string_view word(std::size_t id) const { return table_.word(word_ids_[id]); }
    // Whether <unk>, <s> and </s> had to be added, and whether <UNK> was taken for <unk>.
    bool added(std::size_t special) const { return !seen_[special]; }
    bool renamed_unknown() const { return upper_unknown_ != WordTable::absent; }
    std::size_t inserted() const { return inserted_; }
    const std::vector<std::uint64_t>& counts() const { return counts_; }
    // The finished trie, whose arrays the caller may move away: nothing can follow.
    TrieBuilder& take_trie() {
        if (state_ != State::ended) throw std::logic_error("the file was not read to its end");
        start_step();
        return *trie_;
    }

 private:
    enum class State { before, header, words, numbering, ngrams, ended };

    // What a thread makes of a part of a section.
    struct Part {
        const char *begin, *end;
        std::vector<NewNgram> ngrams;
        std::vector<std::pair<std::size_t, std::int64_t>> lines;  // see lines_
        std::vector<std::pair<std::size_t, NgramWords>> orphans;  // n-grams whose start was not found
        std::int64_t n_lines = 0;
        std::optional<ArpaProblem> problem;
    };

    // Every step starts with this and ends by setting `usable_` again: none can follow one that failed.
    void start_step();
    void read_block(std::string_view block);
    void read_lines();
    void read_control(std::string_view line);
    void read_before(std::string_view line);
    void read_header(std::string_view line);
    void read_word(const char* line, const char* end);
    void read_section(const char* end);
    void read_part(Part& part) const;
    void add_batch(Part& part, const struct Batch& batch) const;
    void take(Part& part);
    void close_words();
    void close_section();
    std::int64_t line_of(std::size_t ngram) const;
    std::int64_t second_line(std::uint32_t parent, std::uint32_t word) const;
    [[noreturn]] void fail(const std::string& what) const { throw ArpaProblem(line_, what); }

    ThreadPool pool_;
    bool usable_ = true;
    State state_ = State::before;
    std::vector<char> text_;             // padded
    std::size_t at_ = 0, end_ = 0;       // what is still to be read of it
    std::int64_t line_ = 1;              // at_ is in this line
    std::size_t skipped_ = 0;            // bytes before \data\ .
    std::vector<std::uint64_t> counts_;  // as the header says, of 1-grams, 2-grams ...
    std::size_t order_ = 0;              // of the section
    std::size_t count_ = 0;              // of n-grams in the section
    bool closed_ = false;                // whether the section's end was seen

    WordTable table_;
    std::vector<float> word_log_probs_, word_backoffs_;  // in the order of the table
    bool seen_[3] = {};
    std::uint32_t upper_unknown_ = WordTable::absent;  // the place of an <UNK> that stands for <unk>
    std::vector<std::uint32_t> word_ids_;              // the vocabulary's words in the table
    std::vector<std::uint32_t> numbers_;               // the trie's number of each word of the table

    std::optional<TrieBuilder> trie_;
    NgramChunks chunks_;  // the section's n-grams
    // The lines of the first n-gram, and of each that does not follow its predecessor's line.
    std::vector<std::pair<std::size_t, std::int64_t>> lines_;
    std::vector<std::pair<std::size_t, NgramWords>> orphans_;
    std::size_t inserted_ = 0;
};

}  // namespace stategram
