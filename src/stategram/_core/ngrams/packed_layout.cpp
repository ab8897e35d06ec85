#include "ngrams/packed_layout.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace stategram {
namespace {

constexpr std::size_t nodes_a_task = std::size_t{1} << 16;

// Bytes of so many bits, rounded up to whole words of 64.
std::size_t bytes_of(std::uint64_t bits) { return static_cast<std::size_t>((bits + 63) / 64 * 8); }

std::size_t table_size(unsigned bits) { return bits == 32 ? 0 : std::size_t{1} << bits; }

}  // namespace

unsigned word_bits(std::size_t vocabulary) {
    return std::max(1u, static_cast<unsigned>(std::bit_width(vocabulary - 1)));
}

unsigned record_bits(int words, int order, unsigned bits_of_word, const std::uint8_t* widths) {
    return (words > 2 ? bits_of_word : 0) + widths[0] + (words == order ? 0u : widths[1] + widths[2]);
}

LevelSizes level_sizes(int words, int order, std::size_t size, unsigned bits_of_word,
                       const std::uint8_t* widths) {
    const bool leaves = words == order;
    const std::uint64_t n_records = leaves ? size : size + 1;
    return {words == 2 ? bytes_of(std::uint64_t{size} * bits_of_word) : 0,
            bytes_of(n_records * record_bits(words, order, bits_of_word, widths)),
            leaves ? 0 : (size >> block_shift) + 1, table_size(widths[0]),
            leaves ? 0 : table_size(widths[1])};
}

std::vector<PackedLevel> packed_levels(const PackedArrays& arrays) {
    const char* const sizes_differ = "the sizes of its arrays do not fit together";
    require_sound(arrays.begins.size() >= 3 && arrays.begins.size() <= most_words + 2,
                  "it has no orders, or more than nine");
    const auto order = static_cast<int>(arrays.begins.size()) - 2;
    const std::int64_t* begins = arrays.begins.data();
    require_sound(begins[0] == 0 && begins[1] == 1 && std::is_sorted(begins, begins + order + 2),
                  "the orders do not begin one after the other");
    require_sound(
        arrays.numbers.size() > 0 && begins[2] - 1 == static_cast<std::int64_t>(arrays.numbers.size()),
        "not every word of the vocabulary has a unigram");
    require_sound(arrays.widths.rows == static_cast<std::size_t>(order) && arrays.widths.columns == 3,
                  sizes_differ);
    std::vector<PackedLevel> levels(static_cast<std::size_t>(order));
    const unsigned bits_of_word = word_bits(arrays.numbers.size());
    std::size_t words = 0, records = 0, bases = 0, values = 0;
    for (int k = 1; k <= order; ++k) {
        PackedLevel& level = levels[static_cast<std::size_t>(k - 1)];
        const auto size = static_cast<std::uint64_t>(begins[k + 1] - begins[k]);
        require_sound(size < no_node, "it has 2^32 n-grams or more of one length");
        const std::uint8_t* widths = arrays.widths.data() + 3 * (k - 1);
        const auto fine = [](unsigned bits) { return bits == 32 || bits <= 16; };
        require_sound(fine(widths[0]) && fine(widths[1]) && widths[2] <= 32, "there are no such values");
        const LevelSizes here = level_sizes(k, order, size, bits_of_word, widths);
        level.size = static_cast<std::uint32_t>(size);
        if (k < order) level.n_children = static_cast<std::uint32_t>(begins[k + 2] - begins[k + 1]);
        level.records = arrays.records.data() + records;
        level.record_stride = record_bits(k, order, bits_of_word, widths);
        level.words = k == 2 ? arrays.words.data() + words : level.records;
        level.word_stride = k == 2 ? bits_of_word : level.record_stride;
        level.log_probs = {widths[0], arrays.values.data() + values};
        level.child_at = k > 2 ? bits_of_word : 0;
        level.log_prob_at = level.child_at;
        if (k < order) {
            level.bases = arrays.bases.data() + bases;
            level.child_bits = widths[2];
            level.log_prob_at = level.child_at + level.child_bits;
            level.backoff_at = level.log_prob_at + widths[0];
            level.backoffs = {widths[1], arrays.values.data() + values + here.log_prob_values};
        }
        words += here.words;
        records += here.records;
        bases += here.bases;
        values += here.log_prob_values + here.backoff_values;
        require_sound(words <= arrays.words.size() && records <= arrays.records.size() &&
                          bases <= arrays.bases.size() && values <= arrays.values.size(),
                      sizes_differ);
    }
    require_sound(words + bits_padding == arrays.words.size() &&
                      records + bits_padding == arrays.records.size() && bases == arrays.bases.size() &&
                      values == arrays.values.size(),
                  sizes_differ);
    std::vector<bool> seen(arrays.numbers.size());
    for (std::size_t id = 0; id < arrays.numbers.size(); ++id) {
        const std::uint32_t number = arrays.numbers[id];
        require_sound(number < arrays.numbers.size() && !seen[number],
                      "two words have the same number, or one has none");
        seen[number] = true;
    }
    return levels;
}

void check_ngrams(const PackedTrie& trie, ThreadPool& pool) {
    for (int k = 1; k <= trie.order(); ++k) {
        const PackedLevel& level = trie.level(k);
        const bool leaves = k == trie.order();
        if (!leaves)
            require_sound(PackedTrie::first_child(level, 0) == 0 &&
                              PackedTrie::first_child(level, level.size) == level.n_children,
                          "the children of an order do not begin with the next order");
        pool.run((level.size + nodes_a_task - 1) / nodes_a_task, [&](std::size_t task, int) {
            const auto first = static_cast<std::uint32_t>(task * nodes_a_task);
            const auto last =
                static_cast<std::uint32_t>(std::min<std::size_t>(level.size, (task + 1) * nodes_a_task));
            for (std::uint32_t node = first; node < last; ++node) {
                require_sound(PackedTrie::log_prob(level, node) <= 0,
                              "a log probability is above 0 or not a number");
                if (leaves) continue;
                const NgramHistory history = PackedTrie::history(level, node);
                require_sound(history.backoff < std::numeric_limits<float>::infinity(),
                              "a back-off weight is not a number");
                const PackedLevel& next = trie.level(k + 1);
                const auto [begin, end] = history.children;
                for (std::uint32_t child = begin; child < end; ++child) {
                    require_sound(trie.word(next, child) < trie.vocabulary(),
                                  "the number of a word is not below the vocabulary");
                    require_sound(child == begin || trie.word(next, child - 1) < trie.word(next, child),
                                  "the words after an n-gram are not in rising order");
                }
            }
        });
    }
}

}  // namespace stategram
