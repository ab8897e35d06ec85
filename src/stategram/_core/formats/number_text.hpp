// Numbers as text: seven significant digits, as ARPA files have them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "formats/powers_of_ten.hpp"

namespace stategram {

constexpr std::size_t longest_number = 24;

// Writes a finite number as printf's %.7g does; returns the end.
inline char* write_number(char* out, float number) {
    if (number < 0) *out++ = '-';
    const double value = std::fabs(static_cast<double>(number));
    if (value == 0) {
        *out++ = '0';
        return out;
    }
    int exponent = static_cast<int>(std::floor(std::log10(value)));
    auto digits = static_cast<std::uint32_t>(std::nearbyint(times_power_of_ten(value, 6 - exponent)));
    if (digits < 1000000) {  // the logarithm was rounded up
        --exponent;
        digits = static_cast<std::uint32_t>(std::nearbyint(times_power_of_ten(value, 6 - exponent)));
    } else if (digits >= 10000000) {
        ++exponent;
        digits = static_cast<std::uint32_t>(std::nearbyint(times_power_of_ten(value, 6 - exponent)));
    }
    char digit[7];
    for (int i = 6; i >= 0; --i, digits /= 10) digit[i] = static_cast<char>('0' + digits % 10);
    int length = 7;
    while (length > 1 && digit[length - 1] == '0') --length;
    if (exponent < -4 || exponent >= 7) {
        *out++ = digit[0];
        if (length > 1) *out++ = '.';
        for (int i = 1; i < length; ++i) *out++ = digit[i];
        *out++ = 'e';
        *out++ = exponent < 0 ? '-' : '+';
        const int size = std::abs(exponent);
        *out++ = static_cast<char>('0' + size / 10);
        *out++ = static_cast<char>('0' + size % 10);
        return out;
    }
    if (exponent < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = -1; i > exponent; --i) *out++ = '0';
    }
    for (int i = 0; i < std::max(length, exponent + 1); ++i) {
        if (i > 0 && i == exponent + 1) *out++ = '.';
        *out++ = digit[i];
    }
    return out;
}

}  // namespace stategram
