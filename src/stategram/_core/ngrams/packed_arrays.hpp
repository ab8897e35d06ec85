// The arrays of a back-off model that Python gives, and what searches them.
#pragma once

#include <algorithm>
#include <utility>

#include "base/arrays.hpp"
#include "ngrams/packed_layout.hpp"

namespace stategram {

using Widths = nb::ndarray<const std::uint8_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

struct PackedModel {
    // DamagedModel if the arrays do not fit together.
    PackedModel(In<std::uint32_t> numbers_in, In<std::int64_t> begins_in, Widths widths_in,
                In<std::uint8_t> words_in, In<std::uint8_t> records_in, In<std::uint32_t> bases_in,
                In<float> values_in, bool closed)
        : numbers(std::move(numbers_in)),
          begins(std::move(begins_in)),
          widths(std::move(widths_in)),
          words(std::move(words_in)),
          records(std::move(records_in)),
          bases(std::move(bases_in)),
          values(std::move(values_in)),
          trie(packed_levels({numbers.data(), numbers.size(), begins.data(), begins.size(), widths.data(),
                              widths.shape(0), words.data(), words.size(), records.data(), records.size(),
                              bases.data(), bases.size(), values.data(), values.size()}),
               word_bits(std::max<std::size_t>(numbers.size(), 1)), closed) {}

    In<std::uint32_t> numbers;
    In<std::int64_t> begins;
    Widths widths;
    In<std::uint8_t> words, records;
    In<std::uint32_t> bases;
    In<float> values;
    PackedTrie trie;
};

// Makes `Reader` from the arrays by their names.
template <typename Class>
Class& def_packed_init(Class& bound) {
    return bound.def(nb::init<In<std::uint32_t>, In<std::int64_t>, Widths, In<std::uint8_t>, In<std::uint8_t>,
                              In<std::uint32_t>, In<float>, bool>(),
                     nb::arg("numbers").noconvert(), nb::arg("begins").noconvert(),
                     nb::arg("widths").noconvert(), nb::arg("words").noconvert(),
                     nb::arg("records").noconvert(), nb::arg("bases").noconvert(),
                     nb::arg("values").noconvert(), nb::arg("closed"));
}

}  // namespace stategram
