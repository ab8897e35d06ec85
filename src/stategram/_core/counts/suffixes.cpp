// The suffix of every n-gram: the node of the same n-gram without its first word.
//
// The suffix of (parent, word) is a child of the parent's suffix. Both lists of children are in rising order
// of their words, and every suffix of an n-gram of the text is there, so one list is part of the other.
#include <algorithm>
#include <cstdint>
#include <stdexcept>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/prefetch.hpp"
#include "base/threads.hpp"
#include "counts/kernels.hpp"

namespace stategram {
namespace {

void add_one(std::uint32_t& count) {
#if defined(_MSC_VER)
    _InterlockedIncrement(reinterpret_cast<volatile long*>(&count));
#else
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
#endif
}

// The n-grams of k - 2 and k - 1 words, where the suffixes are.
struct Lower {
    const std::uint32_t *first_child, *words;
    std::uint64_t n_words;  // of the vocabulary
};

// The place of `word` in words[begin .. end), which are in rising order and lie evenly between `from` and the
// size of the vocabulary: guessed, then walked to.
std::size_t find_from(const Lower& lower, std::size_t begin, std::size_t end, std::uint32_t from,
                      std::uint32_t word) {
    const std::uint32_t* words = lower.words;
    std::size_t at =
        begin + static_cast<std::size_t>((word - from) * std::uint64_t{end - begin} / (lower.n_words - from));
    // A wrong guess is wrong by little; steps that double reach whatever distance.
    if (words[at] < word) {
        std::size_t step = 1;
        while (at + step < end && words[at + step] < word) at += step, step *= 2;
        const std::size_t stop = std::min(at + step, end);
        return static_cast<std::size_t>(std::lower_bound(words + at, words + stop, word) - words);
    }
    std::size_t step = 1;
    while (at >= begin + step && words[at - step] > word) at -= step, step *= 2;
    const std::size_t start = at >= begin + step ? at - step : begin;
    return static_cast<std::size_t>(std::lower_bound(words + start, words + at + 1, word) - words);
}

// The suffixes of the children [child, child_end) of a node whose suffix has the children [begin, end).
void link_children(const Lower& lower, const std::uint32_t* words, std::size_t child, std::size_t child_end,
                   std::size_t begin, std::size_t end, std::uint32_t* suffixes) {
    const std::size_t few = 16;
    std::uint32_t from = 0;
    for (; child < child_end; ++child) {
        const std::uint32_t word = words[child];
        if (word < from || word >= lower.n_words)
            throw std::invalid_argument("the words after an n-gram are not in rising order");
        if (end - begin <= few * (child_end - child))
            while (begin < end && lower.words[begin] < word) ++begin;
        else
            begin = find_from(lower, begin, end, from, word);
        if (begin >= end || lower.words[begin] != word)
            throw std::invalid_argument("an n-gram lacks its suffix");
        suffixes[child] = static_cast<std::uint32_t>(begin++);
        from = word + 1;
    }
}

}  // namespace

void link_ngrams(In<std::uint32_t> words, In<std::uint32_t> parents_first_child,
                 In<std::uint32_t> parents_suffix, In<std::uint32_t> lower_first_child,
                 In<std::uint32_t> lower_words, std::uint32_t n_words, std::size_t begin, std::size_t end,
                 InOut<std::uint32_t> suffixes, InOut<std::uint32_t> continuations, int threads) {
    require(parents_first_child.size() == parents_suffix.size() + 1 && suffixes.size() == words.size() &&
                continuations.size() == lower_words.size() && lower_first_child.size() > 0 && begin <= end &&
                end <= parents_suffix.size(),
            "the levels do not fit together");
    const Lower lower{lower_first_child.data(), lower_words.data(), n_words};
    const std::uint32_t *first_child = parents_first_child.data(), *parent_suffix = parents_suffix.data();
    std::uint32_t *suffix = suffixes.data(), *continuation = continuations.data();
    check_children(first_child, begin, end, words.size());
    check_suffixes(parent_suffix, begin, end, lower_first_child.size() - 1);
    ThreadPool pool(threads);
    for_slices(pool, begin, end, [&](std::size_t first, std::size_t last) {
        for (std::size_t parent = first; parent < last; ++parent) {
            // Suffixes lie anywhere in memory: they are asked for some parents ahead.
            if (parent + 24 < last) prefetch(lower.first_child + parent_suffix[parent + 24]);
            if (parent + 12 < last) {
                const std::size_t at = lower.first_child[parent_suffix[parent + 12]];
                prefetch(lower.words + at);
                prefetch(continuation + at);
            }
            const std::size_t child = first_child[parent], child_end = first_child[parent + 1];
            const std::size_t q = parent_suffix[parent];
            const IndexRange among = checked_children(lower.first_child, q, lower_words.size());
            link_children(lower, words.data(), child, child_end, among.begin, among.end, suffix);
            if (threads == 1)
                for (std::size_t i = child; i < child_end; ++i) ++continuation[suffix[i]];
            else
                for (std::size_t i = child; i < child_end; ++i) add_one(continuation[suffix[i]]);
        }
    });
}

}  // namespace stategram
