// Sorted keys of a text as the levels of a trie, with counts.
//
// Only keys whose first symbol lies in a given range are counted at a time, so that memory stays bounded: the
// results of rising ranges, one after the other, are the whole.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/big_array.hpp"
#include "base/most_words.hpp"
#include "base/threads.hpp"
#include "counts/levels.hpp"
#include "counts/ngram_keys.hpp"
#include "counts/runs.hpp"

namespace stategram {

// The n-grams of one length. Those that begin with node i of the level above are first_child[i] and
// following.
using Level = CountedLevel<BigArray<std::uint32_t>>;

struct Run {
    BigArray<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets;
};

// `Source`: the text. pieces() says into how many pieces it can be cut, and for_keys(begin, end, use) calls
// use(key, first symbol - 1) for every key of some pieces.
template <std::size_t Limbs, typename Source>
class RangeCounter {
    using Key = NgramKey<Limbs>;

 public:
    RangeCounter(const Source& source, int order, int bits, std::uint32_t first, std::uint32_t last,
                 ThreadPool& pool)
        : source_(source), order_(order), bits_(bits), first_(first), last_(last), pool_(pool) {}

    std::vector<Level> count() {
        split();
        sort();
        return make_levels();
    }

    // The keys as a run, and where in it those of each of `bounds`, some rising first symbols, begin.
    Run pack(const RunWords& words, std::span<const std::uint32_t> bounds) {
        split();
        sort();
        return make_run(words, bounds);
    }

 private:
    // Calls use(key) for every key whose first word lies in the range.
    template <typename Use>
    void for_keys(std::size_t begin, std::size_t end, const Use& use) const {
        source_.template for_keys<Limbs>(begin, end, bits_, order_, [&](const Key& key, std::uint32_t first) {
            if (first - first_ < last_ - first_) use(key);
        });
    }

    // Brings the keys to parts of neighbouring values: at most some 2048, what the second-level cache and the
    // address translation can follow.
    void split() {
        const std::uint64_t words = last_ - first_;
        part_bits_ = bits_ + 11 - static_cast<int>(std::bit_width(words));
        part_bits_ = std::clamp(part_bits_, 1, std::min(63, bits_ * order_));
        const int shift = 64 - part_bits_;
        const std::uint64_t base = ((first_ + std::uint64_t{1}) << (64 - bits_)) >> shift;
        const std::uint64_t top = (last_ + std::uint64_t{1}) << (64 - bits_);  // wraps to 0 at the very end
        const std::size_t parts = static_cast<std::size_t>(((top - 1) >> shift) - base + 1);
        auto part_of = [=](const Key& key) {
            return static_cast<std::size_t>((key.limbs[0] >> shift) - base);
        };

        const std::size_t slices = static_cast<std::size_t>(pool_.size());
        auto slice_begin = [&](std::size_t slice) { return source_.pieces() * slice / slices; };
        std::vector<std::vector<std::size_t>> places(slices, std::vector<std::size_t>(parts, 0));
        pool_.run(slices, [&](std::size_t slice, int) {
            std::size_t* place = places[slice].data();
            for_keys(slice_begin(slice), slice_begin(slice + 1),
                     [&](const Key& key) { ++place[part_of(key)]; });
        });
        begins_.assign(parts + 1, 0);
        std::size_t total = 0;
        for (std::size_t part = 0; part < parts; ++part) {
            begins_[part] = total;
            for (auto& place : places) {
                const std::size_t here = place[part];
                place[part] = total;
                total += here;
            }
        }
        begins_[parts] = total;
        keys_ = BigArray<Key>(total);
        pool_.run(slices, [&](std::size_t slice, int) {
            std::size_t* place = places[slice].data();
            for_keys(slice_begin(slice), slice_begin(slice + 1),
                     [&](const Key& key) { keys_[place[part_of(key)]++] = key; });
        });
    }

