// From plain arrays of n-grams to packed ones: numbers and values of a few bits each.
#include <algorithm>
#include <bit>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/hash.hpp"
#include "base/threads.hpp"
#include "ngrams/kernels.hpp"
#include "ngrams/packed_layout.hpp"
#include "ngrams/plain_trie.hpp"

namespace stategram {
namespace {

constexpr std::size_t nodes_a_task = std::size_t{1} << 14;  // whole bytes, whatever the bits of each

// Writes numbers one after the other, from a byte on.
class BitWriter {
 public:
    explicit BitWriter(std::uint8_t* out) : out_(out) {}

    void put(std::uint64_t value, unsigned width) {  // of at most 32 bits
        pending_ |= value << filled_;
        filled_ += width;
        while (filled_ >= 8) {
            *out_++ = static_cast<std::uint8_t>(pending_);
            pending_ >>= 8;
            filled_ -= 8;
        }
    }
    // Zeros fill the rest, up to `end` if it is given.
    void finish(std::uint8_t* end = nullptr) {
        if (filled_ > 0) *out_++ = static_cast<std::uint8_t>(pending_);
        if (end != nullptr) std::fill(out_, end, std::uint8_t{0});
    }

 private:
    std::uint8_t* out_;
    std::uint64_t pending_ = 0;
    unsigned filled_ = 0;
};

// The number of a value in a table of rising values, the nearest one; or the value itself.
class Encoder {
 public:
    Encoder(const In<float>& table, unsigned bits) : table_(table.data()), size_(table.size()), bits_(bits) {
        require(bits == 32 ? size_ == 0
                           : size_ == std::size_t{1} << bits && std::is_sorted(table_, table_ + size_),
                "a table of values does not fit its bits");
    }
    unsigned bits() const { return bits_; }
    std::uint32_t code(float value) const {
        if (bits_ == 32) return std::bit_cast<std::uint32_t>(value);
        const float* at = std::lower_bound(table_, table_ + size_, value);
        if (at == table_ + size_) --at;
        // -inf is near to nothing but itself.
        if (at != table_ && *at != value && value - at[-1] < *at - value) --at;
        return static_cast<std::uint32_t>(at - table_);
    }

 private:
    const float* table_;
    std::size_t size_;
    unsigned bits_;
};

}  // namespace

// Packs the n-grams [begin, end) of one length. Their children are counted from `children_begin` on.
void pack_ngrams(int length, int order, In<std::uint32_t> words, In<float> log_probs, In<float> backoffs,
                 In<std::uint32_t> first_child, std::uint32_t children_begin, unsigned bits_of_word,
                 In<std::uint8_t> widths, In<float> log_prob_table, In<float> backoff_table,
                 std::size_t begin, std::size_t end, InOut<std::uint8_t> words_out,
                 InOut<std::uint8_t> records_out, InOut<std::uint32_t> bases_out, int threads) {
    const std::size_t size = log_probs.size();
    const bool leaves = length == order;
    require(widths.size() == 3 && widths[0] <= 32 && widths[1] <= 32 && widths[2] <= 32 &&
                bits_of_word >= 1 && bits_of_word <= 32,
            "there are no such bits");
    require(words.size() == size && begin <= end && end <= size && begin % nodes_a_task == 0 &&
                (end % nodes_a_task == 0 || end == size) &&
                (leaves || (backoffs.size() == size && first_child.size() == size + 1)),
            "the levels do not fit together");
    const unsigned log_prob_bits = widths[0], backoff_bits = widths[1], bits_of_child = widths[2];
    const Encoder log_prob(log_prob_table, log_prob_bits), backoff(backoff_table, leaves ? 32 : backoff_bits);
    const LevelSizes sizes = level_sizes(length, order, size, bits_of_word, widths.data());
    require(words_out.size() == sizes.words && records_out.size() == sizes.records &&
                bases_out.size() == sizes.bases,
            "the arrays to write to have the wrong size");
    const unsigned stride = record_bits(length, order, bits_of_word, widths.data());
    if (!leaves) check_children(first_child.data(), begin, end, no_node);
    ThreadPool pool(threads);
    const std::size_t tasks = std::max<std::size_t>(1, (end - begin + nodes_a_task - 1) / nodes_a_task);
    pool.run(tasks, [&](std::size_t task, int) {
        const std::size_t first = begin + task * nodes_a_task, last = std::min(first + nodes_a_task, end);
        const auto put_word = [&](BitWriter& out, std::size_t i) {
            require(words[i] <= low_bits(bits_of_word), "a word has more bits than all");
            out.put(words[i], bits_of_word);
        };
        if (length == 2) {
            BitWriter out(words_out.data() + first * bits_of_word / 8);
            for (std::size_t i = first; i < last; ++i) put_word(out, i);
            out.finish(last == size ? words_out.data() + words_out.size() : nullptr);
        }
        BitWriter out(records_out.data() + first * stride / 8);
        std::uint32_t base = 0;
        const auto put_child = [&](std::size_t i) {
            const std::uint32_t child = first_child[i] - children_begin;
            if (i % (1u << block_shift) == 0) bases_out[i >> block_shift] = base = child;
            require(child >= base && child - base <= low_bits(bits_of_child),
                    "a first child has more bits than all");
            out.put(child - base, bits_of_child);
        };
        for (std::size_t i = first; i < last; ++i) {
            if (length > 2) put_word(out, i);
            if (!leaves) put_child(i);
            out.put(log_prob.code(log_probs[i]), log_prob_bits);
            if (!leaves) out.put(backoff.code(backoffs[i]), backoff_bits);
        }
        if (!leaves && last == size) {  // where the children of the last one end
            if (length > 2) out.put(0, bits_of_word);
            put_child(size);
        }
        out.finish(last == size ? records_out.data() + records_out.size() : nullptr);
    });
}

// The bits that the first children of n-grams take, less the one of their block.
unsigned child_bits(In<std::uint32_t> first_child) {
    std::uint32_t most = 0, base = 0;
    for (std::size_t i = 0; i < first_child.size(); ++i) {
        const std::uint32_t child = first_child[i];
        if (i % (1u << block_shift) == 0) base = child;
        require(child >= base, "the levels do not fit together: the children of a node are not in order");
        most = std::max(most, child - base);
    }
    return static_cast<unsigned>(std::bit_width(most));
}

// The different values in rising order; none if there are more than `limit`.
Out<float> distinct_values(In<float> values, std::size_t limit) {
    std::vector<float> found;
    std::size_t slots = 16;
    while (slots < 4 * limit) slots *= 2;
    std::vector<std::uint32_t> table(slots);
    std::vector<bool> filled(slots);
    for (std::size_t i = 0; i < values.size(); ++i) {
        // 0 and -0 are the same value.
        const auto bits = std::bit_cast<std::uint32_t>(values[i] + 0.0f);
        std::size_t slot = (bits * golden_ratio >> 20) & (slots - 1);
        while (filled[slot] && table[slot] != bits) slot = (slot + 1) & (slots - 1);
        if (filled[slot]) continue;
        if (found.size() == limit) {
            found.clear();
            break;
        }
        filled[slot] = true;
        table[slot] = bits;
        found.push_back(std::bit_cast<float>(bits));
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace stategram
