// Text that grows at its end, and numbers as tables have them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace stategram {

constexpr std::size_t longest_cell_number = 32;

// Who writes asks for room first, then says how far the text goes now.
class LineBuffer {
 public:
    char* room(std::size_t size) {
        if (capacity_ - size_ < size) grow(size);
        return data_.get() + size_;
    }
    void end(const char* p) { size_ = static_cast<std::size_t>(p - data_.get()); }
    const char* data() const { return data_.get(); }
    std::size_t size() const { return size_; }

 private:
    void grow(std::size_t size) {
        capacity_ = std::max(2 * capacity_, size_ + size + (std::size_t{1} << 16));
        std::unique_ptr<char[]> larger(new char[capacity_]);
        if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
        data_ = std::move(larger);
    }

    std::unique_ptr<char[]> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

inline char* put(char* p, std::string_view text) {
    std::memcpy(p, text.data(), text.size());
    return p + text.size();
}

inline char* put(char* p, std::int64_t value) { return std::to_chars(p, p + longest_cell_number, value).ptr; }

// -1.234567e+89. Not by to_chars, which older systems lack for doubles; not simply by printf, whose point is
// that of the locale.
inline char* put_scientific(char* p, double value) {
    char text[2 * longest_cell_number];
    std::snprintf(text, sizeof text, "%.6e", value);
    const std::string_view written(text);
    const std::size_t sign = value < 0 ? 1 : 0;
    p = put(p, written.substr(0, sign + 1));
    *p++ = '.';
    return put(p, written.substr(written.find('e') - 6));
}

// A finite number: six digits after the point, rounded to even; a hundred billion and more in scientific
// notation.
inline char* put_finite(char* p, double value) {
    if (std::abs(value) >= 1e11) return put_scientific(p, value);
    const auto millionths = static_cast<std::uint64_t>(std::nearbyint(std::abs(value) * 1e6));
    if (value < 0 && millionths > 0) *p++ = '-';
    p = put(p, static_cast<std::int64_t>(millionths / 1000000));
    auto rest = static_cast<std::uint32_t>(millionths % 1000000);
    *p = '.';
    for (int digit = 6; digit > 0; --digit, rest /= 10) p[digit] = static_cast<char>('0' + rest % 10);
    return p + 7;
}

}  // namespace stategram
