// Arrays that are not allocated but declared: shared memory and variables at namespace scope.
#pragma once

#include <type_traits>

#include "arrays.h"

namespace memsim_probe {

constexpr size_t dynamic_shared_bytes = 256 << 10;

// The shared arrays of the launch under way. Every thread passes their declarations, so knowing one again must be
// cheap.
class SharedArrays {
  public:
    MEMSIM_INLINE void declare(const char* name, const void* base, size_t bytes, size_t element_bytes) {
        const void*& seen = recent[(reinterpret_cast<uintptr_t>(base) >> 4) & 63];
        if (__builtin_expect(seen == base, 1)) return;
        seen = base;
        add(name, base, bytes, element_bytes, "");
    }

    template <class T>
    MEMSIM_INLINE T* dynamic(const char* name) {
        if (__builtin_expect(!dynamic_known, 0)) declare_dynamic(name, sizeof(std::remove_all_extents_t<T>));
        return reinterpret_cast<T*>(dynamic_base());
    }

    void begin_launch(size_t bytes) {
        dynamic_bytes = bytes;
        dynamic_known = false;
        launched = true;
        memset(recent, 0, sizeof recent);
    }

    bool holds(uintptr_t address) const {
        for (size_t i = 0; i < count; ++i)
            if (address - reinterpret_cast<uintptr_t>(list[i]) < sizes[i]) return true;
        return false;
    }

    // Puts a block's shared memory aside, piece by piece, with how many of the arrays have been declared so far.
    template <class Kept>
    void put_aside(Kept& kept) {
        kept.keep(&count, sizeof count);
        for (size_t i = 0; i < count; ++i) kept.keep(const_cast<void*>(list[i]), sizes[i]);
        kept.keep(dynamic_base(), dynamic_bytes);
    }
    template <class Kept>
    void take_up(Kept& kept) {
        size_t declared = 0;
        kept.give_back(&declared, sizeof declared);
        for (size_t i = 0; i < declared; ++i) kept.give_back(const_cast<void*>(list[i]), sizes[i]);
        kept.give_back(dynamic_base(), dynamic_bytes);
    }

    // No kernel declared the dynamic array: one at namespace scope may be in use.
    void settle() {
        if (!dynamic_known && outer_name) declare_dynamic(outer_name, outer_bytes);
    }

    void end_launch() {
        launched = false;
        while (count) arrays.remove(list[--count]);
    }

  private:
    static char* dynamic_base() {
        static char* const base = reserve(shared_region, dynamic_shared_bytes, os::read_write);
        return base;
    }

    __attribute__((noinline)) void declare_dynamic(const char* name, size_t element_bytes) {
        if (!launched) {  // an initialiser at namespace scope
            outer_name = name;
            outer_bytes = element_bytes;
            return;
        }
        dynamic_known = true;
        if (dynamic_bytes) add(name, dynamic_base(), dynamic_bytes, element_bytes, ",\"dynamic\":true");
    }

    __attribute__((noinline)) void add(const char* name, const void* base, size_t bytes, size_t element_bytes,
                                       const char* more) {
        for (size_t i = 0; i < count; ++i)
            if (list[i] == base) return;
        if (count == most) fail("more than %zu shared arrays", most);
        sizes[count] = bytes;
        list[count++] = base;
        arrays.add(name, shared, base, bytes, element_bytes, more);
    }

    static constexpr size_t most = 256;
    const void* recent[64] = {};
    const void* list[most] = {};
    size_t sizes[most] = {};
    size_t count = 0, dynamic_bytes = 0;
    const char* outer_name = nullptr;
    size_t outer_bytes = 0;
    bool dynamic_known = false, launched = false;
};
inline SharedArrays shared_arrays;

inline bool is_shared(uintptr_t address) { return shared_arrays.holds(address); }

// After the declaration of a shared array.
struct Shared {
    MEMSIM_INLINE Shared(const char* name, const void* base, size_t bytes, size_t element_bytes) {
        shared_arrays.declare(name, base, bytes, element_bytes);
    }
};

// Instead of an `extern __shared__` declaration.
template <class T>
MEMSIM_INLINE T* dynamic_shared(const char* name) {
    return shared_arrays.dynamic<T>(name);
}

// After the declaration of a static variable in a function: known from the first thread on that gets there.
struct StaticLocal {
    StaticLocal(const char* name, const void* base, size_t bytes, size_t element_bytes, Space space) {
        arrays.add(name, space, base, bytes, element_bytes);
    }
};

// After the definition of a variable at namespace scope: an object of static storage, so it only joins a list.
struct Symbol {
    const char* name;
    const void* base;
    size_t bytes, element_bytes;
    Space space;
    bool announced = false;
    Symbol* next;
    static inline Symbol* list = nullptr;

    Symbol(const char* name, const void* base, size_t bytes, size_t element_bytes, Space space)
        : name(name), base(base), bytes(bytes), element_bytes(element_bytes), space(space), next(list) {
        list = this;
    }

    static void announce() {
        for (Symbol* s = list; s && !s->announced; s = s->next) {
            arrays.add(s->name, s->space, s->base, s->bytes, s->element_bytes);
            s->announced = true;
        }
    }

    // Where the variable that a call names lies: CUDA before 5 had names as strings.
    template <class T>
    static char* address_of(const T& variable) {
        auto address = const_cast<char*>(reinterpret_cast<const volatile char*>(&variable));
        if constexpr (std::is_same<std::remove_cv_t<std::remove_extent_t<T>>, char>::value)
            for (Symbol* s = list; s; s = s->next) {
                if (s->base == address) break;
                if (!strncmp(s->name, address, sizeof(T))) return static_cast<char*>(const_cast<void*>(s->base));
            }
        return address;
    }
};

}  // namespace memsim_probe
