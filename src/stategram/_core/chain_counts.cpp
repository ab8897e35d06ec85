// Counting one level of a chain: which words follow each context, how often, and after how many distinct
// longer contexts.
//
// Events are brought to parts of neighbouring hashes, which are sorted by (context, word, next value) and
// written one after the other: a level never holds more than a few million events at a time besides the
// result. The parts do not depend on the number of threads.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "chain_level.hpp"
#include "checks.hpp"
#include "threads.hpp"
#include "tree_evidence.hpp"
#include "word_tree.hpp"

namespace stategram {
namespace {

struct Event {
    std::uint64_t hash;
    std::uint32_t word, next;

    bool operator<(const Event& other) const {
        if (hash != other.hash) return hash < other.hash;
        if (word != other.word) return word < other.word;
        return next < other.next;
    }
};

constexpr std::size_t events_per_part = 4096;
constexpr std::size_t events_per_pass = std::size_t{1} << 24;
constexpr std::size_t contexts_per_bucket = 8;

// The counted contexts of consecutive parts.
struct Counted {
    std::vector<std::uint32_t> bucket_sizes;  // in units of four bytes
    std::vector<std::uint8_t> entries;
    std::vector<std::size_t> long_marks;  // where the entries hold the number of a long list
    std::vector<std::int64_t> long_sizes;
    std::vector<Follower> long_followers;
    std::array<std::uint64_t, 2> seen_in{};  // words after one, and after two, distinct longer contexts
    std::uint64_t contexts = 0, ngrams = 0;
};

class PartCounter {
 public:
    PartCounter(int bucket_bits, bool is_last, std::uint32_t min_count)
        : bucket_bits_(bucket_bits), is_last_(is_last), min_count_(min_count) {}

    // Events are sorted; the buckets are [first_bucket, last_bucket).
    void count(const Event* events, std::size_t size, std::size_t first_bucket, std::size_t last_bucket,
               Counted& counted) {
        std::size_t i = 0;
        for (std::size_t bucket = first_bucket; bucket < last_bucket; ++bucket) {
            const std::size_t begin = counted.entries.size();
            while (i < size && events[i].hash >> (64 - bucket_bits_) == bucket)
                i = add_context(events, i, size, counted);
            while ((counted.entries.size() - begin) % 4 != 0) counted.entries.push_back(0);
            counted.bucket_sizes.push_back(static_cast<std::uint32_t>((counted.entries.size() - begin) / 4));
        }
    }

 private:
    std::size_t add_context(const Event* events, std::size_t i, std::size_t size, Counted& counted) {
        const std::uint64_t hash = events[i].hash;
        const std::size_t first = i;
        followers_.clear();
        while (i < size && events[i].hash == hash) {
            Follower one{events[i].word, 0, 0};
            std::uint32_t before = no_value;
            for (; i < size && events[i].hash == hash && events[i].word == one.word; ++i) {
                ++one.count;
                // Without a longer context, each event is one of its own.
                one.contexts +=
                    is_last_ || events[i].next == no_value || events[i].next != before || one.count == 1;
                before = events[i].next;
            }
            followers_.push_back(one);
        }
        if (i - first < min_count_) return i;
        counted.contexts += 1;
        counted.ngrams += followers_.size();
        for (const Follower& one : followers_)
            if (one.contexts <= 2) ++counted.seen_in[one.contexts - 1];
        bytes_.clear();
        if (followers_.size() <= max_short_list)
            write_list(bytes_, followers_.data(), followers_.size(), is_last_);
        const bool is_long = followers_.size() > max_short_list || bytes_.size() >= long_list_mark;
        const std::uint32_t header =
            hash_check(hash) | (is_long ? long_list_mark : static_cast<std::uint32_t>(bytes_.size())) << 24;
        if (is_long) {
            bytes_.assign(4, 0);
            counted.long_marks.push_back(counted.entries.size() + 4);
            counted.long_sizes.push_back(static_cast<std::int64_t>(followers_.size()));
            counted.long_followers.insert(counted.long_followers.end(), followers_.begin(), followers_.end());
        }
        const std::size_t at = counted.entries.size();
        counted.entries.resize(at + 4 + bytes_.size());
        std::memcpy(&counted.entries[at], &header, 4);
        std::copy(bytes_.begin(), bytes_.end(),
                  counted.entries.begin() + static_cast<std::ptrdiff_t>(at) + 4);
        return i;
    }

