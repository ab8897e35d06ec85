// The words that followed histories like the one at hand: a cache whose contexts need not be equal, only
// near. With v the vector of a vector state, the mass of the word after an earlier v_i is
//
//     exp(10 (cos(v, v_i) - 1))
//
// (a continuous cache: Grave, Joulin and Usunier 2017).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace stategram {

// A word that followed a context before, and how much it counts.
struct CachedWord {
    std::uint32_t word;
    float mass;
};

class SimilarHistories {
 public:
    // `width`: of vectors; 0: there are none.
    explicit SimilarHistories(std::size_t width) : width_(width) {}

    bool is_used() const { return width_ > 0; }
    // Sets the vector before the next word; `find` also finds the words that followed similar ones.
    void enter(const float* vector);
    void find(const float* vector);
    const std::vector<CachedWord>& words() const { return found_; }
    void add(std::uint32_t word);

 private:
    struct History {
        std::uint32_t word;
        std::shared_ptr<const std::vector<float>> vector;  // of length one; shared by copies
    };

    std::size_t width_;
    std::vector<History> histories_;  // the last ones, in a ring
    std::size_t oldest_ = 0;
    std::vector<float> present_;
    std::vector<CachedWord> found_;
};

}  // namespace stategram