    // Sorts every part and leaves one of each key at its beginning, with its count.
    void sort() {
        const std::size_t parts = begins_.size() - 1;
        counts_ = BigArray<std::uint32_t>(keys_.size());
        ends_.resize(parts);
        std::vector<std::vector<Key>> scratch(static_cast<std::size_t>(pool_.size()));
        pool_.run(parts, [&](std::size_t part, int worker) {
            auto& other = scratch[static_cast<std::size_t>(worker)];
            Key* keys = keys_.data();
            const std::size_t begin = begins_[part], end = begins_[part + 1];
            if (other.size() < end - begin) other.resize(end - begin);
            sort_keys(keys + begin, other.data(), end - begin, part_bits_ / 8 * 8);
            std::size_t out = begin;
            for (std::size_t i = begin; i < end; ++out) {
                const std::size_t same = i;
                while (i < end && keys[i] == keys[same]) ++i;
                keys[out] = keys[same];
                counts_[out] = static_cast<std::uint32_t>(i - same);
            }
            ends_[part] = out;
        });
    }

    int length(const Key& key) const { return (key.used_bits() + bits_ - 1) / bits_; }

    // Where the new nodes of each level begin that the keys of a part make.
    struct Place {
        std::array<std::size_t, most_words> at{};
    };

    // For each part the last key of the parts before it.
    std::vector<Key> keys_before() const {
        std::vector<Key> before(ends_.size());
        Key last{};
        for (std::size_t part = 0; part < before.size(); ++part) {
            before[part] = last;
            if (ends_[part] > begins_[part]) last = keys_[ends_[part] - 1];
        }
        return before;
    }

    Run make_run(const RunWords& words, std::span<const std::uint32_t> bounds) {
        const std::size_t parts = ends_.size();
        const std::vector<Key> before = keys_before();
        // Bounds that a part passes, and the bytes of the part before each.
        struct Passed {
            std::size_t bound, bytes;
        };
        std::vector<std::vector<std::uint8_t>> written(parts);
        std::vector<std::vector<Passed>> passed(parts);
        pool_.run(parts, [&](std::size_t part, int) {
            RunWriter<Limbs> writer(words, before[part]);
            const std::uint32_t start = before[part].symbol(0, bits_);  // symbols are numbers + 1
            std::size_t bound = static_cast<std::size_t>(
                std::lower_bound(bounds.begin(), bounds.end(), start) - bounds.begin());
            for (std::size_t i = begins_[part]; i < ends_[part]; ++i) {
                const std::uint32_t number = keys_[i].symbol(0, bits_) - 1;
                for (; bound < bounds.size() && bounds[bound] <= number; ++bound)
                    passed[part].push_back({bound, writer.size()});
                writer.add(keys_[i], counts_[i]);
            }
            written[part] = writer.take();
        });
        keys_ = {};
        counts_ = {};
        Run run;
        std::size_t total = 0;
        for (const auto& bytes : written) total += bytes.size();
        run.bytes = BigArray<std::uint8_t>(total);
        run.offsets.assign(bounds.size(), static_cast<std::int64_t>(total));
        std::size_t at = 0;
        for (std::size_t part = 0; part < parts; ++part) {
            for (const Passed& one : passed[part])
                run.offsets[one.bound] = static_cast<std::int64_t>(at + one.bytes);
            std::copy(written[part].begin(), written[part].end(), run.bytes.data() + at);
            at += written[part].size();
            written[part] = {};
        }
        return run;
    }

