// Files and comparisons as NVIDIA's samples use them: PGM and PPM images, text files of numbers, L2 norms.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

inline bool memsim_load_image(const char* file, unsigned char** data, unsigned* width, unsigned* height,
                              unsigned* channels) {
    FILE* in = fopen(file, "rb");
    char kind = 0;
    unsigned most = 0;
    bool good = in && fscanf(in, "P%c", &kind) == 1 && (kind == '5' || kind == '6');
    auto number = [&](unsigned* value) {
        while (good && fscanf(in, " #%*[^\n]") == 0 && fscanf(in, "%u", value) != 1)
            if (getc(in) == EOF) good = false;
    };
    number(width), number(height), number(&most);
    good = good && most && most < 256 && getc(in) != EOF;
    *channels = kind == '5' ? 1 : 3;
    size_t bytes = good ? size_t{*width} * *height * *channels : 0;
    if (good && !*data) *data = static_cast<unsigned char*>(malloc(bytes));
    good = good && fread(*data, 1, bytes, in) == bytes;
    if (in) fclose(in);
    return good;
}

inline bool memsim_save_image(const char* file, const unsigned char* data, unsigned width, unsigned height,
                              unsigned channels) {
    FILE* out = fopen(file, "wb");
    if (!out) return false;
    fprintf(out, "P%d\n%u %u\n255\n", channels == 1 ? 5 : 6, width, height);
    size_t bytes = size_t{width} * height * channels;
    bool good = fwrite(data, 1, bytes, out) == bytes;
    return fclose(out) == 0 && good;
}

template <class T>
inline bool sdkLoadPGM(const char* file, T** data, unsigned* width, unsigned* height) {
    unsigned char* bytes = nullptr;
    unsigned channels;
    if (!memsim_load_image(file, &bytes, width, height, &channels) || channels != 1) return false;
    size_t count = size_t{*width} * *height;
    if (!*data) *data = static_cast<T*>(malloc(count * sizeof(T)));
    for (size_t i = 0; i < count; ++i)
        (*data)[i] = sizeof(T) == 1 ? static_cast<T>(bytes[i]) : static_cast<T>(bytes[i] / 255.0);
    free(bytes);
    return true;
}
template <class T>
inline bool sdkSavePGM(const char* file, T* data, unsigned width, unsigned height) {
    size_t count = size_t{width} * height;
    unsigned char* bytes = static_cast<unsigned char*>(malloc(count));
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(sizeof(T) == 1 ? data[i] : data[i] * 255);
    bool good = memsim_save_image(file, bytes, width, height, 1);
    free(bytes);
    return good;
}
// Four channels in memory, three in the file.
inline bool sdkLoadPPM4ub(const char* file, unsigned char** data, unsigned* width, unsigned* height) {
    unsigned char* bytes = nullptr;
    unsigned channels;
    if (!memsim_load_image(file, &bytes, width, height, &channels)) return false;
    size_t count = size_t{*width} * *height;
    *data = static_cast<unsigned char*>(malloc(count * 4));
    for (size_t i = 0; i < count; ++i) {
        for (unsigned c = 0; c < 3; ++c) (*data)[4 * i + c] = bytes[i * channels + c % channels];
        (*data)[4 * i + 3] = 0;
    }
    free(bytes);
    return true;
}
inline bool sdkLoadPPM4(const char* file, unsigned char** data, unsigned* width, unsigned* height) {
    return sdkLoadPPM4ub(file, data, width, height);
}
inline bool sdkSavePPM4ub(const char* file, unsigned char* data, unsigned width, unsigned height) {
    size_t count = size_t{width} * height;
    unsigned char* bytes = static_cast<unsigned char*>(malloc(count * 3));
    for (size_t i = 0; i < 3 * count; ++i) bytes[i] = data[i / 3 * 4 + i % 3];
    bool good = memsim_save_image(file, bytes, width, height, 3);
    free(bytes);
    return good;
}

template <class T>
inline bool sdkReadFile(const char* file, T** data, unsigned* length, bool verbose) {
    FILE* in = fopen(file, "r");
    if (!in) {
        if (verbose) fprintf(stderr, "cannot open %s\n", file);
        return false;
    }
    size_t room = 1024, count = 0;
    T* values = static_cast<T*>(malloc(room * sizeof(T)));
    for (double value; fscanf(in, "%lf", &value) == 1; values[count++] = static_cast<T>(value))
        if (count == room) values = static_cast<T*>(realloc(values, (room *= 2) * sizeof(T)));
    fclose(in);
    if (*data) {
        for (size_t i = 0; i < count && i < *length; ++i) (*data)[i] = values[i];
        free(values);
    } else {
        *data = values;
        *length = static_cast<unsigned>(count);
    }
    return true;
}
template <class T, class S>
inline bool sdkWriteFile(const char* file, const T* data, unsigned length, const S, bool, bool = false) {
    FILE* out = fopen(file, "w");
    if (!out) return false;
    for (unsigned i = 0; i < length; ++i) fprintf(out, "%g ", static_cast<double>(data[i]));
    return fclose(out) == 0;
}

template <class T, class S>
inline bool compareData(const T* reference, const T* data, unsigned length, const S epsilon, const float share) {
    unsigned wrong = 0;
    for (unsigned i = 0; i < length; ++i) wrong += !(fabs(static_cast<double>(reference[i]) - data[i]) <= epsilon);
    return wrong <= share * length;
}
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned length, const float epsilon) {
    double error = 0, norm = 0;
    for (unsigned i = 0; i < length; ++i) {
        double difference = reference[i] - data[i];
        error += difference * difference;
        norm += double{reference[i]} * reference[i];
    }
    return norm > 1e-7 && sqrt(error / norm) < epsilon;
}
