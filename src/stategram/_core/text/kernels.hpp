// The functions that bind.cpp gives to Python, where it says what they return.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/arrays.hpp"

namespace stategram {

// packing.cpp
Out<std::uint8_t> pack_text(In<std::uint32_t> ids, In<std::int64_t> sentence_starts,
                            In<std::int64_t> document_starts);
std::tuple<Out<std::uint32_t>, Out<std::int64_t>, Out<std::int64_t>> unpack_text(In<std::uint8_t> packed,
                                                                                 In<std::uint32_t> ids);

}  // namespace stategram
