// What an array is called: the only hint is the text of the call that allocates it.
#pragma once

#include <stdio.h>
#include <string.h>

namespace memsim_probe {

// The array's name from the text of an allocation's arguments: `(void**)&d_a, bytes` gives `d_a`.
inline const char* name_in(const char* text, char* out, size_t room) {
    int depth = 0;
    const char* end = text;
    for (; *end && (depth || *end != ','); ++end) depth += (*end == '(' || *end == '[') - (*end == ')' || *end == ']');
    while (*text == ' ') ++text;
    while (*text == '(' || *text == '&' || *text == '*' || *text == ' ') {
        const char* close = text;
        int open = 0;
        if (*text == '(') {
            do open += (*close == '(') - (*close == ')');
            while (++close < end && open);
        }
        bool cast = *text == '(' && close < end;  // something follows the parenthesis
        text = cast ? close : text + 1;
    }
    if (!strncmp(text, "reinterpret_cast<", 17) || !strncmp(text, "static_cast<", 12)) {
        while (text < end && *text != '(') ++text;
        return name_in(text, out, room);
    }
    while (end > text && (end[-1] == ' ' || end[-1] == ')')) --end;
    snprintf(out, room, "%.*s", static_cast<int>(end - text), text);
    return out;
}

}  // namespace memsim_probe
