// Runs of n-grams merged: to the levels of a trie, or to one run.
#include "counts/runs.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "counts/kernels.hpp"

namespace stategram {
namespace {

using Runs = std::vector<In<std::uint8_t>>;

// Several runs of n-grams whose first words are in the same range.
struct RunsOfRange {
    const Runs& runs;
    const RunWords& words;
    std::uint32_t first, last;

    template <std::size_t Limbs, typename Use>
    void merge(const Use& use) const {
        std::vector<RunReader<Limbs>> readers;
        for (const auto& run : runs)
            readers.emplace_back(words, std::span(run.data(), run.size()), first, last);
        RunMerger<Limbs>(std::move(readers)).run(use);
    }
};

RunWords checked_words(const In<std::uint32_t>& numbers, std::uint32_t end, int order, std::uint32_t first,
                       std::uint32_t last) {
    require(order >= 1 && order <= most_words, "order is not 1 to 9");
    require(end < numbers.size() && first < last && last <= numbers.size() && numbers.size() < UINT32_MAX,
            "words and their range do not fit together");
    check_below(numbers, numbers.size(), "a number is not below their number");
    const int bits = static_cast<int>(std::bit_width(numbers.size()));
    return {{numbers.data(), numbers.size()}, {}, end, order, bits};
}

}  // namespace

CountLevels merge_ngrams(Runs runs, In<std::uint32_t> numbers, std::uint32_t end, int order, int kept,
                         std::uint32_t first, std::uint32_t last) {
    require(kept >= 1 && kept <= order, "n-grams of that many words were not counted");
    const RunWords words = checked_words(numbers, end, order, first, last);
    const RunsOfRange range{runs, words, first, last};
    return arrays_of(with_limbs(order * words.bits, [&]<std::size_t Limbs>() {
        LevelBuilder<Limbs> builder(kept, words.bits, first, last);
        range.merge<Limbs>([&](const auto& key, std::uint64_t count) { builder.add(key, count); });
        return builder.finish();
    }));
}

Out<std::uint8_t> merge_runs(Runs runs, In<std::uint32_t> numbers, std::uint32_t end, int order,
                             std::uint32_t first, std::uint32_t last) {
    RunWords words = checked_words(numbers, end, order, first, last);
    const std::vector<std::uint32_t> id_of = inverse(numbers);
    words.ids = id_of;
    const RunsOfRange range{runs, words, first, last};
    return with_limbs(order * words.bits, [&]<std::size_t Limbs>() {
        RunWriter<Limbs> writer(words);
        range.merge<Limbs>([&](const auto& key, std::uint64_t count) { writer.add(key, count); });
        return writer.take();
    });
}

}  // namespace stategram