    int bucket_bits_;
    bool is_last_;
    std::uint32_t min_count_;
    std::vector<Follower> followers_;
    std::vector<std::uint8_t> bytes_;
};

// About how many contexts there are, from those whose hash ends in zeros.
std::size_t estimate_contexts(const std::uint64_t* hashes, std::size_t size) {
    const std::uint64_t mask = size < (std::size_t{1} << 20) ? 0 : 63;
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < size; ++i)
        if (hashes[i] != 0 && (hashes[i] & mask) == 0) found.push_back(hashes[i]);
    std::sort(found.begin(), found.end());
    const auto end = std::unique(found.begin(), found.end());
    return static_cast<std::size_t>(end - found.begin()) * (mask + 1);
}

int bits_for(std::size_t number) { return std::max(1, static_cast<int>(std::bit_width(number))); }

auto count_chain_level(In<std::uint64_t> hashes, In<std::uint32_t> words,
                       std::optional<In<std::uint32_t>> next, std::uint32_t min_count, int threads) {
    const std::size_t size = hashes.size();
    require(words.size() == size && (!next || next->size() == size),
            "each event needs a context, a word and a next value");
    require(size < UINT32_MAX, "there are too many events");
    Counted all;
    std::vector<std::uint32_t> directory;
    std::vector<std::int64_t> long_begins{0};
    int bucket_bits = 1;
    BigArray<std::uint8_t> entries;  // on large pages
    {
        nb::gil_scoped_release release;
        ThreadPool pool(threads);
        const std::uint64_t* hash = hashes.data();
        const int part_bits = bits_for(size / events_per_part);
        const std::size_t parts = std::size_t{1} << part_bits;
        bucket_bits = std::max(part_bits, bits_for(estimate_contexts(hash, size) / contexts_per_bucket));
        const std::size_t buckets_per_part = std::size_t{1} << (bucket_bits - part_bits);

        std::vector<std::size_t> begins(parts + 1, 0);
        for (std::size_t i = 0; i < size; ++i)
            if (hash[i] != 0) ++begins[(hash[i] >> (64 - part_bits)) + 1];
        for (std::size_t part = 0; part < parts; ++part) begins[part + 1] += begins[part];

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
                events[places[part]++] = {hash[i], words.data()[i], next ? next->data()[i] : no_value};
            }
            std::vector<Counted> counted(last - first);
            pool.run(last - first, [&](std::size_t index, int) {
                const std::size_t part = first + index;
                Event *from = events.data() + (begins[part] - base),
                      *to = events.data() + (begins[part + 1] - base);
                std::sort(from, to);
                PartCounter(bucket_bits, !next, min_count)
                    .count(from, static_cast<std::size_t>(to - from), part * buckets_per_part,
                           (part + 1) * buckets_per_part, counted[index]);
            });
            for (Counted& part : counted) {
                for (const std::size_t mark : part.long_marks) {
                    const auto number = static_cast<std::uint32_t>(long_begins.size() - 1);
                    std::memcpy(&part.entries[mark], &number, 4);
                    long_begins.push_back(long_begins.back() +
                                          part.long_sizes[long_begins.size() - 1 - all.long_sizes.size()]);
                }
                all.long_sizes.insert(all.long_sizes.end(), part.long_sizes.begin(), part.long_sizes.end());
                all.bucket_sizes.insert(all.bucket_sizes.end(), part.bucket_sizes.begin(),
                                        part.bucket_sizes.end());
                all.entries.insert(all.entries.end(), part.entries.begin(), part.entries.end());
                all.long_followers.insert(all.long_followers.end(), part.long_followers.begin(),
                                          part.long_followers.end());
                for (std::size_t i = 0; i < 2; ++i) all.seen_in[i] += part.seen_in[i];
                all.contexts += part.contexts;
                all.ngrams += part.ngrams;
                part = {};
            }
        }
        directory.reserve(all.bucket_sizes.size() + 1);
        std::uint64_t at = 0;
        directory.push_back(0);
        for (const std::uint32_t bucket : all.bucket_sizes) {
            at += bucket;
            require(at <= UINT32_MAX, "a level of a chain is larger than 16 GB");
            directory.push_back(static_cast<std::uint32_t>(at));
        }
        entries = BigArray<std::uint8_t>(all.entries.size());
        std::copy(all.entries.begin(), all.entries.end(), entries.data());
        all.entries = {};
    }
    std::vector<std::uint32_t> long_words, long_counts, long_contexts;
    for (const Follower& one : all.long_followers) {
        long_words.push_back(one.word);
        long_counts.push_back(one.count);
        long_contexts.push_back(one.contexts);
    }
    return std::tuple(to_numpy(std::move(directory)), to_numpy(std::move(entries)),
                      to_numpy(std::move(long_begins)), to_numpy(std::move(long_words)),
                      to_numpy(std::move(long_counts)), to_numpy(std::move(long_contexts)), all.contexts,
                      all.ngrams, std::tuple(all.seen_in[0], all.seen_in[1]));
}

