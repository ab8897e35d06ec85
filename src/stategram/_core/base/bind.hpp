// What the bind.cpp of each folder needs: arrays of NumPy's as kernels take and return them, and short ways
// to define functions and classes. Everything that knows of Python includes this.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/arrays.hpp"
#include "base/threads.hpp"

namespace nanobind::detail {

// Arrays are never converted: one of another type is a mistake.
template <typename Taken, typename T, std::size_t dimensions>
struct array_caster {
    using Given = make_caster<ndarray<T, ndim<dimensions>, c_contig, device::cpu>>;
    using Made = make_caster<ndarray<numpy, T, ndim<dimensions>>>;
    NB_TYPE_CASTER(Taken, const_name("@") + Given::Name + const_name("@") + Made::Name + const_name("@"))

    bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        Given given;
        if (!given.from_python(source, flags & ~static_cast<std::uint32_t>(cast_flags::convert), cleanup))
            return false;
        const auto owner = std::make_shared<typename Given::Value>(std::move(given.value));
        if (!owner->is_valid()) return true;  // None, where it may be
        static_cast<stategram::Array<T>&>(value) = {owner->data(), owner->size(), owner};
        if constexpr (dimensions == 2) {
            value.rows = owner->shape(0);
            value.columns = owner->shape(1);
        }
        return true;
    }

    static handle from_cpp(const Taken& array, rv_policy policy, cleanup_list* cleanup) noexcept {
        const capsule owner(new std::shared_ptr<const void>(array.owner()),
                            [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
        return Made::from_cpp({array.data(), {array.size()}, owner}, policy, cleanup);
    }
};

template <typename T>
struct type_caster<stategram::Array<T>> : array_caster<stategram::Array<T>, T, 1> {};
template <typename T>
struct type_caster<stategram::Matrix<T>> : array_caster<stategram::Matrix<T>, const T, 2> {};

template <>
struct type_caster<stategram::InBytes> {
    NB_TYPE_CASTER(stategram::InBytes, const_name("bytes"))

    bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
        if (!PyBytes_Check(source.ptr())) return false;
        const auto given = borrow<bytes>(source);
        value = {{given.c_str(), given.size()}};
        return true;
    }
};

template <typename Part>
struct type_caster<stategram::OutBytes<Part>> {
    NB_TYPE_CASTER(stategram::OutBytes<Part>, const_name("bytes"))

    static handle from_cpp(const stategram::OutBytes<Part>& parts, rv_policy, cleanup_list*) noexcept {
        std::size_t size = 0;
        for (const Part& part : parts) size += part.size();
        PyObject* joined = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
        if (joined == nullptr) return {};
        char* end = PyBytes_AsString(joined);
        for (const Part& part : parts) end = std::copy_n(part.data(), part.size(), end);
        return joined;
    }
};

}  // namespace nanobind::detail

namespace stategram {

namespace nb = nanobind;

// The names of parameters, from a list in which spaces separate them.
template <std::size_t size>
std::array<std::string, size> split_names(const char* list) {
    std::array<std::string, size> names;
    std::istringstream words(list);
    for (std::string& name : names) words >> name;
    std::string rest;
    if (!words || words >> rest) throw std::logic_error(std::string("not the parameters: ") + list);
    return names;
}

template <typename T>
auto parameter(const std::string& name) {
    if constexpr (std::is_pointer_v<T>)
        return nb::arg(name.c_str()).none();
    else
        return nb::arg(name.c_str());
}

// Calls use(annotation...) with one for each of `Args`, but for the last ones that `extra` has itself.
template <typename... Args, typename Use, typename... Extra>
void with_parameters(const char* list, const Use& use, const Extra&... extra) {
    constexpr std::size_t named = sizeof...(Args) - (0 + ... + std::is_same_v<Extra, nb::arg_v>);
    const auto names = split_names<named>(list);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        use(parameter<std::tuple_element_t<i, std::tuple<Args...>>>(names[i])..., extra...);
    }(std::make_index_sequence<named>{});
}

template <typename... Args, typename Scope, typename Function, typename... Extra>
void def_named(Scope& scope, const char* name, Function function, const char* parameters,
               const Extra&... extra) {
    with_parameters<Args...>(
        parameters, [&](const auto&... all) { scope.def(name, function, all...); }, extra...);
}

// Defines a function, a method, or a function that takes the object as a method does. `parameters`: their
// names; `extra`: parameters with a default, the docstring, and what else nanobind takes.
template <typename Result, typename... Args, typename... Extra>
void def(nb::module_& module, const char* name, Result (*function)(Args...), const char* parameters,
         const Extra&... extra) {
    def_named<Args...>(module, name, function, parameters, extra...);
}
template <typename... Class, typename Result, typename Self, typename... Args, typename... Extra>
void def(nb::class_<Class...>& bound, const char* name, Result (*function)(Self, Args...),
         const char* parameters, const Extra&... extra) {
    def_named<Args...>(bound, name, function, parameters, extra...);
}
template <typename... Class, typename Result, typename Self, typename... Args, typename... Extra>
void def(nb::class_<Class...>& bound, const char* name, Result (Self::*method)(Args...),
         const char* parameters, const Extra&... extra) {
    def_named<Args...>(bound, name, method, parameters, extra...);
}
template <typename... Class, typename Result, typename Self, typename... Args, typename... Extra>
void def(nb::class_<Class...>& bound, const char* name, Result (Self::*method)(Args...) const,
         const char* parameters, const Extra&... extra) {
    def_named<Args...>(bound, name, method, parameters, extra...);
}

// The same for what runs without the GIL, as all does that takes long.
template <typename Scope, typename Function, typename... Extra>
void def_kernel(Scope& scope, const char* name, Function function, const char* parameters,
                const Extra&... extra) {
    def(scope, name, function, parameters, extra..., nb::call_guard<nb::gil_scoped_release>());
}

// A method, or a function that takes the object as one does, which enters the object first: no other thread
// may be in it.
template <auto method>
struct Entering;
template <typename Self, typename Result, typename... Args, Result (*function)(Self&, Args...)>
struct Entering<function> {
    static Result call(Self& self, Args... args) {
        const BusyGuard guard = self.enter();
        return function(self, std::move(args)...);
    }
};
template <typename Self, typename Result, typename... Args, Result (Self::*method)(Args...)>
struct Entering<method> {
    static Result call(Self& self, Args... args) {
        const BusyGuard guard = self.enter();
        return (self.*method)(std::move(args)...);
    }
};
template <typename Self, typename Result, typename... Args, Result (Self::*method)(Args...) const>
struct Entering<method> {
    static Result call(const Self& self, Args... args) {
        const BusyGuard guard = self.enter();
        return (self.*method)(std::move(args)...);
    }
};
template <auto method>
constexpr auto entering = &Entering<method>::call;

// Defines the constructor with these arguments, which runs without the GIL.
template <typename... Args, typename... Class, typename... Extra>
void def_init(nb::class_<Class...>& bound, const char* parameters, const Extra&... extra) {
    with_parameters<Args...>(
        parameters, [&](const auto&... all) { bound.def(nb::init<Args...>(), all...); }, extra...,
        nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace stategram
