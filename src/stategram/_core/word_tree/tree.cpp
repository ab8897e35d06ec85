#include "word_tree/tree.hpp"

#include <algorithm>
#include <numeric>

#include "base/checks.hpp"

namespace stategram {

WordTree::WordTree(const std::uint32_t* codes, const std::uint8_t* lengths, std::size_t n_words)
    : codes_(codes, codes + n_words), ranks_(n_words), lengths_(lengths, lengths + n_words) {
    require(n_words < UINT32_MAX / max_depth, "there are too many words for a tree");
    path_begins_.resize(n_words + 1);
    for (std::uint32_t word = 0; word < n_words; ++word) {
        require(lengths_[word] <= max_depth, "the way to a word is longer than 32 decisions");
        path_begins_[word + 1] = path_begins_[word] + lengths_[word];
        if (lengths_[word] > 0) words_.push_back(word);
    }
    std::sort(words_.begin(), words_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return codes_[a] < codes_[b]; });
    std::uint64_t end = 0;
    for (std::uint32_t rank = 0; rank < words_.size(); ++rank) {
        const std::uint32_t word = words_[rank];
        ranks_[word] = rank;
        codes_by_rank_.push_back(codes_[word]);
        const std::uint64_t width = std::uint64_t{1} << (max_depth - lengths_[word]);
        require(codes_[word] == end && end % width == 0, "the codes of the words are not those of a tree");
        end += width;
    }
    require(end == std::uint64_t{1} << max_depth, "the codes of the words are not those of a whole tree");

    nodes_.resize(path_begins_.back());
    sides_.resize(2 * words_.size(), 0);
    struct Node {
        std::uint32_t begin, end;
        int depth;
        std::uint32_t* name;
    };
    std::vector<Node> open{{0, static_cast<std::uint32_t>(words_.size()), 0, &root_}};
    while (!open.empty()) {
        const Node node = open.back();
        open.pop_back();
        if (node.end - node.begin < 2) continue;
        const std::uint32_t middle = split(node.begin, node.end, node.depth);
        for (std::uint32_t rank = node.begin; rank < node.end; ++rank)
            nodes_[path_begins_[words_[rank]] + static_cast<std::uint32_t>(node.depth)] = middle;
        *node.name = middle;
        open.push_back({node.begin, middle, node.depth + 1, &sides_[2 * middle]});
        open.push_back({middle, node.end, node.depth + 1, &sides_[2 * middle + 1]});
    }
}

std::uint32_t WordTree::split(std::uint32_t begin, std::uint32_t end, int depth) const {
    while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (bit(codes_[words_[middle]], depth))
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

}  // namespace stategram
