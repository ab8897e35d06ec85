#include "formats/arpa_reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "text/part_encoder.hpp"

namespace stategram {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::ptrdiff_t smallest_part = 1 << 13;
constexpr std::size_t batch_size = 64;
constexpr float unknown_log_prob = -100;  // what KenLM gives to unknown words where <unk> is missing
constexpr float zero_log_prob = -std::numeric_limits<float>::infinity();
constexpr std::uint32_t unknown = 0, sentence_begin = 1;  // places of the special words

const char* line_end(const char* p, const char* end) {
    return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
}

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

// <s> is never predicted. <unk> may have less than 1e-99: a stand-in for one that was missing.
float log_prob_of(float written, bool is_begin, bool is_unknown) {
    if (is_begin) return zero_log_prob;
    return is_unknown && written < stands_for_zero ? written : as_zero(written);
}

}  // namespace

// Lines whose words are looked up together, so that the table's memory has time to come.
struct Batch {
    std::size_t size = 0;
    NgramLine lines[batch_size];
    std::int64_t numbers[batch_size];
    std::uint64_t keys[batch_size][most_words], spread_keys[batch_size][most_words];
};

ArpaReader::ArpaReader(int threads) : pool_(threads), text_(padding, 0) {
    for (std::size_t i = 0; i < special_words; ++i) table_.find_or_add(fixed_words[i]);
    word_log_probs_.assign(special_words, zero_log_prob);
    word_log_probs_[unknown] = unknown_log_prob;
    word_backoffs_.assign(special_words, 0);
}

void ArpaReader::start_step() {
    if (!usable_)
        throw std::logic_error("an earlier step failed, or the trie was taken; begin with a new reader");
    usable_ = false;
}

bool ArpaReader::feed(std::string_view block) {
    start_step();
    read_block(block);
    usable_ = true;
    return state_ == State::numbering;
}

void ArpaReader::read_block(std::string_view block) {
    std::copy(text_.begin() + static_cast<std::ptrdiff_t>(at_),
              text_.begin() + static_cast<std::ptrdiff_t>(end_), text_.begin());
    end_ -= at_;
    at_ = 0;
    text_.resize(end_ + block.size() + padding);
    std::copy(block.begin(), block.end(), text_.begin() + static_cast<std::ptrdiff_t>(end_));
    end_ += block.size();
    std::fill(text_.begin() + static_cast<std::ptrdiff_t>(end_), text_.end(), '\0');
    read_lines();
}

bool ArpaReader::finish() {
    start_step();
    if (at_ < end_ && text_[end_ - 1] != '\n') read_block("\n");
    if (state_ == State::numbering) {
        usable_ = true;
        return true;
    }
    if (state_ != State::ended) line_ = std::max<std::int64_t>(line_ - 1, 1);  // the last one
    const std::string again = "; the file is cut off, or was never finished: make or fetch it again";
    if (state_ == State::before && skipped_ == 0) fail("the file is empty; expected an ARPA file");
    if (state_ == State::before)
        fail("this is no ARPA file: it ends without \\data\\; give an ARPA file or a model file");
    if (state_ == State::header) fail("the file ends within its header; expected " + section_name(1) + again);
    if (state_ != State::ended)
        fail("the file ends after " + std::to_string(count_) + " of " + std::to_string(counts_[order_ - 1]) +
             " " + std::to_string(order_) + "-grams; expected \\end\\" + again);
    usable_ = true;
    return false;
}

void ArpaReader::read_lines() {
    std::size_t stop = end_;  // after the last line end
    while (stop > at_ && text_[stop - 1] != '\n') --stop;
    if (end_ - stop > longest_line) {
        line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                            text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n');
        fail("a line of more than " + std::to_string(longest_line) +
             " bytes; an ARPA file has an n-gram a line: check that it is one");
    }
    const char* const end = text_.data() + stop;
    while (at_ < stop && state_ != State::numbering) {
        if (state_ == State::ngrams && !closed_) {
            read_section(end);
            continue;
        }
        const char* const begin = text_.data() + at_;
        const char* const next = line_end(begin, end) + 1;
        const std::string_view line = trimmed(between(begin, next - 1));
        if (state_ == State::before) {
            read_before(line);
            skipped_ += static_cast<std::size_t>(next - begin);
        } else if (!line.empty()) {
            if (state_ == State::header)
                read_header(line);
            else if (state_ == State::ended)
                fail("found " + quoted(line) +
                     " after \\end\\; expected nothing: remove what follows \\end\\");
            else if (state_ == State::ngrams)
                read_control(line);
            else if (line.front() == '\\')
                close_words();
            else
                read_word(skip_blanks(begin), next - 1);
        }
        if (state_ == State::numbering) break;
        at_ += static_cast<std::size_t>(next - begin);
        ++line_;
    }
}

