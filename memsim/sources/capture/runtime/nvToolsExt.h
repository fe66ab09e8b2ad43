// NVTX: marks for a profiler's time line, which is not there.
#pragma once

#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
enum { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB };
enum { NVTX_MESSAGE_UNKNOWN, NVTX_MESSAGE_TYPE_ASCII, NVTX_MESSAGE_TYPE_UNICODE };

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
    } payload;
    int32_t messageType;
    union {
        const char* ascii;
        const wchar_t* unicode;
    } message;
} nvtxEventAttributes_t;

static inline int nvtxRangePushA(const char* name) { return (void)name, 0; }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t* event) { return (void)event, 0; }
static inline int nvtxRangePop(void) { return 0; }
static inline nvtxRangeId_t nvtxRangeStartA(const char* name) { return (void)name, 0; }
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* event) { return (void)event, 0; }
static inline void nvtxMarkEx(const nvtxEventAttributes_t* event) { (void)event; }
static inline void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
static inline void nvtxMarkA(const char* name) { (void)name; }
static inline void nvtxNameOsThreadA(uint32_t thread, const char* name) { (void)thread, (void)name; }

#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
#define nvtxNameOsThread nvtxNameOsThreadA
