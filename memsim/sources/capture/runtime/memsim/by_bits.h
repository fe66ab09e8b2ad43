// Kernels given objects that are copied by functions of their own: each thread gets the bits of the launch's one copy,
// as on a GPU, where no thread runs a copy constructor or a destructor of what the kernel was given (CUDA C++
// Programming Guide, "__global__ Function Argument Processing").
#pragma once

#include <type_traits>

#include "attributes.h"

namespace memsim_probe {

// Whether C++ hands a `T` over by the address of a copy that the caller makes and destroys (Itanium C++ ABI, 3.1.2.3).
template <class T>
struct Handed : std::integral_constant<bool, std::is_copy_constructible<T>::value &&
                                                 !std::is_trivially_copy_constructible<T>::value> {};

constexpr bool any_of() { return false; }
template <class... More>
constexpr bool any_of(bool first, More... more) {
    return first || any_of(more...);
}

// A thread's own bits of an argument; others are converted as they are handed over.
template <class T, bool = Handed<T>::value>
struct Bits {
    typedef void* Passed;
    alignas(T) char bytes[sizeof(T)];
    explicit Bits(T& of) { memcpy(bytes, static_cast<const void*>(&of), sizeof bytes); }
    Passed pass() { return bytes; }
};
template <class T>
struct Bits<T, false> {
    typedef T Passed;
    T value;
    template <class A>
    explicit Bits(A& of) : value(of) {}
    T pass() { return value; }
};

// Of the types `A&...` of arguments. There is no such call where none needs it, where an object is to be converted, or
// where the kernel is a template that the arguments' types alone do not tell.
template <class... A>
struct ByBits {
    template <class... P>
    static auto call(int, void (*kernel)(P...), A... arguments)
        -> std::enable_if_t<any_of(Handed<P>::value...) &&
                            !any_of((Handed<P>::value && !std::is_same<P&, A>::value)...)> {
        run(kernel, Bits<P>(arguments)...);
    }
    // Of several functions of a name, or of a template's, the one whose parameters' types are the arguments'.
    template <bool Needed = any_of(Handed<std::remove_reference_t<A>>::value...)>
    static auto call(long, void (*kernel)(std::remove_reference_t<A>...), A... arguments)
        -> std::enable_if_t<Needed> {
        run(kernel, Bits<std::remove_reference_t<A>>(arguments)...);
    }

  private:
    template <class Kernel, class... B>
    static void run(Kernel* kernel, B... bits) {
        reinterpret_cast<void (*)(typename B::Passed...)>(kernel)(bits.pass()...);
    }
};

// A kernel's name as two functions of its arguments: the first where it takes them, else the second.
template <class First, class Second>
struct Either {
    First first;
    Second second;
    template <class... A>
    auto run(int, A&... arguments) const -> decltype(first(arguments...)) {
        return first(arguments...);
    }
    template <class... A>
    void run(long, A&... arguments) const {
        second(arguments...);
    }
    template <class... A>
    void operator()(A&... arguments) const {
        run(0, arguments...);
    }
};
template <class First, class Second>
Either<First, Second> either(First first, Second second) {
    return {first, second};
}

template <class Kernel, class... A>
auto start(int, const Kernel& kernel, A&... arguments) -> decltype(ByBits<A&...>::call(0, kernel, arguments...)) {
    ByBits<A&...>::call(0, kernel, arguments...);
}
template <class Kernel, class... A>
void start(long, const Kernel& kernel, A&... arguments) {
    kernel(arguments...);
}

}  // namespace memsim_probe
