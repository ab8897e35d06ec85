#include "ngrams/plain_trie.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/damaged_model.hpp"

namespace stategram {
std::size_t PlainTrie::child(std::size_t node, std::uint32_t word) const {
    const std::uint32_t* const first = words.data() + first_child[node];
    const std::uint32_t* const last = words.data() + first_child[node + 1];
    const std::uint32_t* const found = std::lower_bound(first, last, word);
    return found != last && *found == word ? static_cast<std::size_t>(found - words.data()) : 0;
}

void check_plain(const PlainTrie& trie, ThreadPool& pool) {
    require_sound(trie.begins.size() >= 3, "it has no orders");
    const std::size_t order = trie.order(), total = trie.size();
    require_sound(trie.begins[0] == 0 && trie.begins[1] == 1 &&
                      std::is_sorted(trie.begins.data(), trie.begins.data() + order + 2) &&
                      total < std::numeric_limits<std::uint32_t>::max() && trie.begin(order + 1) == total,
                  "the orders do not begin one after the other");
    const std::size_t inner = trie.begin(order), vocabulary = trie.numbers.size();
    require_sound(trie.log_probs.size() == total && trie.backoffs.size() == inner &&
                      trie.first_child.size() == inner + 1,
                  "the sizes of its arrays do not fit together");
    require_sound(trie.begin(2) - 1 == vocabulary, "not every word of the vocabulary has a unigram");
    for (std::size_t level = 0; level <= order; ++level)
        require_sound(trie.first_child[trie.begin(level)] == trie.begin(level + 1),
                      "the children of an order do not begin with the next order");
    std::vector<bool> seen(vocabulary);
    for (std::size_t id = 0; id < vocabulary; ++id) {
        const std::uint32_t number = trie.numbers[id];
        require_sound(number < vocabulary && !seen[number],
                      "two words have the same number, or one has none");
        seen[number] = true;
    }
    for_slices(pool, 0, inner, [&](std::size_t from, std::size_t to) {
        for (std::size_t node = from; node < to; ++node) {
            const std::size_t first = trie.first_child[node], last = trie.first_child[node + 1];
            require_sound(first <= last && last <= total, "the children of n-grams are not in order");
            for (std::size_t child = first; child < last; ++child)
                require_sound(trie.words[child] < vocabulary &&
                                  (child == first || trie.words[child - 1] < trie.words[child]),
                              "the words after an n-gram are not in rising order");
        }
    });
    for_slices(pool, 0, total, [&](std::size_t from, std::size_t to) {
        for (std::size_t node = from; node < to; ++node) {
            require_sound(trie.log_probs[node] <= 0, "a log probability is above 0 or not a number");
            require_sound(node >= inner || trie.backoffs[node] < std::numeric_limits<float>::infinity(),
                          "a back-off weight is not a number");
        }
    });
}

}  // namespace stategram
