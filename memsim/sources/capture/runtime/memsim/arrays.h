// The arrays a program has, as the stream names them; kept here too, so that a fault can be told by name.
#pragma once

#include "address_space.h"

namespace memsim_probe {

enum Space { global_, constant, shared, local };
constexpr const char* space_names[] = {"global", "constant", "shared", "local"};

struct Array {
    char name[64];
    Space space;
    uintptr_t base;
    size_t bytes, element_bytes;
    const char* more;  // further members of the message, or ""
};

// What is known of an array's elements by the pointer to it.
template <class T>
struct ElementBytes {
    static constexpr size_t value = sizeof(T);
};
template <>
struct ElementBytes<void> {
    static constexpr size_t value = 0;
};

class Arrays {
  public:
    void add(const char* name, Space space, const void* base, size_t bytes, size_t element_bytes,
             const char* more = "") {
        if (count == room) list = static_cast<Array*>(realloc(list, (room = 2 * room + 64) * sizeof *list));
        Array& array = list[count++];
        snprintf(array.name, sizeof array.name, "%s", name);
        array.space = space;
        array.base = reinterpret_cast<uintptr_t>(base);
        array.bytes = bytes;
        array.element_bytes = element_bytes;
        array.more = more;
        if (stream.open()) announce(array);
    }

    void remove(const void* base) {
        for (size_t i = 0; i < count; ++i)
            if (list[i].base == reinterpret_cast<uintptr_t>(base)) {
                if (stream.open()) announce_end(list[i]);
                list[i] = list[--count];
                return;
            }
    }

    // All that there are, once more.
    void announce_all() const {
        for (size_t i = 0; i < count; ++i) announce(list[i]);
    }

    // The array that holds `address`, else the nearest one; null if there is none.
    const Array* nearest(uintptr_t address) const {
        const Array* best = nullptr;
        for (size_t i = 0; i < count; ++i)
            if (!best || distance(list[i], address) < distance(*best, address)) best = &list[i];
        return best;
    }

  private:
    static uintptr_t distance(const Array& array, uintptr_t address) {
        if (address < array.base) return array.base - address;
        uintptr_t end = array.base + array.bytes;
        return address < end ? 0 : address - end + 1;
    }

    static void announce(const Array& array) {
        char name[512], json[1024];
        escape(array.name, name, sizeof name);
        snprintf(json, sizeof json,
                 "{\"name\":\"%s\",\"space\":\"%s\",\"base\":%llu,\"bytes\":%zu,\"element_bytes\":%zu%s}", name,
                 space_names[array.space], static_cast<unsigned long long>(array.base), array.bytes,
                 array.element_bytes, array.more);
        stream.text(Message::array, json);
    }

    static void announce_end(const Array& array) {
        char json[64];
        snprintf(json, sizeof json, "{\"base\":%llu}", static_cast<unsigned long long>(array.base));
        stream.text(Message::free, json);
    }

    Array* list = nullptr;
    size_t count = 0, room = 0;
};

inline Arrays arrays;

}  // namespace memsim_probe
