// The functions that bind.cpp gives to Python, where it says what they return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/arrays.hpp"
#include "formats/line_buffer.hpp"

namespace stategram {

// table_lines.cpp
OutBytes<LineBuffer> table_lines(
    const std::string& format, const std::string& kinds, const std::vector<std::string>& names,
    std::size_t rows, const std::vector<In<std::int64_t>>& integers, const std::vector<In<double>>& floats,
    const std::vector<In<std::uint8_t>>& bools, const std::vector<In<std::uint32_t>>& ids,
    const std::vector<In<std::uint8_t>>& letters, const std::vector<In<std::int64_t>>& offsets,
    const std::vector<In<std::uint8_t>>& missing, InOut<std::int64_t> rows_since_text, int threads);

// count_writer.cpp
OutBytes<> count_lines(In<std::uint8_t> letters, In<std::int64_t> offsets, In<std::uint32_t> ids,
                       In<std::uint32_t> ranks, std::vector<In<std::uint32_t>> level_words,
                       std::vector<In<std::uint32_t>> counts, std::vector<In<std::uint32_t>> first_child,
                       In<std::uint32_t> nodes, int threads);

}  // namespace stategram
