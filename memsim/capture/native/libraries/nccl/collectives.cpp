// NCCL with one rank (NCCL documentation, "NCCL API"): there is one GPU, so a collective copies, and what a rank sends
// to itself it receives.
#include <stdint.h>
#include <string.h>

#include <deque>
#include <string>
#include <vector>

#include "../common/report.h"

namespace standin {
namespace {

enum { SUCCESS = 0, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };

struct Message {
    const void* data;
    size_t bytes;
};
struct Communicator {
    std::deque<Message> sent;
    struct Place {
        void* data;
        size_t bytes;
    };
    std::deque<Place> wanted;
};
struct UniqueId {
    char bytes[128];
};

size_t bytes_of_type(int type) {
    // ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16, two FP8 formats.
    constexpr unsigned char bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && type < int(sizeof bytes) ? bytes[type] : 0;
}
int copy(const void* from, void* to, size_t n, int type) {
    if (!bytes_of_type(type) || (n && (!from || !to))) return INVALID_ARGUMENT;
    if (from != to) memmove(to, from, n * bytes_of_type(type));
    return count_call(), SUCCESS;
}
int create(Communicator** made, int ranks) {
    if (!made || ranks < 1) return INVALID_ARGUMENT;
    if (ranks > 1) {
        note_once("NCCL: memsim has one GPU, so a communicator has one rank");
        return INVALID_USAGE;
    }
    return *made = new Communicator, SUCCESS;
}
void deliver(Communicator* c) {
    while (!c->sent.empty() && !c->wanted.empty()) {
        Message from = c->sent.front();
        auto to = c->wanted.front();
        memmove(to.data, from.data, from.bytes < to.bytes ? from.bytes : to.bytes);
        c->sent.pop_front(), c->wanted.pop_front();
    }
}

}  // namespace

// Every function also has a name that begins with p, for profilers that replace the other one.
#define NCCL(name, parameters, ...)                            \
    MEMSIM_EXPORT int nccl##name parameters { __VA_ARGS__ }    \
    MEMSIM_EXPORT int pnccl##name parameters { __VA_ARGS__ }

NCCL(GetVersion, (int* version), return *version = 22700, SUCCESS;)
NCCL(GetUniqueId, (UniqueId* id), return *id = {}, SUCCESS;)
NCCL(CommInitRank, (Communicator** c, int ranks, UniqueId, int), return create(c, ranks);)
NCCL(CommInitAll, (Communicator** c, int devices, const int*), return create(c, devices);)
NCCL(CommDestroy, (Communicator* c), return delete c, SUCCESS;)
NCCL(AllReduce, (const void* from, void* to, size_t n, int type, int, Communicator*, void*), return copy(from, to, n, type);)
NCCL(Reduce, (const void* from, void* to, size_t n, int type, int, int, Communicator*, void*), return copy(from, to, n, type);)
NCCL(Broadcast, (const void* from, void* to, size_t n, int type, int, Communicator*, void*), return copy(from, to, n, type);)
NCCL(Bcast, (void* data, size_t n, int type, int, Communicator*, void*), return copy(data, data, n, type);)
NCCL(AllGather, (const void* from, void* to, size_t n, int type, Communicator*, void*), return copy(from, to, n, type);)
NCCL(ReduceScatter, (const void* from, void* to, size_t n, int type, int, Communicator*, void*), return copy(from, to, n, type);)
NCCL(Send, (const void* from, size_t n, int type, int, Communicator* c, void*),
     c->sent.push_back({from, n * bytes_of_type(type)});
     deliver(c);
     return count_call(), SUCCESS;)
NCCL(Recv, (void* to, size_t n, int type, int, Communicator* c, void*),
     c->wanted.push_back({to, n * bytes_of_type(type)});
     deliver(c);
     return count_call(), SUCCESS;)
MEMSIM_EXPORT const char* ncclGetErrorString(int status) { return status ? "invalid usage" : "no error"; }
MEMSIM_EXPORT const char* ncclGetLastError(Communicator*) { return ""; }

}  // namespace standin