void ArpaReader::read_word(const char* line, const char* end) {
    const NgramLine ngram = read_ngram(line, 1);
    if (ngram.end == nullptr || find_bad(line, end) != end) fail(what_is_wrong(between(line, end), 1));
    const std::string_view word = ngram.words[0];
    const std::size_t before = table_.size();
    const std::uint32_t place = table_.find_or_add(word);
    if (place < special_words ? seen_[place] : place < before)
        fail("the 1-gram " + quoted(word) +
             " is there a second time; expected each once: remove one of the two");
    if (place == before) {
        word_log_probs_.push_back(0);
        word_backoffs_.push_back(0);
    } else if (place < special_words) {
        seen_[place] = true;
    }
    word_log_probs_[place] = ngram.log_prob;
    word_backoffs_[place] = ngram.backoff;
    ++count_;
}

void ArpaReader::close_words() {
    if (count_ != counts_[0])
        fail("found the end of the 1-grams after " + std::to_string(count_) + " of them; the header says " +
             std::to_string(counts_[0]) + ": the file is damaged, make or fetch it again");
    if (!seen_[unknown]) {
        upper_unknown_ = table_.find("<UNK>");
        if (upper_unknown_ != WordTable::absent) {
            seen_[unknown] = true;
            word_log_probs_[unknown] = word_log_probs_[upper_unknown_];
            word_backoffs_[unknown] = word_backoffs_[upper_unknown_];
        }
    }
    for (std::uint32_t place = 0; place < table_.size(); ++place) {
        word_log_probs_[place] =
            log_prob_of(word_log_probs_[place], place == sentence_begin, place == unknown);
        if (place != upper_unknown_) word_ids_.push_back(place);
    }
    state_ = State::numbering;
}

void ArpaReader::number_words(const std::uint32_t* numbers, std::size_t count) {
    if (state_ != State::numbering) throw std::invalid_argument("the words are not to be numbered now");
    if (count != word_ids_.size()) throw std::invalid_argument("one number for each word is needed");
    std::vector<bool> taken(count);
    for (std::size_t id = 0; id < count; ++id) {
        if (numbers[id] >= count || taken[numbers[id]])
            throw std::invalid_argument("the numbers are no permutation of 0, 1, ...");
        taken[numbers[id]] = true;
    }
    start_step();
    std::vector<float> log_probs(count), backoffs(count);
    numbers_.resize(table_.size());
    for (std::size_t id = 0; id < count; ++id) {
        numbers_[word_ids_[id]] = numbers[id];
        log_probs[numbers[id]] = word_log_probs_[word_ids_[id]];
        backoffs[numbers[id]] = word_backoffs_[word_ids_[id]];
    }
    if (renamed_unknown()) numbers_[upper_unknown_] = numbers_[unknown];
    trie_.emplace(counts_.size(), log_probs, backoffs);
    state_ = State::ngrams;
    closed_ = true;
    read_lines();
    usable_ = true;
}

// Reads lines of n-grams up to `end` or the end of the section, a part of them on each thread.
void ArpaReader::read_section(const char* end) {
    const char* begin = text_.data() + at_;
    const auto n_parts =
        static_cast<std::ptrdiff_t>((end - begin) / smallest_part < pool_.size() ? 1 : pool_.size());
    std::vector<Part> parts(static_cast<std::size_t>(n_parts));
    const std::ptrdiff_t size = end - begin;
    for (std::ptrdiff_t i = 0; i < n_parts; ++i) {
        Part& part = parts[static_cast<std::size_t>(i)];
        part.begin = begin;
        const char* const bound = text_.data() + at_ + size * (i + 1) / n_parts - 1;
        begin = part.end = std::max<const char*>(begin, line_end(bound, end) + 1);
    }
    pool_.run(parts.size(), [&](std::size_t i, int) { read_part(parts[i]); });
    for (Part& part : parts) {
        const char* const whole = part.end;
        take(part);
        if (closed_ || part.end != whole) break;
    }
}

void ArpaReader::read_part(Part& part) const {
    Batch batch;
    part.ngrams.reserve(static_cast<std::size_t>(part.end - part.begin) / (12 + 4 * order_) + 1);
    const char* const end = part.end;
    part.end = part.begin;
    try {
        while (part.end < end) {
            const char* const p = skip_blanks(part.end);
            if (*p == '\\') {
                break;
            } else if (*p == '\n') {
                part.end = p + 1;
            } else {
                NgramLine& line = batch.lines[batch.size];
                line = read_ngram(p, order_);
                if (line.end == nullptr) {
                    add_batch(part, batch);
                    batch.size = 0;
                    throw ArpaProblem(part.n_lines, what_is_wrong(between(p, line_end(p, end)), order_));
                }
                for (std::size_t i = 0; i < order_; ++i) {
                    const std::uint64_t key = padded_key(line.words[i].data(), line.words[i].size());
                    batch.keys[batch.size][i] = key;
                    batch.spread_keys[batch.size][i] = spread(key);
                    table_.prefetch(spread(key));
                }
                batch.numbers[batch.size] = part.n_lines;
                part.end = line.end + 1;
                if (++batch.size == batch_size) {
                    add_batch(part, batch);
                    batch.size = 0;
                }
            }
            ++part.n_lines;
        }
        add_batch(part, batch);
    } catch (const ArpaProblem& problem) {
        part.problem = problem;
    }
}