void extend_context_hashes(InOut<std::uint64_t> hashes, In<std::uint32_t> values, int threads) {
    require(hashes.size() == values.size(), "each context needs a value");
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    for_slices(pool, 0, hashes.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            std::uint64_t& hash = hashes.data()[i];
            if (hash != 0) hash = values.data()[i] == no_value ? 0 : extend_hash(hash, values.data()[i]);
        }
    });
}

// Writes one long list in the order of a tree.
class LongListWriter {
 public:
    LongListWriter(const WordTree& tree, bool is_last) : tree_(tree), is_last_(is_last) {}

    void add(std::vector<Follower> followers) {
        std::sort(followers.begin(), followers.end(), [&](const Follower& a, const Follower& b) {
            return tree_.rank(a.word) < tree_.rank(b.word);
        });
        for (std::size_t i = 0; i < followers.size(); ++i)
            require(followers[i].count > 0 && followers[i].contexts > 0 &&
                        (i == 0 || followers[i].word != followers[i - 1].word),
                    "a follower has no counts, or is not the only one of its word");
        begins_.push_back(records_.size());
        records_.push_back(sums(followers.data(), followers.size()));
        divide(followers.data(), followers.size());
    }

    std::vector<std::size_t> begins_;
    std::vector<LongRecord> records_;
    std::vector<std::uint8_t> bytes_;

 private:
    static LongRecord sums(const Follower* followers, std::size_t size) {
        LongRecord sum{0, 0, static_cast<std::uint32_t>(size), 0, 0};
        for (std::size_t i = 0; i < size; ++i) {
            sum.counts += followers[i].count;
            sum.contexts += followers[i].contexts;
        }
        return sum;
    }

    void divide(Follower* followers, std::size_t size) {
        const std::size_t at = records_.size();
        if (size <= max_leaf_list) {
            const auto begin = static_cast<std::uint32_t>(bytes_.size());
            std::sort(followers, followers + size,
                      [](const Follower& a, const Follower& b) { return a.word < b.word; });
            write_list(bytes_, followers, size, is_last_);
            records_.push_back({no_value, static_cast<std::uint32_t>(bytes_.size()) - begin, begin, 0, 0});
            return;
        }
        const int depth = tree_.parting(tree_.code(followers[0].word), tree_.code(followers[size - 1].word));
        const auto right = std::partition_point(followers, followers + size, [&](const Follower& one) {
            return !WordTree::bit(tree_.code(one.word), depth);
        });
        const auto n_left = static_cast<std::size_t>(right - followers);
        LongRecord record = sums(followers, n_left);
        record.node = tree_.path(right->word)[depth];
        records_.push_back(record);
        const std::size_t n_right = size - n_left;
        divide(followers, n_left);
        records_[at].skip = static_cast<std::uint32_t>(records_.size() - at);
        divide(right, n_right);
    }

    const WordTree& tree_;
    bool is_last_;
};

