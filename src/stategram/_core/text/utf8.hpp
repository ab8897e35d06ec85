// UTF-8 as the Unicode standard defines it (no overlong forms, no surrogates, nothing above U+10FFFF), and
// what Python takes for white space.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace stategram {

constexpr std::uint64_t each_byte(std::uint8_t value) { return 0x0101010101010101u * value; }

// Eight bytes, the first one lowest.
inline std::uint64_t load_eight(const char* p) {
    std::uint64_t x;
    std::memcpy(&x, p, sizeof x);
    if constexpr (std::endian::native == std::endian::big) {
        std::uint64_t y = 0;
        for (int i = 0; i < 8; ++i, x >>= 8) y = y << 8 | (x & 0xff);
        return y;
    }
    return x;
}

// A mark in the top bit of every byte of `x` that is below 0x21: all ASCII white space, and the other
// control characters. Only the lowest mark is exact, as a borrow may run into the bytes above it.
inline std::uint64_t mark_small(std::uint64_t x) { return (x - each_byte(0x21)) & ~x & each_byte(0x80); }

// ASCII white space as `str.split` sees it (0x09..0x0d, 0x1c..0x20), and as `bytes.split` does (without
// 0x1c..0x1f): one bit for each character.
constexpr std::uint64_t spaces_of_str = 0x1f0003e00u, spaces_of_bytes = 0x100003e00u;

inline bool is_space(char c, std::uint64_t spaces) {
    const auto u = static_cast<unsigned char>(c);
    return u <= 0x20 && (spaces >> u & 1);
}

// The length of the white space character outside ASCII that starts at `p` in valid UTF-8; 0 if none does.
inline std::size_t wide_space(const char* p) {
    const auto at = [p](int i) { return static_cast<unsigned char>(p[i]); };
    switch (at(0)) {
        case 0xc2:  // U+0085, U+00A0
            return at(1) == 0x85 || at(1) == 0xa0 ? 2 : 0;
        case 0xe1:  // U+1680
            return at(1) == 0x9a && at(2) == 0x80 ? 3 : 0;
        case 0xe2:  // U+2000..U+200A, U+2028, U+2029, U+202F, U+205F
            if (at(1) == 0x80)
                return at(2) <= 0x8a || at(2) == 0xa8 || at(2) == 0xa9 || at(2) == 0xaf ? 3 : 0;
            return at(1) == 0x81 && at(2) == 0x9f ? 3 : 0;
        case 0xe3:  // U+3000
            return at(1) == 0x80 && at(2) == 0x80 ? 3 : 0;
        default:
            return 0;
    }
}

struct Character {
    std::size_t length;  // of the character, or of the maximal bad part
    bool good;
};

// The character at `p` < `end`. A bad part is as long as the longest start of a character that it could
// have been, at least one byte: one U+FFFD stands for it, as in Python. NUL is bad: no text holds it.
inline Character next_character(const char* p, const char* end) {
    const auto lead = static_cast<unsigned char>(*p);
    if (lead < 0x80) return {1, lead != 0};
    unsigned low = 0x80, high = 0xbf;  // bounds of the second byte
    std::size_t length;
    if (lead >= 0xc2 && lead <= 0xdf) {
        length = 2;
    } else if ((lead & 0xf0) == 0xe0) {
        length = 3;
        if (lead == 0xe0) low = 0xa0;
        if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        length = 4;
        if (lead == 0xf0) low = 0x90;
        if (lead == 0xf4) high = 0x8f;
    } else {
        return {1, false};
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (p + i == end) return {i, false};
        const auto byte = static_cast<unsigned char>(p[i]);
        if (byte < low || byte > high) return {i, false};
        low = 0x80;
        high = 0xbf;
    }
    return {length, true};
}

// The first bad byte of a text, or `end`.
inline const char* find_bad(const char* p, const char* end) {
    while (p < end) {
        while (end - p >= 8) {
            const std::uint64_t x = load_eight(p);
            if (((x - each_byte(1)) | x) & each_byte(0x80)) break;  // a byte above 0x7f, or NUL
            p += 8;
        }
        if (p == end) break;
        const Character character = next_character(p, end);
        if (!character.good) return p;
        p += character.length;
    }
    return end;
}

// Writes the text with U+FFFD for each bad part to `clean`; gives the number of bad parts.
inline std::int64_t replace_bad(const char* p, const char* end, std::string& clean) {
    std::int64_t replaced = 0;
    clean.clear();
    while (p < end) {
        const char* bad = find_bad(p, end);
        clean.append(p, bad);
        if (bad == end) break;
        clean.append("\xef\xbf\xbd");
        ++replaced;
        p = bad + next_character(bad, end).length;
    }
    return replaced;
}

}  // namespace stategram
