// The arguments of a launch, for a listener that runs the kernel's compiled code: {u8 kind, u32 bytes} and the bytes of
// each, as they were given. What a kernel's parameters make of them, its compiled code tells.
#pragma once

#include <type_traits>

#include "failure.h"

namespace memsim_probe {

class Arguments {
  public:
    template <class... A>
    void take(const A&... values) {
        used = 0;
        if (wanted) (add(values), ...);
    }

    void announce() {
        if (!wanted) return;
        stream.begin(Message::arguments, used);
        stream.put(bytes, used);
    }

  private:
    template <class A>
    void add(const A& value) {
        constexpr char kind = std::is_floating_point<A>::value                                ? 'f'
                              : std::is_pointer<A>::value || std::is_null_pointer<A>::value   ? 'p'
                              : std::is_integral<A>::value && std::is_signed<A>::value        ? 'i'
                              : std::is_integral<A>::value || std::is_enum<A>::value          ? 'u'
                                                                                              : 's';
        uint32_t size = sizeof value;
        if (used + 5 + size > sizeof bytes) fail("a launch with more than %zu bytes of arguments", sizeof bytes);
        bytes[used] = kind;
        memcpy(bytes + used + 1, &size, 4);
        memcpy(bytes + used + 5, &value, size);
        used += 5 + size;
    }

    const bool wanted = getenv("MEMSIM_ARGUMENTS");
    char bytes[1 << 16];
    size_t used = 0;
};
inline Arguments arguments_given;

}  // namespace memsim_probe
