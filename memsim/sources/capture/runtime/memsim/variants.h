// Static (site, width) pairs. A word of the log has 16 bits for what happened, so each pair the program can produce
// gets a number before main(); templates make several widths of one site.
#pragma once

#include "log.h"

namespace memsim_probe {

struct Variants {
    static constexpr uint32_t most = 0xFEFF;
    struct Entry {
        uint32_t variant, site, bytes;
    };
    Entry* list = nullptr;
    uint32_t count = 0;

    uint64_t add(uint32_t site, uint32_t bytes) {
        if (count == most) fail("more than %u different accesses in the program", most);
        if ((count & (count - 1)) == 0) list = static_cast<Entry*>(realloc(list, 2 * (count + 1) * sizeof *list));
        list[count] = {count + 1, site, bytes};
        return tag_of(++count);
    }

    void announce() const {
        for (uint32_t i = 0; i < count; ++i) {
            stream.begin(Message::variant, sizeof list[i]);
            stream.put(&list[i], sizeof list[i]);
        }
    }
};
inline Variants variants;

template <uint32_t Site, uint32_t Bytes>
struct Variant {
    static inline const uint64_t tag = variants.add(Site, Bytes);
};

}  // namespace memsim_probe
