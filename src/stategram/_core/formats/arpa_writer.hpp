// The n-grams of a trie as the lines of an ARPA file.
//
// All n-grams are in the order of the ids of their words, as the words themselves: a reader that keeps
// n-grams as they come, such as IRSTLM's, finds them by the positions of their words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "formats/number_text.hpp"
#include "ngrams/plain_trie.hpp"

namespace stategram {

class ArpaWriter : public Exclusive {
 public:
    ArpaWriter(In<std::uint8_t> letters, In<std::int64_t> offsets, std::shared_ptr<const PlainTrie> trie,
               int threads)
        : letters_(letters), offsets_(offsets), keeper_(std::move(trie)), trie_(*keeper_), pool_(threads) {
        const char* const message = "the words and the trie do not fit together";
        require(offsets_.size() == trie_.n_words() + 1, message);
        check_offsets(offsets_, letters_.size(), message);
        sort();
    }

    OutBytes<> lines(std::size_t level, std::int64_t begin, std::int64_t end) {
        require(level >= 1 && level <= trie_.order() && begin >= 0 && begin <= end &&
                    end <= trie_.begins[level + 1] - trie_.begins[level],
                "there are no such n-grams");
        OutBytes<> parts;
        parts.resize(static_cast<std::size_t>((end - begin + nodes_a_task - 1) / nodes_a_task));
        pool_.run(parts.size(), [&](std::size_t i, int) {
            const std::int64_t first = begin + static_cast<std::int64_t>(i) * nodes_a_task;
            parts[i] = text(level, first, std::min(first + nodes_a_task, end));
        });
        return parts;
    }

 private:
    static constexpr std::int64_t nodes_a_task = 1 << 14;

    // Finds the place of each node if children are ordered by the ids of their words.
    void sort() {
        ids_.resize(trie_.numbers.size());
        for (std::size_t id = 0; id < ids_.size(); ++id)
            ids_[trie_.numbers[id]] = static_cast<std::uint32_t>(id);
        const std::size_t inner = trie_.begin(trie_.order());
        nodes_.resize(trie_.size());
        first_child_.resize(inner + 1);
        nodes_[0] = 0;
        for (std::size_t level = 0; level < trie_.order(); ++level) {
            std::size_t next = trie_.begin(level + 1);
            for (std::size_t place = trie_.begin(level); place < trie_.begin(level + 1); ++place) {
                first_child_[place] = static_cast<std::uint32_t>(next);
                next += trie_.first_child[nodes_[place] + 1] - trie_.first_child[nodes_[place]];
            }
            first_child_[inner] = static_cast<std::uint32_t>(trie_.size());
            for_slices(pool_, trie_.begin(level), trie_.begin(level + 1),
                       [&](std::size_t from, std::size_t to) {
                           for (std::size_t place = from; place < to; ++place) sort_children(place);
                       });
        }
    }

    void sort_children(std::size_t place) {
        std::uint32_t* const first = nodes_.data() + first_child_[place];
        std::uint32_t* last = first;
        for (std::uint32_t child = trie_.first_child[nodes_[place]];
             child < trie_.first_child[nodes_[place] + 1]; ++child)
            *last++ = child;
        std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) { return last_id(a) < last_id(b); });
    }

    // The lines of the n-grams begin .. end - 1 of a level.
    std::string text(std::size_t level, std::int64_t begin, std::int64_t end) const {
        std::string out;
        if (begin == end) return out;
        const std::size_t first = trie_.begin(level);
        std::vector<std::size_t> path(level);  // the place of each level 1 .. level - 1 over the present one
        const std::size_t start = first + static_cast<std::size_t>(begin);
        for (std::size_t above = level - 1, place = start; above >= 1; --above)
            place = path[above] = parent(above, place);
        std::string words = words_of(path);
        for (std::size_t place = start; place < first + static_cast<std::size_t>(end); ++place) {
            if (level > 1 && first_child_[path[level - 1] + 1] <= place) {
                for (std::size_t above = level - 1, below = place; above >= 1; below = path[above], --above)
                    while (first_child_[path[above] + 1] <= below) ++path[above];
                words = words_of(path);
            }
            write(out, level, nodes_[place], words);
        }
        return out;
    }

    std::size_t parent(std::size_t level, std::size_t place) const {
        std::size_t low = trie_.begin(level), high = trie_.begin(level + 1);
        while (high - low > 1) {
            const std::size_t middle = low + (high - low) / 2;
            (first_child_[middle] <= place ? low : high) = middle;
        }
        return low;
    }

    std::string words_of(const std::vector<std::size_t>& path) const {
        std::string words;
        for (std::size_t above = 1; above < path.size(); ++above) {
            words += last_word(nodes_[path[above]]);
            words += ' ';
        }
        return words;
    }

    void write(std::string& out, std::size_t level, std::size_t node, std::string_view words) const {
        write_log(out, trie_.log_probs[node]);
        out += '\t';
        out += words;
        out += last_word(node);
        if (level < trie_.order()) {
            const float backoff = trie_.backoffs[node];
            // As in SRILM, an n-gram that nothing follows has no weight.
            if (backoff != 0 || trie_.has_children(node)) {
                out += '\t';
                write_log(out, backoff);
            }
        }
        out += '\n';
    }

    // -inf is -99.
    static void write_log(std::string& out, float log) {
        char number[longest_number];
        out.append(number, write_number(number, std::isinf(log) ? -99.0f : log));
    }

    std::uint32_t last_id(std::size_t node) const { return ids_[trie_.words[node]]; }
    std::string_view last_word(std::size_t node) const {
        const std::uint32_t id = last_id(node);
        return {reinterpret_cast<const char*>(letters_.data()) + offsets_[id],
                static_cast<std::size_t>(offsets_[id + 1] - offsets_[id])};
    }

    In<std::uint8_t> letters_;
    In<std::int64_t> offsets_;
    std::shared_ptr<const PlainTrie> keeper_;
    const PlainTrie& trie_;
    std::vector<std::uint32_t> ids_;          // of the words, in the order of their numbers
    std::vector<std::uint32_t> nodes_;        // in the order of ids, level by level
    std::vector<std::uint32_t> first_child_;  // in that order
    ThreadPool pool_;
};

}  // namespace stategram
