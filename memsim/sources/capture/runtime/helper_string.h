// Command lines as NVIDIA's samples read them: -flag, --key=value.
#pragma once

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, bytes, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(result) (result == nullptr)
#define SSCANF sscanf
#define SPRINTF sprintf
#endif

// The text after `name=` (or after `name`) of the option that has that name; null if it was not given.
inline const char* memsim_option(int argc, const char** argv, const char* name) {
    size_t length = strlen(name);
    for (int i = 1; i < argc; ++i) {
        const char* text = argv[i];
        if (*text != '-') continue;
        while (*text == '-') ++text;
        if (!strncasecmp(text, name, length) && (text[length] == '=' || !text[length]))
            return text + length + (text[length] == '=');
    }
    return nullptr;
}
inline int checkCmdLineFlag(const int argc, const char** argv, const char* name) {
    return memsim_option(argc, argv, name) != nullptr;
}
inline int getCmdLineArgumentInt(const int argc, const char** argv, const char* name) {
    const char* text = memsim_option(argc, argv, name);
    return text ? atoi(text) : 0;
}
inline float getCmdLineArgumentFloat(const int argc, const char** argv, const char* name) {
    const char* text = memsim_option(argc, argv, name);
    return text ? static_cast<float>(atof(text)) : 0;
}
inline bool getCmdLineArgumentString(const int argc, const char** argv, const char* name, char** value) {
    const char* text = memsim_option(argc, argv, name);
    *value = const_cast<char*>(text);
    return text != nullptr;
}
template <class T>
inline bool getCmdLineArgumentValue(const int argc, const char** argv, const char* name, T* value) {
    const char* text = memsim_option(argc, argv, name);
    if (text) *value = static_cast<T>(atoi(text));
    return text != nullptr;
}

// A data file: as named, or where samples keep theirs.
inline char* sdkFindFilePath(const char* name, const char* program) {
    (void)program;
    for (const char* folder : {"./", "./data/", "../data/", "./src/"}) {
        char path[4096];
        snprintf(path, sizeof path, "%s%s", folder, name);
        if (FILE* file = fopen(path, "rb")) {
            fclose(file);
            return strdup(path);
        }
    }
    return nullptr;
}
