// What the events of a block add to the counts of their own contexts: taken out, the counts are those of the
// text without the block, as they would be for a text that was never seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "word_tree/evidence.hpp"

namespace stategram {

class LeftOut {
 public:
    // The block is the events [begin, end).
    LeftOut(const TreeEvidence& evidence, const std::uint32_t* words, const std::uint32_t* const* streams,
            std::size_t begin, std::size_t end);

    // What to take out of the context of each slot for an event of the block.
    void lists(std::size_t event, std::vector<LeftList>& lists) const;

 private:
    void count_level(const TreeEvidence& evidence, std::size_t slot, const std::vector<FoundList>& lists,
                     const std::uint32_t* words, const std::uint32_t* next,
                     std::vector<std::uint8_t>& is_gone);

    std::size_t begin_, size_;
    std::vector<std::vector<std::uint64_t>> hashes_;       // by slot and event of the block
    std::vector<std::vector<std::uint32_t>> groups_;       // the list of each event
    std::vector<std::vector<std::uint32_t>> list_begins_;  // by slot and list
    std::vector<std::vector<LeftFollower>> followers_;
};

}  // namespace stategram
