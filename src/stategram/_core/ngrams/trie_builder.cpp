#include "ngrams/trie_builder.hpp"

#include <algorithm>
#include <stdexcept>

namespace stategram {
namespace {

constexpr std::size_t parents_a_task = 1 << 14;

}  // namespace

TrieBuilder::TrieBuilder(std::size_t order, const std::vector<float>& log_probs,
                         const std::vector<float>& backoffs)
    : order_(order),
      n_words_(static_cast<std::uint32_t>(log_probs.size())),
      begins_{0, 1},
      words_(1, 0),
      log_probs_(1, 0),
      backoffs_(1, 0),
      first_child_{1, 1} {
    open_level(log_probs.size());
    for (std::uint32_t word = 0; word < n_words_; ++word)
        put(1 + word, {0, word, log_probs[word], backoffs[word]});
}

// Makes room for the nodes of a new level; none of them has children yet.
void TrieBuilder::open_level(std::size_t count) {
    const std::size_t total = words_.size() + count;
    if (total >= no_node) throw std::length_error("more than 2^32 - 2 n-grams");
    words_.resize(total);
    log_probs_.resize(total);
    begins_.push_back(static_cast<std::int64_t>(total));
    const auto end = static_cast<std::uint32_t>(total);
    if (level() == order_) {
        first_child_.back() = end;
    } else {
        first_child_.pop_back();  // the closing one moves
        first_child_.resize(total + 1, end);
        backoffs_.resize(total);
    }
    view_.emplace(n_words_, total, words_.data(), first_child_.data());
}

void TrieBuilder::put(std::uint32_t node, const NewNgram& ngram) {
    words_[node] = ngram.word;
    log_probs_[node] = ngram.log_prob;
    if (level() < order_) backoffs_[node] = ngram.backoff;
}

NewNgram TrieBuilder::ngram(std::uint32_t node) const {
    return {0, words_[node], log_probs_[node], node < backoffs_.size() ? backoffs_[node] : 0};
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> TrieBuilder::add_level(const NgramChunks& chunks,
                                                                              ThreadPool& pool) {
    std::size_t count = 0;
    for (const auto& chunk : chunks) count += chunk.size();
    open_level(count);
    place_children(chunks, pool);
    return sort_children(pool);
}

// Puts every n-gram among the children of its parent. Each thread reads all n-grams, and places those of a
// range of parents of its own: no two threads meet.
void TrieBuilder::place_children(const NgramChunks& chunks, ThreadPool& pool) {
    const std::uint32_t parents = begin(level() - 1), children = begin(level());
    const std::size_t n_parents = children - parents;
    const auto ranges = static_cast<std::size_t>(std::min(pool.size(), 8));
    const auto bound = [&](std::size_t range) {
        return parents + static_cast<std::uint32_t>(n_parents * range / ranges);
    };
    std::vector<std::uint32_t> next(n_parents + 1, 0);
    pool.run(ranges, [&](std::size_t range, int) {
        const std::uint32_t low = bound(range), width = bound(range + 1) - low;
        for (const auto& chunk : chunks)
            for (const NewNgram& ngram : chunk)
                if (ngram.parent - low < width) ++next[ngram.parent - parents];
    });
    std::uint32_t at = children;
    for (std::size_t i = 0; i < n_parents; ++i) {
        first_child_[parents + i] = at;
        at += std::exchange(next[i], at);
    }
    pool.run(ranges, [&](std::size_t range, int) {
        const std::uint32_t low = bound(range), width = bound(range + 1) - low;
        for (const auto& chunk : chunks)
            for (const NewNgram& ngram : chunk)
                if (ngram.parent - low < width) put(next[ngram.parent - parents]++, ngram);
    });
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> TrieBuilder::sort_children(ThreadPool& pool) {
    const std::uint32_t parents = begin(level() - 1), children = begin(level());
    const std::size_t tasks = (children - parents + parents_a_task - 1) / parents_a_task;
    std::vector<std::vector<NewNgram>> scratch(static_cast<std::size_t>(pool.size()));
    std::vector<std::pair<std::uint32_t, std::uint32_t>> twice(tasks, {no_node, 0});
    pool.run(tasks, [&](std::size_t task, int worker) {
        auto& group = scratch[static_cast<std::size_t>(worker)];
        const std::size_t last = std::min<std::size_t>(parents + (task + 1) * parents_a_task, children);
        for (auto parent = static_cast<std::uint32_t>(parents + task * parents_a_task); parent < last;
             ++parent) {
            const std::uint32_t low = first_child_[parent], high = first_child_[parent + 1];
            const auto rising = [&] {
                for (std::uint32_t node = low + 1; node < high; ++node)
                    if (words_[node - 1] >= words_[node]) return false;
                return true;
            };
            if (high - low < 2 || rising()) continue;
            group.clear();
            for (std::uint32_t node = low; node < high; ++node) group.push_back(ngram(node));
            std::sort(group.begin(), group.end(),
                      [](const NewNgram& a, const NewNgram& b) { return a.word < b.word; });
            for (std::uint32_t node = low; node < high; ++node) {
                put(node, group[node - low]);
                if (node > low && words_[node - 1] == words_[node] && twice[task].first == no_node)
                    twice[task] = {parent, words_[node]};
            }
        }
    });
    for (const auto& found : twice)
        if (found.first != no_node) return found;
    return std::nullopt;
}

std::uint32_t TrieBuilder::find(const std::uint32_t* words, std::size_t length) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < length && node != no_node; ++i) node = view_->find_child(node, words[i]);
    return node;
}

void TrieBuilder::find_many(const NgramWords* words, std::size_t count, std::size_t length,
                            std::uint32_t* found) const {
    struct Search {
        ChildRange range;
        std::uint32_t window;
    };
    constexpr std::size_t batch = 64;
    Search searches[batch];
    for (std::size_t first = 0; first < count; first += batch) {
        const std::size_t last = std::min(first + batch, count);
        for (std::size_t i = first; i < last; ++i) {
            found[i] = 1 + words[i][0];
            if (length > 1) view_->prefetch_children(found[i]);
        }
        for (std::size_t at = 1; at < length; ++at) {
            for (std::size_t i = first; i < last; ++i) {
                Search& search = searches[i - first];
                search = {{0, 0}, 0};
                if (found[i] == no_node) continue;
                search.range = view_->children(found[i]);
                search.window = view_->first_window(search.range, words[i][at]);
                view_->prefetch_window(search.range, search.window);
            }
            for (std::size_t i = first; i < last; ++i) {
                const auto& [range, window] = searches[i - first];
                found[i] = view_->find(range, words[i][at], window);
                if (found[i] != no_node && at + 1 < length) view_->prefetch_children(found[i]);
            }
        }
    }
}

// p(w | h) = p(h w), or backoff(h) p(w | h without its first word).
float TrieBuilder::backed_off(const std::uint32_t* words, std::size_t length) const {
    double weight = 0;
    for (; length > 1; ++words, --length) {
        const std::uint32_t node = find(words, length);
        if (node != no_node) return static_cast<float>(weight + ngram(node).log_prob);
        const std::uint32_t context = find(words, length - 1);
        if (context != no_node) weight += ngram(context).backoff;
    }
    return static_cast<float>(weight + ngram(1 + words[0]).log_prob);
}

std::pair<std::size_t, std::vector<std::uint32_t>> TrieBuilder::insert_starts(
    const std::vector<NgramWords>& ngrams, ThreadPool& pool) {
    struct Start {
        NgramWords words;
        float log_prob;
    };
    const std::size_t levels = level();
    std::vector<std::vector<Start>> starts(levels + 1);
    std::size_t inserted = 0;
    for (std::size_t length = 2; length <= levels; ++length) {
        auto& here = starts[length];
        for (const NgramWords& ngram : ngrams) {
            NgramWords words{};
            std::copy_n(ngram.begin(), length, words.begin());
            if (find(words.data(), length) == no_node) here.push_back({words, 0});
        }
        std::sort(here.begin(), here.end(), [](const Start& a, const Start& b) { return a.words < b.words; });
        here.erase(std::unique(here.begin(), here.end(),
                               [](const Start& a, const Start& b) { return a.words == b.words; }),
                   here.end());
        // Weights above 1 may give more than a probability can be.
        for (Start& start : here) start.log_prob = std::min(backed_off(start.words.data(), length), 0.0f);
        inserted += here.size();
    }

    // All levels from the second on are built anew, of the old nodes and the new ones.
    const TrieBuilder old = std::move(*this);
    std::vector<float> log_probs(n_words_), backoffs(n_words_);
    for (std::uint32_t word = 0; word < n_words_; ++word) {
        log_probs[word] = old.ngram(1 + word).log_prob;
        backoffs[word] = old.ngram(1 + word).backoff;
    }
    *this = TrieBuilder(order_, log_probs, backoffs);
    std::vector<std::uint32_t> moved(n_words_);
    for (std::uint32_t word = 0; word < n_words_; ++word) moved[word] = 1 + word;
    for (std::size_t length = 2; length <= levels; ++length) {
        NgramChunks chunks(1);
        for (std::uint32_t parent = old.begin(length - 1); parent < old.begin(length); ++parent)
            for (std::uint32_t node = old.first_child_[parent]; node < old.first_child_[parent + 1]; ++node) {
                chunks[0].push_back(old.ngram(node));
                chunks[0].back().parent = moved[parent - old.begin(length - 1)];
            }
        const std::vector<NewNgram> kept = chunks[0];
        for (const Start& start : starts[length])
            chunks[0].push_back(
                {find(start.words.data(), length - 1), start.words[length - 1], start.log_prob, 0});
        add_level(chunks, pool);
        moved.resize(kept.size());
        for (std::size_t i = 0; i < kept.size(); ++i)
            moved[i] = view_->find_child(kept[i].parent, kept[i].word);
    }
    return {inserted, std::move(moved)};
}

}  // namespace stategram
