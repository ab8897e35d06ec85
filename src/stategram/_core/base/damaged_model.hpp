// What is said of arrays that are no model, or that were a model once.
#pragma once

#include <stdexcept>
#include <string>

namespace stategram {

struct DamagedModel : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

[[noreturn]] inline void throw_damaged(const char* what) {
    throw DamagedModel(std::string("the model is damaged: ") + what);
}

inline void require_sound(bool holds, const char* what) {
    if (!holds) throw_damaged(what);
}

}  // namespace stategram
