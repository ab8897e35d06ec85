// Counts of the n-grams of a text, of 1 to N words at once, as the levels of a trie.
//
// Every place of the text gives one key: the N words that begin there, fewer at the end of a sentence. Sorted
// keys hold the n-grams of all lengths, since those of k words are the beginnings of keys.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/arrays.hpp"
#include "base/big_array.hpp"
#include "base/checks.hpp"
#include "base/most_words.hpp"
#include "base/threads.hpp"
#include "counts/kernels.hpp"
#include "counts/ngram_keys.hpp"
#include "counts/range_counter.hpp"

namespace stategram {
namespace {

// Every place of a text: the words that begin there. <s> stands before each sentence.
struct NgramSource {
    const std::uint32_t* ids;
    const std::int64_t* starts;
    std::size_t sentences;
    const std::uint32_t* numbers;
    std::uint32_t before;

    std::size_t pieces() const { return sentences; }

    template <std::size_t Limbs, typename Use>
    void for_keys(std::size_t begin, std::size_t end, int bits, int order, const Use& use) const {
        for (std::size_t sentence = begin; sentence < end; ++sentence) {
            NgramKey<Limbs> key{};
            auto take = [&](std::uint32_t number) {
                key.prepend(number + std::uint64_t{1}, bits, order);
                use(key, number);
            };
            for (std::int64_t i = starts[sentence + 1]; i-- > starts[sentence];) take(numbers[ids[i]]);
            take(before);
        }
    }
};

NgramSource checked_source(const In<std::uint32_t>& ids, const In<std::int64_t>& sentence_starts,
                           const In<std::uint32_t>& numbers, std::uint32_t before, int order,
                           std::uint32_t first, std::uint32_t last) {
    require(order >= 1 && order <= most_words, "order is not 1 to 9");
    require(before < numbers.size() && first < last && last <= numbers.size() && numbers.size() < UINT32_MAX,
            "words and their range do not fit together");
    require(ids.size() <= UINT32_MAX / 2 && sentence_starts.size() <= UINT32_MAX / 2,
            "more than 2^31-1 events");
    check_offsets(sentence_starts, ids.size(), "the sentences do not cover the ids");
    check_below(numbers, numbers.size(), "a number is not below their number");
    check_below(ids, numbers.size(), "an id is not below the number of types");
    return {ids.data(), sentence_starts.data(), sentence_starts.size() - 1, numbers.data(), before};
}

}  // namespace

CountLevels count_ngrams(In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::uint32_t> numbers,
                         std::uint32_t before, int order, std::uint32_t first, std::uint32_t last,
                         int threads) {
    const NgramSource text = checked_source(ids, sentence_starts, numbers, before, order, first, last);
    ThreadPool pool(threads);
    return arrays_of(
        count_range(text, order, static_cast<int>(std::bit_width(numbers.size())), first, last, pool));
}

std::tuple<Out<std::uint8_t>, Out<std::int64_t>> count_run(In<std::uint32_t> ids,
                                                           In<std::int64_t> sentence_starts,
                                                           In<std::uint32_t> numbers, std::uint32_t begin,
                                                           std::uint32_t end, int order,
                                                           In<std::uint32_t> bounds, int threads) {
    require(bounds.size() >= 2 && std::is_sorted(bounds.data(), bounds.data() + bounds.size()),
            "bounds do not rise");
    const std::uint32_t first = bounds[0], last = bounds[bounds.size() - 1];
    require(begin < numbers.size() && end < numbers.size(), "there are no such words");
    const NgramSource text =
        checked_source(ids, sentence_starts, numbers, numbers[begin], order, first, last);
    const std::vector<std::uint32_t> id_of = inverse(numbers);
    const int bits = static_cast<int>(std::bit_width(numbers.size()));
    const RunWords words{{numbers.data(), numbers.size()}, id_of, end, order, bits};
    ThreadPool pool(threads);
    Run run = with_limbs(order * bits, [&]<std::size_t Limbs>() {
        return RangeCounter<Limbs, NgramSource>(text, order, bits, first, last, pool)
            .pack(words, {bounds.data(), bounds.size()});
    });
    return {std::move(run.bytes), std::move(run.offsets)};
}

}  // namespace stategram