    std::vector<Level> make_levels() {
        const std::size_t parts = ends_.size(), levels = static_cast<std::size_t>(order_);
        const std::vector<Key> before = keys_before();
        std::vector<Place> places(parts + 1);
        pool_.run(parts, [&](std::size_t part, int) { places[part] = count_nodes(part, before[part]); });
        Place total;
        for (auto& place : places)
            for (std::size_t level = 0; level < levels; ++level) {
                const std::size_t here = place.at[level];
                place.at[level] = total.at[level];
                total.at[level] += here;
            }

        std::vector<Level> made(levels);
        for (std::size_t level = 1; level < levels; ++level) {
            made[level].words = BigArray<std::uint32_t>(total.at[level]);
            made[level].counts = BigArray<std::uint32_t>(total.at[level], 0);
            made[level].first_child =
                BigArray<std::uint32_t>(level + 1 < levels ? total.at[level] + 1 : std::size_t{0});
        }
        // Words of the range that the text lacks have a node too.
        made[0].words = BigArray<std::uint32_t>(last_ - first_);
        made[0].counts = BigArray<std::uint32_t>(last_ - first_, 0);
        made[0].first_child =
            BigArray<std::uint32_t>(levels > 1 ? last_ - first_ + std::size_t{1} : 0, absent);
        for (std::uint32_t i = 0; i < last_ - first_; ++i) made[0].words[i] = first_ + i;

        std::vector<std::array<std::uint32_t, most_words>> carried(parts);
        pool_.run(parts, [&](std::size_t part, int) {
            fill_nodes(part, before[part], places[part], made, carried[part]);
        });
        for (std::size_t part = 0; part < parts; ++part)
            for (std::size_t level = 0; level < levels; ++level)
                if (carried[part][level] > 0) {
                    const std::size_t node =
                        level == 0 ? before[part].symbol(0, bits_) - 1 - first_ : places[part].at[level] - 1;
                    made[level].counts[node] += carried[part][level];
                }
        if (levels > 1) {
            for (std::size_t level = 0; level + 1 < levels; ++level)
                made[level].first_child[made[level].first_child.size() - 1] =
                    static_cast<std::uint32_t>(total.at[level + 1]);
            for (std::size_t i = last_ - first_; i-- > 0;)
                if (made[0].first_child[i] == absent) made[0].first_child[i] = made[0].first_child[i + 1];
        }
        keys_ = {};
        counts_ = {};
        return made;
    }

    Place count_nodes(std::size_t part, Key before) const {
        Place made;
        for (std::size_t i = begins_[part]; i < ends_[part]; ++i) {
            const Key& key = keys_[i];
            for (int level = key.common_bits(before) / bits_; level < length(key); ++level)
                ++made.at[static_cast<std::size_t>(level)];
            before = key;
        }
        return made;
    }

    // Counts of nodes that an earlier part made go to `carried`.
    void fill_nodes(std::size_t part, Key before, Place next, std::vector<Level>& made,
                    std::array<std::uint32_t, most_words>& carried) const {
        carried.fill(0);
        std::array<std::uint32_t*, most_words> count;
        for (std::size_t level = 0; level < count.size(); ++level) count[level] = &carried[level];
        for (std::size_t i = begins_[part]; i < ends_[part]; ++i) {
            const Key& key = keys_[i];
            const int words = length(key);
            for (int place = key.common_bits(before) / bits_; place < words; ++place) {
                const std::size_t level = static_cast<std::size_t>(place);
                const std::uint32_t word = key.symbol(place, bits_) - 1;
                const std::size_t node = place == 0 ? word - first_ : next.at[level];
                ++next.at[level];
                made[level].words[node] = word;
                if (place + 1 < order_)
                    made[level].first_child[node] = static_cast<std::uint32_t>(next.at[level + 1]);
                count[level] = &made[level].counts[node];
            }
            for (int place = 0; place < words; ++place) *count[static_cast<std::size_t>(place)] += counts_[i];
            before = key;
        }
    }

    static constexpr std::uint32_t absent = UINT32_MAX;

    const Source& source_;
    const int order_, bits_;
    const std::uint32_t first_, last_;
    ThreadPool& pool_;
    int part_bits_ = 0;
    std::vector<std::size_t> begins_, ends_;  // of the parts; the end of what is left of each
    BigArray<Key> keys_;
    BigArray<std::uint32_t> counts_;
};

template <typename Source>
std::vector<Level> count_range(const Source& source, int order, int bits, std::uint32_t first,
                               std::uint32_t last, ThreadPool& pool) {
    return with_limbs(order * bits, [&]<std::size_t Limbs>() {
        return RangeCounter<Limbs, Source>(source, order, bits, first, last, pool).count();
    });
}

}  // namespace stategram
