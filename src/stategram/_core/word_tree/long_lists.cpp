// Long lists in the order of a tree.
#include "word_tree/long_lists.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "word_tree/kernels.hpp"
#include "word_tree/tree.hpp"

namespace stategram {
namespace {

// Writes one long list in the order of a tree.
class LongListWriter {
 public:
    LongListWriter(const WordTree& tree, bool has_longer) : tree_(tree), has_longer_(has_longer) {}

    void add(std::vector<Follower> followers) {
        std::sort(followers.begin(), followers.end(), [&](const Follower& a, const Follower& b) {
            return tree_.rank(a.word) < tree_.rank(b.word);
        });
        for (std::size_t i = 0; i < followers.size(); ++i)
            require(followers[i].count > 0 && followers[i].contexts > 0 &&
                        (i == 0 || followers[i].word != followers[i - 1].word),
                    "a follower has no counts, or is not the only one of its word");
        begins_.push_back(bytes_.size());
        write_record(bytes_, sums(followers.data(), followers.size()), 0, has_longer_);
        const std::vector<std::uint8_t> divided = divide(followers.data(), followers.size(), 0);
        bytes_.insert(bytes_.end(), divided.begin(), divided.end());
    }

    std::vector<std::size_t> begins_;
    std::vector<std::uint8_t> bytes_;

 private:
    static LongRecord sums(const Follower* followers, std::size_t size) {
        LongRecord sum;
        sum.node = 0;
        sum.types = static_cast<std::uint32_t>(size);
        for (std::size_t i = 0; i < size; ++i) {
            sum.counts += followers[i].count;
            sum.contexts += followers[i].contexts;
        }
        return sum;
    }

    // Returns the bytes of followers of which none has a rank below `low`.
    std::vector<std::uint8_t> divide(const Follower* followers, std::size_t size, std::uint32_t low) const {
        std::vector<std::uint8_t> bytes;
        if (size <= max_leaf_list) {
            std::vector<Follower> ranked(followers, followers + size);
            for (Follower& one : ranked) one.word = tree_.rank(one.word) - low;
            std::vector<std::uint8_t> list;
            write_list(list, ranked.data(), size, has_longer_);
            LongRecord leaf;
            leaf.skip = static_cast<std::uint32_t>(list.size());
            write_record(bytes, leaf, low, has_longer_);
            bytes.insert(bytes.end(), list.begin(), list.end());
            return bytes;
        }
        const int depth = tree_.parting(tree_.code(followers[0].word), tree_.code(followers[size - 1].word));
        const Follower* right = std::partition_point(followers, followers + size, [&](const Follower& one) {
            return !WordTree::bit(tree_.code(one.word), depth);
        });
        const auto n_left = static_cast<std::size_t>(right - followers);
        LongRecord record = sums(followers, n_left);
        record.node = tree_.path(right->word)[depth];
        const std::vector<std::uint8_t> on_left = divide(followers, n_left, low),
                                        on_right = divide(right, size - n_left, record.node);
        record.skip = static_cast<std::uint32_t>(on_left.size());
        write_record(bytes, record, low, has_longer_);
        bytes.insert(bytes.end(), on_left.begin(), on_left.end());
        bytes.insert(bytes.end(), on_right.begin(), on_right.end());
        return bytes;
    }

    const WordTree& tree_;
    bool has_longer_;
};

}  // namespace

std::pair<Out<std::int64_t>, Out<std::uint8_t>> divide_long_lists(
    In<std::int64_t> begins, In<std::uint32_t> words, In<std::uint32_t> counts, In<std::uint32_t> contexts,
    In<std::uint32_t> codes, In<std::uint8_t> lengths, bool has_longer, int threads) {
    check_offsets(begins, words.size(), "the long lists do not follow each other");
    require(counts.size() == words.size() && contexts.size() == words.size(),
            "each follower needs its counts");
    require(codes.size() == lengths.size(), "each word needs a code and its length");
    check_below(words, codes.size(), "a follower is not a word");
    std::vector<std::int64_t> byte_begins;
    BigArray<std::uint8_t> bytes;
    const WordTree tree(codes.data(), lengths.data(), codes.size());
    for (std::size_t i = 0; i < words.size(); ++i)
        require(tree.length(words[i]) > 0, "a follower is not a word of the tree");
    ThreadPool pool(threads);
    const std::size_t n_lists = begins.size() - 1, n_slices = std::min<std::size_t>(n_lists, 64);
    std::vector<LongListWriter> writers(n_slices, LongListWriter(tree, has_longer));
    pool.run(n_slices, [&](std::size_t slice, int) {
        for (std::size_t list = n_lists * slice / n_slices; list < n_lists * (slice + 1) / n_slices; ++list) {
            std::vector<Follower> followers;
            for (auto i = static_cast<std::size_t>(begins[list]);
                 i < static_cast<std::size_t>(begins[list + 1]); ++i)
                followers.push_back({words[i], counts[i], contexts[i]});
            require(!followers.empty(), "a long list has no words");
            writers[slice].add(std::move(followers));
        }
    });
    std::size_t n_bytes = 0;
    for (const LongListWriter& writer : writers) {
        for (const std::size_t begin : writer.begins_)
            byte_begins.push_back(static_cast<std::int64_t>(n_bytes + begin));
        n_bytes += writer.bytes_.size();
    }
    byte_begins.push_back(static_cast<std::int64_t>(n_bytes));
    bytes = BigArray<std::uint8_t>(n_bytes + long_list_padding);
    std::uint8_t* end = bytes.data();
    for (const LongListWriter& writer : writers)
        end = std::copy(writer.bytes_.begin(), writer.bytes_.end(), end);
    std::fill_n(end, long_list_padding, std::uint8_t{0});
    return std::pair(std::move(byte_begins), std::move(bytes));
}

}  // namespace stategram
