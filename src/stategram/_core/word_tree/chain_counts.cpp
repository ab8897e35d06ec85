// Counting one level of a chain: which words follow each context, how often, and after how many distinct
// longer contexts.
//
// Events are brought to parts of neighbouring hashes, which are sorted by (context, word, next value) and
// written one after the other: a level never holds more than a few million events at a time besides the
// result. The parts do not depend on the number of threads.
#include <bit>
#include <optional>
#include <utility>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "word_tree/context_table_writer.hpp"
#include "word_tree/evidence.hpp"
#include "word_tree/kernels.hpp"
#include "word_tree/tree.hpp"

namespace stategram {
namespace {

struct Event {
    std::uint64_t hash;
    std::uint32_t word, next, number;

    bool operator<(const Event& other) const {
        if (hash != other.hash) return hash < other.hash;
        if (word != other.word) return word < other.word;
        return next < other.next;
    }
};

constexpr std::size_t events_per_part = 4096;

class PartCounter {
 public:
    PartCounter(LevelWriter writer, std::uint32_t min_count, std::uint64_t* hashes)
        : writer_(writer), min_count_(min_count), hashes_(hashes) {}

    // Events are sorted; the buckets are [first_bucket, last_bucket). Contexts that are too rare are set to
    // 0.
    void count(const Event* events, std::size_t size, std::size_t first_bucket, std::size_t last_bucket,
               CountedContexts& counted) {
        std::size_t i = 0;
        for (std::size_t bucket = first_bucket; bucket < last_bucket; ++bucket) {
            while (i < size && writer_.bucket(events[i].hash) == bucket)
                i = add_context(events, i, size, counted);
            writer_.end_bucket(counted);
        }
    }

 private:
    std::size_t add_context(const Event* events, std::size_t i, std::size_t size, CountedContexts& counted) {
        const std::uint64_t hash = events[i].hash;
        const std::size_t first = i;
        followers_.clear();
        while (i < size && events[i].hash == hash) {
            Follower one{events[i].word, 0, 0};
            std::uint32_t before = no_value;
            for (; i < size && events[i].hash == hash && events[i].word == one.word; ++i) {
                ++one.count;
                // Without a longer context, each event is one of its own.
                one.contexts += !writer_.has_longer() || events[i].next == no_value ||
                                events[i].next != before || one.count == 1;
                before = events[i].next;
            }
            followers_.push_back(one);
        }
        if (i - first < min_count_)
            for (std::size_t k = first; k < i; ++k) hashes_[events[k].number] = 0;
        else
            writer_.add(hash, followers_, counted);
        return i;
    }

    LevelWriter writer_;
    std::uint32_t min_count_;
    std::uint64_t* hashes_;
    std::vector<Follower> followers_;
};

// About how many contexts of `min_count` events there are, from those whose hash ends in zeros.
std::size_t estimate_contexts(const std::uint64_t* hashes, std::size_t size, std::uint32_t min_count) {
    const std::uint64_t mask = size < (std::size_t{1} << 20) ? 0 : 63;
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < size; ++i)
        if (hashes[i] != 0 && (hashes[i] & mask) == 0) found.push_back(hashes[i]);
    std::sort(found.begin(), found.end());
    std::size_t n = 0;
    for (std::size_t i = 0, end; i < found.size(); i = end) {
        for (end = i; end < found.size() && found[end] == found[i];) ++end;
        n += end - i >= min_count;
    }
    return n * (mask + 1);
}

int bits_for(std::size_t number) { return std::max(1, static_cast<int>(std::bit_width(number))); }

}  // namespace

ChainLevelArrays count_chain_level(InOut<std::uint64_t> hashes, In<std::uint32_t> words,
                                   std::optional<In<std::uint32_t>> next, std::uint32_t min_count,
                                   int threads, std::size_t events_per_pass) {
    const std::size_t size = hashes.size();
    require(words.size() == size && (!next || next->size() == size),
            "each event needs a context, a word and a next value");
    require(size < UINT32_MAX, "more than 2^32-2 events; count a part of the text");
    check_below(words, max_words, "a word has too large a number");
    ThreadPool pool(threads);
    std::uint64_t* hash = hashes.data();
    const int part_bits = bits_for(size / events_per_part);
    const std::size_t parts = std::size_t{1} << part_bits;
    const int bucket_bits =
        std::max(part_bits, bits_for(estimate_contexts(hash, size, min_count) / max_contexts_per_bucket));
    const std::size_t buckets_per_part = std::size_t{1} << (bucket_bits - part_bits);

    std::vector<std::size_t> begins(parts + 1, 0);
    for (std::size_t i = 0; i < size; ++i)
        if (hash[i] != 0) ++begins[(hash[i] >> (64 - part_bits)) + 1];
    for (std::size_t part = 0; part < parts; ++part) begins[part + 1] += begins[part];

    CountedLevel level(std::size_t{1} << bucket_bits);
    BigArray<Event> events;
    std::vector<std::size_t> places(parts);
    for (std::size_t first = 0, last; first < parts; first = last) {
        last = first + 1;
        while (last < parts && begins[last + 1] - begins[first] <= events_per_pass) ++last;
        const std::size_t base = begins[first];
        if (events.size() < begins[last] - base) events = BigArray<Event>(begins[last] - base);
        for (std::size_t part = first; part < last; ++part) places[part] = begins[part] - base;
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t part = hash[i] >> (64 - part_bits);
            if (hash[i] == 0 || part < first || part >= last) continue;
            events[places[part]++] = {hash[i], words[i], next ? next->data()[i] : no_value,
                                      static_cast<std::uint32_t>(i)};
        }
        std::vector<CountedContexts> counted(last - first);
        pool.run(last - first, [&](std::size_t index, int) {
            const std::size_t part = first + index;
            Event *from = events.data() + (begins[part] - base),
                  *to = events.data() + (begins[part + 1] - base);
            std::sort(from, to);
            PartCounter(LevelWriter(bucket_bits, next.has_value()), min_count, hash)
                .count(from, static_cast<std::size_t>(to - from), part * buckets_per_part,
                       (part + 1) * buckets_per_part, counted[index]);
        });
        level.add(std::move(counted));
    }
    events = {};
    LevelArrays made = level.take_arrays();
    const CountedContexts& totals = level.totals;
    return {std::move(made.directory),
            std::move(made.entries),
            std::move(made.long_begins),
            std::move(made.long_words),
            std::move(made.long_counts),
            std::move(made.long_contexts),
            totals.contexts,
            totals.ngrams,
            {totals.seen_in[0], totals.seen_in[1]}};
}

void extend_context_hashes(InOut<std::uint64_t> hashes, In<std::uint32_t> values, int threads) {
    require(hashes.size() == values.size(), "each context needs a value");
    ThreadPool pool(threads);
    for_slices(pool, 0, hashes.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            std::uint64_t& hash = hashes[i];
            if (hash != 0) hash = values[i] == no_value ? 0 : extend_hash(hash, values[i]);
        }
    });
}

}  // namespace stategram
