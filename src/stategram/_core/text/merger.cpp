#include "text/merger.hpp"

#include <algorithm>

#include "text/part_encoder.hpp"

namespace stategram {
namespace {

// The first 8 bytes as a number that sorts like them.
std::uint64_t sorting_prefix(std::string_view word) {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i)
        prefix = prefix << 8 | (i < word.size() ? static_cast<unsigned char>(word[i]) : 0);
    return prefix;
}

}  // namespace

WordMerger::WordMerger() {
    for (std::string_view word : fixed_words) add(word, 0);
}

std::uint32_t WordMerger::add(std::string_view word, std::uint64_t count) {
    const std::uint32_t number = words_.find_or_add(word);
    if (number == counts_.size()) counts_.push_back(0);
    counts_[number] += count;
    return number;
}

WordList WordMerger::choose(std::size_t size, std::uint64_t min_count) {
    struct Candidate {
        std::uint64_t count, prefix;
        std::uint32_t word;
    };
    std::vector<Candidate> candidates;
    for (std::uint32_t word = special_words; word < words_.size(); ++word)
        if (counts_[word] >= std::max<std::uint64_t>(min_count, 1))
            candidates.push_back({counts_[word], sorting_prefix(words_.word(word)), word});
    const auto before = [&](const Candidate& a, const Candidate& b) {
        if (a.count != b.count) return a.count > b.count;
        if (a.prefix != b.prefix) return a.prefix < b.prefix;
        return words_.word(a.word) < words_.word(b.word);
    };
    if (size < candidates.size()) {
        std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(size),
                         candidates.end(), before);
        candidates.resize(size);
    }
    std::sort(candidates.begin(), candidates.end(), before);

    WordList vocabulary;
    ids_.assign(words_.size(), unknown_id);
    for (std::uint32_t id = 0; id < special_words; ++id) {
        ids_[id] = id;
        vocabulary.add(fixed_words[id]);
    }
    size_ = special_words;
    for (const Candidate& candidate : candidates) {
        ids_[candidate.word] = static_cast<std::uint32_t>(size_++);
        vocabulary.add(words_.word(candidate.word));
    }
    return vocabulary;
}

void WordMerger::use(const WordTable& vocabulary) {
    size_ = vocabulary.size();
    ids_.resize(words_.size());
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
        const std::uint32_t found = vocabulary.find(words_.word(word));
        ids_[word] = found == WordTable::absent ? unknown_id : found;
    }
}

std::uint32_t WordMerger::id(std::string_view word) const {
    const std::uint32_t number = words_.find(word);
    return number == WordTable::absent ? unknown_id : ids_[number];
}

std::vector<std::uint64_t> WordMerger::counts() const {
    std::vector<std::uint64_t> counts(size_, 0);
    for (std::size_t word = 0; word < ids_.size(); ++word) counts[ids_[word]] += counts_[word];
    return counts;
}

}  // namespace stategram
