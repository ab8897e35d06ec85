// Numbers in decimal notation without the C library, whose numbers depend on the locale.
#pragma once

namespace stategram {

// value * 10^exponent, with a rounding for each 22 of the exponent: 10^22 is the last exact double.
inline double times_power_of_ten(double value, int exponent) {
    constexpr int largest = 22;
    constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (; exponent > largest; exponent -= largest) value *= powers[largest];
    for (; exponent < -largest; exponent += largest) value /= powers[largest];
    return exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
}

}  // namespace stategram
