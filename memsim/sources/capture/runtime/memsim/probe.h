// The probes that the front end puts around a user's expressions. Each logs one word and passes its argument on.
#pragma once

#include <type_traits>

#include "atomic_objects.h"
#include "operand.h"
#include "textures.h"
#include "variants.h"
#include "watched.h"

namespace memsim_probe {

struct Nothing : Meeting {
    static void done(Meeting* const*, uint32_t) {}
};

// Lanes that touch volatile memory go in step, as warp-synchronous programs expect that synchronise with nothing else.
inline void lockstep(uint64_t site) {
    if (!block.inside()) return;
    auto meeting = new_meeting<Nothing>(0, site);
    block.meet(meeting, "volatile access");
}

// A whole object, as a compiler moves it: in pieces as wide as its alignment allows, 16 bytes at most.
template <uint32_t Site, class T>
MEMSIM_INLINE void log_object(T* address) {
    constexpr size_t width = alignof(T) < 16 ? alignof(T) : 16;
    auto start = reinterpret_cast<uintptr_t>(address);
    for (size_t offset = 0; offset < sizeof(T); offset += width) log_word(Variant<Site, width>::tag | (start + offset));
}

template <uint32_t Site, class T>
MEMSIM_INLINE void log_access(T* address) {
    if constexpr (std::is_volatile<T>::value) lockstep(Site);
    log_object<Site>(address);
}

template <class T>
using Rvalue = std::enable_if_t<!std::is_lvalue_reference<T>::value>;

MEMSIM_INLINE bool on_stack(const volatile void* address) { return stacks.holds(reinterpret_cast<uintptr_t>(address)); }

// A load or a store alone. What is no lvalue after all is passed on.
template <uint32_t Site, class T>
MEMSIM_INLINE T& access(T& value) {
    log_access<Site>(__builtin_addressof(value));
    return value;
}
template <uint32_t Site, class T, class = Rvalue<T>>
MEMSIM_INLINE T access(T&& value) {
    return static_cast<T&&>(value);
}

// A load, then a store.
template <uint32_t Load, uint32_t Store, class T>
MEMSIM_INLINE T& update(T& value) {
    log_access<Load>(__builtin_addressof(value));
    log_object<Store>(__builtin_addressof(value));
    return value;
}
template <uint32_t Load, uint32_t Store, class T, class = Rvalue<T>>
MEMSIM_INLINE T update(T&& value) {
    return static_cast<T&&>(value);
}

// The same through pointers and references, silent on the stack: what they point to there, a compiler that has inlined
// the function keeps in registers.
template <uint32_t Site, class T>
MEMSIM_INLINE T& memory(T& value) {
    return on_stack(__builtin_addressof(value)) ? value : access<Site>(value);
}
template <uint32_t Site, class T, class = Rvalue<T>>
MEMSIM_INLINE T memory(T&& value) {
    return static_cast<T&&>(value);
}
template <uint32_t Load, uint32_t Store, class T>
MEMSIM_INLINE T& memory_update(T& value) {
    return on_stack(__builtin_addressof(value)) ? value : update<Load, Store>(value);
}
template <uint32_t Load, uint32_t Store, class T, class = Rvalue<T>>
MEMSIM_INLINE T memory_update(T&& value) {
    return static_cast<T&&>(value);
}

// An access by a function that gets a pointer.
template <uint32_t Site, class T>
MEMSIM_INLINE T* pointer(T* address) {
    log_object<Site>(address);
    return address;
}

// An access of which the function that gets the pointer knows how much it is.
template <uint32_t Site, class T>
MEMSIM_INLINE Tile<Site, T> tile(T* address) {
    return {address};
}

template <uint32_t Site>
MEMSIM_INLINE void latch() {
    log_word(latch_mark | Site);
}

// The latch of a loop over a range: declared where the body begins.
template <uint32_t Site>
struct Latch {
    MEMSIM_INLINE ~Latch() { latch<Site>(); }
};

// The latch of a do-while loop, after its condition.
template <uint32_t Site>
MEMSIM_INLINE bool latched(bool condition) {
    latch<Site>();
    return condition;
}

struct Returned {
    MEMSIM_INLINE ~Returned() { log_word(return_mark); }
};

template <uint32_t Site, class F>
MEMSIM_INLINE decltype(auto) marked_call(F& function) {
    log_word(call_mark | Site);
    Returned mark;
    return function();
}

// A call of a device function. What it gives may be a constant, which the compiler wants to know.
template <uint32_t Site, class F>
MEMSIM_INLINE constexpr decltype(auto) call(F&& function) {
    if (__builtin_is_constant_evaluated()) return function();
    return marked_call<Site>(function);
}

// The same for an operator, which is the language's own unless its operand is an object.
template <uint32_t Site, class Operand, class F>
MEMSIM_INLINE constexpr decltype(auto) call_of(F&& function) {
    using Object = std::remove_reference_t<Operand>;
    if constexpr (std::is_class<Object>::value || std::is_union<Object>::value || std::is_void<Object>::value)
        return call<Site>(function);
    else return function();
}

// The same for a constructor that a declaration calls: before and behind it.
template <uint32_t Site>
MEMSIM_INLINE void enter() {
    log_word(call_mark | Site);
}
MEMSIM_INLINE void leave() { log_word(return_mark); }

// What an atomic object's function does to the object, wherever that lies; the function remembers what it touched.
template <uint32_t Site, class F>
MEMSIM_INLINE decltype(auto) atomically(F&& function) {
    struct Log {
        ~Log() {
            auto address = reinterpret_cast<uintptr_t>(atomic_touched.object);
            if (atomic_touched.bytes == 4) log_word(Variant<Site, 4>::tag | address);
            else if (atomic_touched.bytes == 8) log_word(Variant<Site, 8>::tag | address);
            else if (atomic_touched.bytes == 2) log_word(Variant<Site, 2>::tag | address);
            else log_word(Variant<Site, 1>::tag | address);
        }
    } log;
    return function();
}

[[noreturn]] inline void refuse_assembly(const char* where) {
    fail("runs inline PTX (%s), which only a kernel's compiled code can: --stop ends the program before it", where);
}

// A read through a texture object: the texture functions remember the address. The border is in no memory.
template <uint32_t Site, class T>
MEMSIM_INLINE T fetch(T value) {
    if (texel) log_word(Variant<Site, sizeof(T)>::tag | reinterpret_cast<uintptr_t>(texel));
    return value;
}

}  // namespace memsim_probe
