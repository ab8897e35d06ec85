// x log x without a library call, so that compilers turn a loop over it into vector instructions and every
// platform computes the same bits.
#pragma once

#include <bit>
#include <cstdint>

namespace stategram {

// For whole x >= 0, with 0 log 0 = 0. The logarithm is that of fdlibm (Sun Microsystems, 1993): its error
// is below one unit in the last place.
inline double x_log_x(double x) {
    // x = m 2^e with sqrt(1/2) <= m < sqrt(2), and e >= 0 as x >= 1. At x = 0 the unsigned numbers wrap to
    // m = 1 and some finite e: no branch is needed to get 0.
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t above = bits - 0x3fe6a09e667f3bcdULL;
    const double m = std::bit_cast<double>(bits - (above & 0xfff0000000000000ULL));
    // 2^52 + e by its bits: a vector conversion from 64-bit integers is missing before AVX-512DQ.
    const double e = std::bit_cast<double>((above >> 52) | 0x4330000000000000ULL) - 4503599627370496.0;
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double r =
        z * (6.666666666666735130e-01 +
             z * (3.999999999940941908e-01 +
                  z * (2.857142874366239149e-01 +
                       z * (2.222219843214978396e-01 +
                            z * (1.818357216161805012e-01 +
                                 z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
    const double half = 0.5 * f * f;
    const double log_x =
        e * 6.93147180369123816490e-01 - ((half - (s * (half + r) + e * 1.90821492927058770002e-10)) - f);
    return x * log_x;
}

}  // namespace stategram
