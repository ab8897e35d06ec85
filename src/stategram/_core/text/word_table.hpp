// Words to ids in the order of their first appearance: open addressing over 16-byte slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/prefetch.hpp"
#include "text/utf8.hpp"

namespace stategram {

// What a slot remembers of a word. A word of up to 8 bytes is its own key, padded with NULs, which no word
// holds: equal keys are equal words. A longer word's key is a hash, and equal keys have to be looked into.
inline bool is_long(std::string_view word) { return word.size() > 8; }

// One step of the hash of a long word, for each 8 bytes of it.
inline std::uint64_t hash_step(std::uint64_t hash, std::uint64_t eight) {
    hash = (hash ^ eight) * golden_ratio;
    return hash ^ (hash >> 32);
}

inline std::uint64_t key_of(std::string_view word) {
    const auto rest = [&](std::size_t begin) {
        std::uint64_t x = 0;
        for (std::size_t i = word.size(); i > begin; --i)
            x = x << 8 | static_cast<unsigned char>(word[i - 1]);
        return x;
    };
    if (!is_long(word)) return rest(0);
    std::uint64_t hash = 0;
    std::size_t at = 0;
    for (; at + 8 <= word.size(); at += 8) hash = hash_step(hash, load_eight(word.data() + at));
    return at < word.size() ? hash_step(hash, rest(at)) : hash;
}

// Keys spread over 64 bits, of which a table takes the top ones.
inline std::uint64_t spread(std::uint64_t key) {
    key *= golden_ratio;
    return (key ^ (key >> 32)) * 0xd6e8feb86659fd93u;
}

class WordTable {
 public:
    static constexpr std::uint32_t absent = UINT32_MAX;

    WordTable() : slots_(1024), offsets_(1, 0) {}

    std::size_t size() const { return offsets_.size() - 1; }

    std::string_view word(std::uint32_t id) const {
        return {letters_.data() + offsets_[id], offsets_[id + 1] - offsets_[id]};
    }

    // Brings the place of a word near, some time before it is asked for ...
    void prefetch(std::uint64_t spread_key) const { stategram::prefetch(&slots_[spread_key >> shift_]); }
    // ... and, once the place is near, the letters that a long word will be compared with.
    void prefetch_letters(std::uint64_t spread_key) const {
        const Slot& slot = slots_[spread_key >> shift_];
        if (slot.marked >= long_bit) stategram::prefetch(letters_.data() + offsets_[slot.id()]);
    }

    // The id of a word, or `absent`.
    std::uint32_t find(std::string_view word) const {
        const std::uint64_t key = key_of(word);
        return find(word, key, spread(key));
    }
    std::uint32_t find(std::string_view word, std::uint64_t key, std::uint64_t spread_key) const {
        return slots_[slot_of(key, spread_key, word)].id();
    }

    // The id of a word, which is added if it is new, and counted.
    std::uint32_t count(std::string_view word, std::uint64_t key, std::uint64_t spread_key) {
        std::size_t slot = slot_of(key, spread_key, word);
        if (slots_[slot].marked == 0) slot = add(slot, key, spread_key, word);
        // The count that overflows goes on in a list of its own: slots stay at 16 bytes.
        if (++slots_[slot].low_count == 0) overflows_.push_back(slots_[slot].id());
        return slots_[slot].id();
    }

    // The id of a word, which is added if it is new.
    std::uint32_t find_or_add(std::string_view word) {
        const std::uint64_t key = key_of(word);
        const std::size_t slot = slot_of(key, spread(key), word);
        return slots_[slots_[slot].marked != 0 ? slot : add(slot, key, spread(key), word)].id();
    }

    // How often each word was counted.
    std::vector<std::uint64_t> counts() const {
        std::vector<std::uint64_t> counts(size(), 0);
        for (const Slot& slot : slots_)
            if (slot.marked != 0) counts[slot.id()] = slot.low_count;
        for (std::uint32_t id : overflows_) counts[id] += std::uint64_t{1} << 32;
        return counts;
    }

 private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t marked = 0;  // 0 when empty; otherwise id + 1, and the top bit for a long word
        std::uint32_t low_count = 0;
        std::uint32_t id() const { return (marked & ~long_bit) - 1; }
    };
    static constexpr std::uint32_t long_bit = 0x80000000u;

    // The slot that holds the word, or the empty slot where it belongs.
    std::size_t slot_of(std::uint64_t key, std::uint64_t spread_key, std::string_view word) const {
        const bool looked_into = is_long(word);
        for (std::size_t slot = spread_key >> shift_;; slot = (slot + 1) & (slots_.size() - 1)) {
            const Slot& here = slots_[slot];
            if (here.marked == 0) return slot;
            if (here.key != key || (here.marked >= long_bit) != looked_into) continue;
            if (!looked_into || this->word(here.id()) == word) return slot;
        }
    }

    std::size_t add(std::size_t slot, std::uint64_t key, std::uint64_t spread_key, std::string_view word) {
        if (size() + 2 >= long_bit) throw std::length_error("more than 2^31 distinct words");
        if (2 * size() >= slots_.size()) {
            grow();
            slot = slot_of(key, spread_key, word);
        }
        letters_.append(word);
        offsets_.push_back(letters_.size());
        slots_[slot].key = key;
        slots_[slot].marked = static_cast<std::uint32_t>(size()) | (is_long(word) ? long_bit : 0);
        return slot;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        --shift_;
        for (const Slot& slot : old) {
            if (slot.marked == 0) continue;
            std::size_t at = spread(slot.key) >> shift_;
            while (slots_[at].marked != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
    }

    int shift_ = 64 - 10;  // the top bits of the hash, as many as log2 of the slots
    std::vector<Slot> slots_;
    std::string letters_;
    std::vector<std::size_t> offsets_;
    std::vector<std::uint32_t> overflows_;  // an id for each 2^32 of its count
};

}  // namespace stategram