void ArpaReader::add_batch(Part& part, const Batch& batch) const {
    NgramWords words[batch_size];
    std::uint32_t parents[batch_size];
    for (std::size_t i = 0; i < batch.size; ++i) {
        words[i].fill(0);
        for (std::size_t j = 0; j < order_; ++j) {
            const std::string_view word = batch.lines[i].words[j];
            const std::uint32_t place = table_.find(word, batch.keys[i][j], batch.spread_keys[i][j]);
            if (place == WordTable::absent) {
                if (find_bad(word.data(), word.data() + word.size()) != word.data() + word.size())
                    throw ArpaProblem(batch.numbers[i], what_is_wrong(word, order_));
                throw ArpaProblem(batch.numbers[i], "the word " + quoted(word) +
                                                        " is not among the 1-grams; expected it there: make "
                                                        "or fetch the file again");
            }
            words[i][j] = numbers_[place];
        }
    }
    trie_->find_many(words, batch.size, order_ - 1, parents);
    for (std::size_t i = 0; i < batch.size; ++i) {
        const std::size_t ngram = part.ngrams.size();
        if (i == 0 || batch.numbers[i] != batch.numbers[i - 1] + 1)
            part.lines.emplace_back(ngram, batch.numbers[i]);
        if (parents[i] == no_node) part.orphans.emplace_back(ngram, words[i]);
        const std::uint32_t last = words[i][order_ - 1];
        part.ngrams.push_back({parents[i], last,
                               log_prob_of(batch.lines[i].log_prob, last == numbers_[sentence_begin],
                                           last == numbers_[unknown]),
                               batch.lines[i].backoff});
    }
}

void ArpaReader::take(Part& part) {
    if (part.problem) throw ArpaProblem(line_ + part.problem->line, part.problem->what());
    for (const auto& [ngram, line] : part.lines) lines_.emplace_back(count_ + ngram, line_ + line);
    for (const auto& [ngram, words] : part.orphans) orphans_.emplace_back(count_ + ngram, words);
    count_ += part.ngrams.size();
    if (!part.ngrams.empty()) chunks_.push_back(std::move(part.ngrams));
    line_ += part.n_lines;
    at_ = static_cast<std::size_t>(part.end - text_.data());
    if (at_ < end_ && *skip_blanks(part.end) == '\\') close_section();
}

void ArpaReader::close_section() {
    if (count_ != counts_[order_ - 1])
        fail("found the end of the " + std::to_string(order_) + "-grams after " + std::to_string(count_) +
             " of them; the header says " + std::to_string(counts_[order_ - 1]) +
             ": the file is damaged, make or fetch it again");
    if (!orphans_.empty()) {
        const auto before = static_cast<std::uint32_t>(trie_->begins()[order_ - 1]);
        std::vector<NgramWords> ngrams;
        for (const auto& orphan : orphans_) ngrams.push_back(orphan.second);
        const auto [inserted, moved] = trie_->insert_starts(ngrams, pool_);
        inserted_ += inserted;
        auto orphan = orphans_.begin();
        for (auto& chunk : chunks_)
            for (NewNgram& ngram : chunk)
                ngram.parent = ngram.parent == no_node ? trie_->find((orphan++)->second.data(), order_ - 1)
                                                       : moved[ngram.parent - before];
    }
    if (const auto twice = trie_->add_level(chunks_, pool_)) {
        line_ = second_line(twice->first, twice->second);
        fail("this " + std::to_string(order_) +
             "-gram is there a second time; expected each once: remove one of the two");
    }
    chunks_.clear();
    lines_.clear();
    orphans_.clear();
    closed_ = true;
}

std::int64_t ArpaReader::line_of(std::size_t ngram) const {
    const auto after = std::upper_bound(lines_.begin(), lines_.end(), ngram,
                                        [](std::size_t n, const auto& known) { return n < known.first; });
    const auto& known = *(after - 1);
    return known.second + static_cast<std::int64_t>(ngram - known.first);
}

std::int64_t ArpaReader::second_line(std::uint32_t parent, std::uint32_t word) const {
    std::size_t at = 0, times = 0;
    for (const auto& chunk : chunks_)
        for (const NewNgram& ngram : chunk) {
            if (ngram.parent == parent && ngram.word == word && ++times == 2) return line_of(at);
            ++at;
        }
    return line_;
}

}  // namespace stategram
