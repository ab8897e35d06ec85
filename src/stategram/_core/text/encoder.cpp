#include "text/encoder.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace stategram {
namespace {

constexpr std::size_t padding = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// [+-]?[0-9]+([.,][0-9]+)*
bool is_number(std::string_view word) {
    std::size_t at = !word.empty() && (word[0] == '+' || word[0] == '-') ? 1 : 0;
    bool after_digit = false;
    for (; at < word.size(); ++at) {
        if (is_digit(word[at]))
            after_digit = true;
        else if (after_digit && (word[at] == '.' || word[at] == ','))
            after_digit = false;
        else
            return false;
    }
    return after_digit;
}

bool is_ascii(std::string_view word) {
    return std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

TextEncoder::TextEncoder(bool lowercase, bool replace_errors, int threads, bool ascii_spaces)
    : lowercase_(lowercase), pool_(threads), buffer_(padding, '\n') {
    for (int worker = 0; worker < threads; ++worker)
        workers_.emplace_back(worker, lowercase, replace_errors, ascii_spaces);
}

BadPlace TextEncoder::feed(std::string_view block) {
    start(Phase::reading);
    const std::size_t before = size_;
    size_ += block.size();
    if (buffer_.size() < size_ + padding) buffer_.resize(std::max(size_ + padding, 2 * before));
    std::copy(block.begin(), block.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(before));

    const std::size_t last_line_end = block.rfind('\n');
    BadPlace bad;
    if (last_line_end != std::string_view::npos) bad = encode_lines(before + last_line_end + 1);
    phase_ = Phase::reading;
    return bad;
}

void TextEncoder::start(Phase phase) {
    if (phase_ == Phase::broken) throw std::logic_error("an earlier step failed; begin with a new encoder");
    if (phase_ != phase)
        throw std::logic_error("a text is read in this order: feed, end_file, merge, a vocabulary, encode");
    phase_ = Phase::broken;
}

BadPlace TextEncoder::end_file() {
    start(Phase::reading);
    BadPlace bad;
    if (size_ > 0) {
        buffer_[size_++] = '\n';
        buffer_.resize(std::max(buffer_.size(), size_ + padding));
        bad = encode_lines(size_);
    }
    size_ = 0;
    file_offset_ = file_lines_ = 0;
    phase_ = Phase::reading;
    return bad;
}

// Encodes the first `size` bytes of the buffer, which end with a line.
BadPlace TextEncoder::encode_lines(std::size_t size) {
    constexpr std::size_t part_size = std::size_t{1} << 18;
    const std::string_view text(buffer_.data(), size);
    const std::size_t begin = file_offset_ == 0 && text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    std::vector<std::size_t> bounds{begin};
    while (bounds.back() < size) {
        const std::size_t wanted = bounds.back() + part_size;
        bounds.push_back(wanted >= size ? size : text.find('\n', wanted) + 1);
    }
    std::vector<PartResult> results(bounds.size() - 1);
    pool_.run(results.size(), [&](std::size_t part, int worker) {
        results[part] = workers_[static_cast<std::size_t>(worker)].encode(text.data() + bounds[part],
                                                                          text.data() + bounds[part + 1]);
    });
    for (std::size_t part = 0; part < results.size(); ++part) {
        PartResult& result = results[part];
        if (result.bad) {
            const std::size_t at = bounds[part] + *result.bad;
            const auto line_ends = std::count(text.begin() + static_cast<std::ptrdiff_t>(bounds[part]),
                                              text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            return {file_lines_ + line_ends + 1, file_offset_ + static_cast<std::int64_t>(at),
                    static_cast<unsigned char>(text[at])};
        }
        if (wide_spaces_ == 0 && result.wide_spaces > 0)
            wide_space_line_ = file_lines_ + result.wide_space_line + 1;
        wide_spaces_ += result.wide_spaces;
        file_lines_ += result.lines;
        replaced_ += result.replaced;
        dropped_ += result.dropped;
        std::move(result.segments.begin(), result.segments.end(), std::back_inserter(segments_));
        for (const std::size_t start : result.document_starts) {
            const auto sentence = static_cast<std::int64_t>(sentences_ + start);
            if (document_starts_.empty() || document_starts_.back() != sentence)
                document_starts_.push_back(sentence);
        }
        sentences_ += result.sentences;
    }
    file_offset_ += static_cast<std::int64_t>(size);
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(size),
              buffer_.begin() + static_cast<std::ptrdiff_t>(size_), buffer_.begin());
    size_ -= size;
    return {};
}

std::string TextEncoder::wide_words() const {
    std::string wide;
    for (const PartEncoder& worker : workers_)
        for (std::uint32_t id = 0; id < worker.words().size(); ++id) {
            const std::string_view word = worker.words().word(id);
            if (is_ascii(word)) continue;
            wide.append(word).push_back('\n');
        }
    return wide;
}

void TextEncoder::merge(std::string_view lowered, std::string_view digits) {
    if (size_ > 0) throw std::logic_error("the last file was not ended");
    start(Phase::reading);
    std::string lower;
    for (PartEncoder& worker : workers_) {
        const std::vector<std::uint64_t> counts = worker.words().counts();
        std::vector<std::uint32_t> ids(counts.size());
        for (std::uint32_t id = 0; id < ids.size(); ++id) {
            std::string_view word = worker.words().word(id);
            if (!digits.empty() && is_number(word)) {
                word = digits;
            } else if (lowercase_ && is_ascii(word)) {
                lower.assign(word);
                for (char& c : lower)
                    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
                word = lower;
            } else if (lowercase_) {
                const std::size_t line_end = lowered.find('\n');
                if (line_end == std::string_view::npos)
                    throw std::invalid_argument("fewer lowered words than words");
                word = lowered.substr(0, line_end);
                lowered.remove_prefix(line_end + 1);
            }
            ids[id] = merger_.add(word, counts[id]);
        }
        merged_.push_back(std::move(ids));
        worker.forget();
    }
    // The markers that were dropped are counted in the tables; what counts is the sentences.
    merger_.set_count(start_id, 0);
    merger_.set_count(end_id, sentences_);
    buffer_ = {};
    phase_ = Phase::merged;
}

WordList TextEncoder::choose_vocabulary(std::size_t size, std::uint64_t min_count) {
    start(Phase::merged);
    WordList vocabulary = merger_.choose(size, min_count);
    phase_ = Phase::chosen;
    return vocabulary;
}

void TextEncoder::use_vocabulary(const WordTable& vocabulary) {
    start(Phase::merged);
    merger_.use(vocabulary);
    phase_ = Phase::chosen;
}

Encoded TextEncoder::encode() {
    start(Phase::chosen);
    for (std::vector<std::uint32_t>& words : merged_)
        for (std::uint32_t& word : words) word = merger_.id(word);

    struct Place {
        std::size_t ids, sentences;
    };
    std::vector<Place> places;
    Place total{0, 0};
    for (const Segment& segment : segments_) {
        places.push_back(total);
        total.ids += segment.size;
        total.sentences += segment.sentences;
    }
    Encoded encoded{BigArray<std::uint32_t>(total.ids), std::vector<std::int64_t>(total.sentences + 1, 0),
                    std::move(document_starts_)};
    pool_.run(segments_.size(), [&](std::size_t i, int) {
        Segment& segment = segments_[i];
        const std::uint32_t* map = merged_[static_cast<std::size_t>(segment.worker)].data();
        std::uint32_t* out = encoded.ids.data() + places[i].ids;
        std::int64_t* start = encoded.sentence_starts.data() + places[i].sentences;
        for (std::size_t at = 0; at < segment.size; ++at) {
            out[at] = map[segment.ids[at]];
            if (segment.ids[at] == end_id) *++start = static_cast<std::int64_t>(places[i].ids + at + 1);
        }
        segment.memory.reset();
    });
    segments_.clear();
    phase_ = Phase::encoded;
    return encoded;
}

}  // namespace stategram
