// Networks that map the words so far to a point, a vector state: for learning, and for scoring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/checks.hpp"
#include "base/hash.hpp"
#include "base/stepper.hpp"
#include "base/threads.hpp"
#include "vectors/matrix.hpp"

namespace stategram {

// Consecutive events of a text that are read from a state of their own.
struct VectorRun {
    std::size_t begin, end;
    float* state;  // before the first event; that after the last one is written here
};

// The words of a text; event i is read from the start state where `resets[i]` is not 0.
struct VectorText {
    const std::uint32_t* words;
    const std::uint8_t* resets;
};

class VectorNetwork {
 public:
    virtual ~VectorNetwork() = default;
    virtual std::size_t n_words() const = 0;
    virtual std::size_t width() const = 0;
    virtual std::size_t state_size() const = 0;
    // The empty state: no words were read.
    virtual void clear(float* state) const = 0;
    virtual void read(std::uint32_t word, float* state) const = 0;
    // The vector of a state.
    virtual void write(const float* state, float* vector) const = 0;
    // Writes the vector before each event of some runs to `vectors`, from that of event `first` on.
    virtual void read(const VectorText& text, std::size_t first, const std::vector<VectorRun>& runs,
                      float* vectors, ThreadPool& pool) const = 0;

    // The state at a start: after </s>.
    void start(float* state) const {
        clear(state);
        read(end_id, state);
    }
};

constexpr std::size_t max_vector_width = 1024;

// The width of rows of numbers in 4 bits.
inline std::size_t rounded_width(std::size_t n_bytes, std::size_t n_rows) {
    return n_rows == 0 ? 0 : n_bytes / n_rows / bytes_per_block * vector_padding;
}

inline void check_network_shape(std::size_t n_words, std::size_t width) {
    require(width > 0 && width <= max_vector_width && width % vector_padding == 0,
            "the width of a vector is not a multiple of 32 up to 1024");
    require(n_words > end_id, "a network needs the words of a vocabulary");
}

inline void check_decay(double decay) {
    require(decay >= 0 && decay < 1, "the decay of a sum is not from 0 to below 1");
}

// Random numbers with one sequence for each seed, on any machine.
class VectorRandom {
 public:
    explicit VectorRandom(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() { return mix_bits(state_ += golden_ratio); }
    // About normal: a sum of four uniform numbers.
    float normal() {
        const std::uint64_t all = bits();
        std::int32_t sum = 0;
        for (int i = 0; i < 4; ++i) sum += static_cast<std::int32_t>((all >> (16 * i)) & 0xFFFF);
        return (static_cast<float>(sum) - 131070.0F) * (1.7320508F / 65536.0F);
    }

 private:
    std::uint64_t state_;
};

}  // namespace stategram
