// The tree of words from a hierarchy of word classes: the root decides whether the sentence ends; below it
// are the classes by their hierarchy, and in each class its words as Huffman (1952) puts them together by
// their counts.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "word_tree/kernels.hpp"
#include "word_tree/tree.hpp"

namespace stategram {
namespace {

constexpr std::int64_t none = -1;

// Nodes below `n_words` are words.
class CodeBuilder {
 public:
    explicit CodeBuilder(std::size_t n_words) : n_words_(static_cast<std::int64_t>(n_words)) {}

    std::int64_t join(std::int64_t left, std::int64_t right) {
        if (left == none) return right;
        if (right == none) return left;
        sides_.emplace_back(left, right);
        return n_words_ + static_cast<std::int64_t>(sides_.size()) - 1;
    }

    // Of equally frequent nodes, that which was first is taken first.
    std::int64_t huffman(const std::vector<std::pair<std::uint64_t, std::int64_t>>& words) {
        using Entry = std::tuple<std::uint64_t, std::size_t, std::int64_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
        std::size_t number = 0;
        for (const auto& [count, word] : words) waiting.emplace(count, number++, word);
        if (waiting.empty()) return none;
        while (waiting.size() > 1) {
            const auto [first_count, first_number, first] = waiting.top();
            waiting.pop();
            const auto [second_count, second_number, second] = waiting.top();
            waiting.pop();
            waiting.emplace(first_count + second_count, number++, join(first, second));
        }
        return std::get<2>(waiting.top());
    }

    void assign(std::int64_t root, std::vector<std::uint32_t>& codes,
                std::vector<std::uint8_t>& lengths) const {
        std::vector<std::size_t> leaves(sides_.size());
        const auto n_leaves = [&](std::int64_t node) {
            return node < n_words_ ? 1 : leaves[static_cast<std::size_t>(node - n_words_)];
        };
        for (std::size_t i = 0; i < sides_.size(); ++i)  // a node comes after its sides
            leaves[i] = n_leaves(sides_[i].first) + n_leaves(sides_[i].second);
        struct Open {
            std::int64_t node;
            std::uint32_t code;
            int depth;
        };
        std::vector<Open> open{{root, 0, 0}};
        while (!open.empty()) {
            const Open at = open.back();
            open.pop_back();
            if (at.node < n_words_) {
                codes[static_cast<std::size_t>(at.node)] = at.code;
                lengths[static_cast<std::size_t>(at.node)] = static_cast<std::uint8_t>(at.depth);
                continue;
            }
            const auto& [left, right] = sides_[static_cast<std::size_t>(at.node - n_words_)];
            if (!fits(n_leaves(left), at.depth + 1) || !fits(n_leaves(right), at.depth + 1)) {
                assign_balanced(at.node, at.code, at.depth, codes, lengths);
                continue;
            }
            open.push_back({left, at.code, at.depth + 1});
            open.push_back({right, at.code | std::uint32_t{1} << (31 - at.depth), at.depth + 1});
        }
    }

 private:
    // Whether so many words can be told apart with the bits that are left.
    static bool fits(std::size_t n, int depth) {
        return std::bit_width(n - 1) <= static_cast<std::size_t>(max_depth - depth);
    }

    // Below a node that is too deep the words are divided evenly, in their order.
    void assign_balanced(std::int64_t node, std::uint32_t code, int depth, std::vector<std::uint32_t>& codes,
                         std::vector<std::uint8_t>& lengths) const {
        std::vector<std::int64_t> words, open{node};
        while (!open.empty()) {
            const std::int64_t at = open.back();
            open.pop_back();
            if (at < n_words_) {
                words.push_back(at);
                continue;
            }
            open.push_back(sides_[static_cast<std::size_t>(at - n_words_)].second);
            open.push_back(sides_[static_cast<std::size_t>(at - n_words_)].first);
        }
        const auto divide = [&](const auto& self, std::size_t begin, std::size_t end, std::uint32_t bits,
                                int length) -> void {
            if (end - begin == 1) {
                codes[static_cast<std::size_t>(words[begin])] = bits;
                lengths[static_cast<std::size_t>(words[begin])] = static_cast<std::uint8_t>(length);
                return;
            }
            const std::size_t middle = begin + (end - begin) / 2;
            self(self, begin, middle, bits, length + 1);
            self(self, middle, end, bits | std::uint32_t{1} << (31 - length), length + 1);
        };
        divide(divide, 0, words.size(), code, depth);
    }

    std::int64_t n_words_;
    std::vector<std::pair<std::int64_t, std::int64_t>> sides_;
};

}  // namespace

std::pair<Out<std::uint32_t>, Out<std::uint8_t>> word_tree_codes(In<std::int64_t> counts,
                                                                 In<std::int64_t> labels,
                                                                 In<std::int64_t> merges,
                                                                 std::uint32_t begin_word,
                                                                 std::uint32_t end_word) {
    const std::size_t n_words = counts.size(), n_classes = merges.size() / 2 + 1;
    require(labels.size() == n_words && merges.size() % 2 == 0, "each word needs a class");
    require(begin_word < n_words && end_word < n_words && n_words >= 3 && n_words < UINT32_MAX / max_depth,
            "the special words are not there");
    std::vector<std::uint32_t> codes(n_words, 0);
    std::vector<std::uint8_t> lengths(n_words, 0);
    std::vector<std::vector<std::pair<std::uint64_t, std::int64_t>>> members(n_classes);
    for (std::size_t word = 0; word < n_words; ++word) {
        if (word == begin_word || word == end_word) continue;
        require(counts[word] >= 0 && labels[word] < static_cast<std::int64_t>(n_classes),
                "a word has a class that is not there");
        // Words that do not occur have no class; they go to the first one.
        const auto label = static_cast<std::size_t>(std::max<std::int64_t>(labels[word], 0));
        members[label].emplace_back(static_cast<std::uint64_t>(counts[word]),
                                    static_cast<std::int64_t>(word));
    }
    CodeBuilder builder(n_words);
    std::vector<std::int64_t> nodes;
    for (const auto& words : members) nodes.push_back(builder.huffman(words));
    std::vector<bool> is_merged(n_classes + merges.size() / 2, false);
    for (std::size_t i = 0; i < merges.size(); i += 2) {
        const std::int64_t first = merges[i], second = merges[i + 1];
        for (const std::int64_t side : {first, second}) {
            require(side >= 0 && static_cast<std::size_t>(side) < nodes.size() &&
                        !is_merged[static_cast<std::size_t>(side)],
                    "the hierarchy of the classes is not a tree");
            is_merged[static_cast<std::size_t>(side)] = true;
        }
        nodes.push_back(
            builder.join(nodes[static_cast<std::size_t>(first)], nodes[static_cast<std::size_t>(second)]));
    }
    builder.assign(builder.join(nodes.back(), static_cast<std::int64_t>(end_word)), codes, lengths);
    return std::pair(std::move(codes), std::move(lengths));
}

}  // namespace stategram
