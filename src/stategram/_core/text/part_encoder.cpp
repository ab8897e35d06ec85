#include "text/part_encoder.hpp"

#include <algorithm>
#include <array>

namespace stategram {

PartEncoder::PartEncoder(int worker, bool lowercase, bool replace_errors, bool ascii_spaces)
    : worker_(worker),
      markers_(lowercase ? 4 : 2),
      replace_errors_(replace_errors),
      ascii_spaces_(ascii_spaces) {
    for (std::string_view word : fixed_words) words_.find_or_add(word);
}

PartResult PartEncoder::encode(const char* begin, const char* end) {
    PartResult result;
    const char* bad = find_bad(begin, end);
    if (bad == end) {
        encode_clean(begin, end, result);
    } else if (replace_errors_) {
        result.replaced = replace_bad(begin, end, clean_);
        clean_.append(8, '\n');  // the 8 bytes that can be read after the end
        encode_clean(clean_.data(), clean_.data() + clean_.size() - 8, result);
    } else {
        result.bad = static_cast<std::size_t>(bad - begin);
    }
    return result;
}

void PartEncoder::encode_clean(const char* p, const char* end, PartResult& result) {
    if (!chunk_) open_chunk();
    const char* const begin = p;
    const std::uint64_t spaces = ascii_spaces_ ? spaces_of_bytes : spaces_of_str;
    // Words wait in a queue while their places in the table are fetched. An empty word is a line end.
    struct Waiting {
        std::string_view word;
        std::uint64_t key, spread_key;
    };
    constexpr std::size_t queue_size = 64, ahead = 8;
    std::array<Waiting, queue_size> queue;
    std::size_t waiting = 0;
    // A line of nothing but <s> and </s> is no sentence, but not blank either.
    bool line_is_empty = true, line_is_blank = true;

    const auto put = [&](std::uint32_t id) {
        if (out_ == out_end_) {
            close_segment(result);
            open_chunk();
        }
        *out_++ = id;
    };
    const auto serve_queue = [&] {
        for (std::size_t i = 0; i < waiting; ++i) {
            const Waiting& next = queue[i];
            if (i + ahead < waiting && is_long(queue[i + ahead].word))
                words_.prefetch_letters(queue[i + ahead].spread_key);
            if (next.word.empty()) {
                ++result.lines;
                if (line_is_blank) {
                    start_document(result);
                } else if (!line_is_empty) {
                    put(end_id);
                    ++sentences_;
                }
                line_is_empty = line_is_blank = true;
            } else {
                line_is_blank = false;
                const std::uint32_t id = words_.count(next.word, next.key, next.spread_key);
                if (id - start_id < markers_) {
                    ++result.dropped;
                    continue;
                }
                put(id);
                line_is_empty = false;
            }
        }
        waiting = 0;
    };
    const auto enqueue = [&](std::string_view word, std::uint64_t key) {
        const std::uint64_t spread_key = spread(key);
        words_.prefetch(spread_key);
        queue[waiting++] = {word, key, spread_key};
        if (waiting == queue_size) serve_queue();
    };
    // A run without ASCII white space can still hold the white space of other scripts.
    const auto enqueue_wide = [&](const char* word, const char* stop) {
        for (const char* q = word; q < stop && !ascii_spaces_;) {
            const std::size_t space = wide_space(q);
            if (space == 0) {
                ++q;
                continue;
            }
            if (result.wide_spaces++ == 0) result.wide_space_line = std::count(begin, q, '\n');
            if (word < q) enqueue({word, q}, key_of({word, q}));
            word = q += space;
        }
        if (word < stop) enqueue({word, stop}, key_of({word, stop}));
    };

    while (p < end) {
        if (is_space(*p, spaces)) {
            if (*p == '\n') enqueue({}, 0);
            ++p;
            continue;
        }
        // The last line is closed, so that the search for white space stops before `end`.
        const char* word = p;
        std::uint64_t eight = load_eight(p), hash = 0, seen = 0, small;
        while ((small = mark_small(eight)) == 0) {
            hash = hash_step(hash, eight);
            seen |= eight;
            p += 8;
            eight = load_eight(p);
        }
        const int length = std::countr_zero(small) >> 3;
        eight &= (std::uint64_t{1} << (8 * length)) - 1;
        seen |= eight;
        p += length;
        if (!is_space(*p, spaces)) {  // a control character: part of the word
            while (!is_space(*p, spaces)) ++p;
            enqueue_wide(word, p);
        } else if (seen & each_byte(0x80)) {
            enqueue_wide(word, p);
        } else if (p - word <= 8) {
            enqueue({word, p}, seen);
        } else {
            enqueue({word, p}, length > 0 ? hash_step(hash, eight) : hash);
        }
        if (*p == ' ') ++p;
    }
    serve_queue();
    close_segment(result);
}

void PartEncoder::start_document(PartResult& result) {
    const std::size_t sentence = result.sentences + sentences_;
    if (result.document_starts.empty() || result.document_starts.back() != sentence)
        result.document_starts.push_back(sentence);
}

void PartEncoder::close_segment(PartResult& result) {
    if (out_ != segment_begin_)
        result.segments.push_back(
            {chunk_, segment_begin_, static_cast<std::size_t>(out_ - segment_begin_), sentences_, worker_});
    segment_begin_ = out_;
    result.sentences += sentences_;
    sentences_ = 0;
}

void PartEncoder::open_chunk() {
    chunk_ = std::shared_ptr<std::uint32_t[]>(new std::uint32_t[chunk_size]);
    segment_begin_ = out_ = chunk_.get();
    out_end_ = out_ + chunk_size;
}

void PartEncoder::forget() {
    words_ = WordTable();
    chunk_.reset();
    segment_begin_ = out_ = out_end_ = nullptr;
}

}  // namespace stategram