auto divide_long_lists(In<std::int64_t> begins, In<std::uint32_t> words, In<std::uint32_t> counts,
                       In<std::uint32_t> contexts, In<std::uint32_t> codes, In<std::uint8_t> lengths,
                       bool is_last, int threads) {
    check_offsets(begins, words.size(), "the long lists do not follow each other");
    require(counts.size() == words.size() && contexts.size() == words.size(),
            "each follower needs its counts");
    require(codes.size() == lengths.size(), "each word needs a code and its length");
    check_below(words, codes.size(), "a follower is not a word");
    std::vector<std::int64_t> record_begins;
    BigArray<std::uint32_t> records;
    BigArray<std::uint8_t> bytes;
    {
        nb::gil_scoped_release release;
        const WordTree tree(codes.data(), lengths.data(), codes.size());
        for (std::size_t i = 0; i < words.size(); ++i)
            require(tree.length(words.data()[i]) > 0, "a follower is not a word of the tree");
        ThreadPool pool(threads);
        const std::size_t n_lists = begins.size() - 1, n_slices = std::min<std::size_t>(n_lists, 64);
        std::vector<LongListWriter> writers(n_slices, LongListWriter(tree, is_last));
        pool.run(n_slices, [&](std::size_t slice, int) {
            for (std::size_t list = n_lists * slice / n_slices; list < n_lists * (slice + 1) / n_slices;
                 ++list) {
                std::vector<Follower> followers;
                for (auto i = static_cast<std::size_t>(begins.data()[list]);
                     i < static_cast<std::size_t>(begins.data()[list + 1]); ++i)
                    followers.push_back({words.data()[i], counts.data()[i], contexts.data()[i]});
                require(!followers.empty(), "a long list has no words");
                writers[slice].add(std::move(followers));
            }
        });
        std::size_t n_records = 0, n_bytes = 0;
        for (const LongListWriter& writer : writers) {
            for (const std::size_t begin : writer.begins_)
                record_begins.push_back(static_cast<std::int64_t>(n_records + begin));
            n_records += writer.records_.size();
            n_bytes += writer.bytes_.size();
        }
        require(n_bytes <= UINT32_MAX, "the long lists of a level are larger than 4 GB");
        record_begins.push_back(static_cast<std::int64_t>(n_records));
        constexpr std::size_t width = sizeof(LongRecord) / sizeof(std::uint32_t);
        records = BigArray<std::uint32_t>(n_records * width);
        bytes = BigArray<std::uint8_t>(n_bytes);
        std::size_t record = 0, byte = 0;
        for (LongListWriter& writer : writers) {
            for (LongRecord& one : writer.records_)
                if (one.node == no_value) one.types += static_cast<std::uint32_t>(byte);
            std::memcpy(records.data() + record * width, writer.records_.data(),
                        writer.records_.size() * sizeof(LongRecord));
            std::copy(writer.bytes_.begin(), writer.bytes_.end(), bytes.data() + byte);
            record += writer.records_.size();
            byte += writer.bytes_.size();
        }
    }
    return std::tuple(to_numpy(std::move(record_begins)), to_numpy(std::move(records)),
                      to_numpy(std::move(bytes)));
}

}  // namespace

void register_chain_counts(nb::module_& m) {
    m.attr("NO_VALUE") = no_value;
    m.attr("N_COUNT_BUCKETS") = n_count_buckets;
    m.attr("EMPTY_CONTEXT") = empty_context;
    m.def("extend_context_hashes", &extend_context_hashes, nb::arg("hashes").noconvert(),
          nb::arg("values").noconvert(), nb::arg("threads"),
          "Add a value to each context, in place; a context without a value, NO_VALUE, becomes 0.");
    m.def(
        "count_chain_level", &count_chain_level, nb::arg("hashes").noconvert(), nb::arg("words").noconvert(),
        nb::arg("next").noconvert().none(), nb::arg("min_count"), nb::arg("threads"),
        "Return the followers of each context.\n\n"
        "`hashes`: the context of each event, 0 if it has none. `next`: the value by which the next level\n"
        "divides contexts; None on the last level. Contexts of fewer than `min_count` events are left out.\n"
        "The result: directory, entries, beginnings of the long lists, their words, counts and numbers of\n"
        "longer contexts, number of contexts, of n-grams, and of those in one and in two longer contexts.");
    m.def("divide_long_lists", &divide_long_lists, nb::arg("begins").noconvert(),
          nb::arg("words").noconvert(), nb::arg("counts").noconvert(), nb::arg("contexts").noconvert(),
          nb::arg("codes").noconvert(), nb::arg("lengths").noconvert(), nb::arg("is_last"),
          nb::arg("threads"),
          "Return long lists in the order of a tree: where the records of each begin, the records, and the "
          "bytes of\n"
          "the short lists below them.");
}

}  // namespace stategram
