// Sends a list of requests through DRAMsim3 and prints each read's latency in memory clocks.
//
//     driver MEMORY.ini < requests > latencies
//
// A line of the list is "clock is_write address", in order of clock. A request that the controller has no room for waits,
// and those behind it; its latency counts from its clock. A line of the output is the latency of a read, in the order of the
// list; -1 for a write.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <unordered_map>
#include <vector>

#include "dramsim3.h"

struct Request {
    long clock;
    int write;
    unsigned long long address;
};

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: driver MEMORY.ini < requests > latencies\n");
        return 2;
    }
    std::vector<Request> requests;
    Request next;
    while (std::scanf("%ld %d %llu", &next.clock, &next.write, &next.address) == 3) requests.push_back(next);

    std::vector<long> latency(requests.size(), -1);
    std::unordered_map<unsigned long long, std::deque<std::size_t>> waiting;  // reads by address, oldest first
    long clock = 0;
    std::size_t left = 0;
    auto read_done = [&](std::uint64_t address) {
        auto &queue = waiting[address];
        latency[queue.front()] = clock - requests[queue.front()].clock;
        queue.pop_front();
        --left;
    };
    auto memory = dramsim3::GetMemorySystem(argv[1], "/tmp", read_done, [](std::uint64_t) {});
    for (std::size_t k = 0; k < requests.size() || left > 0; ++clock) {
        for (; k < requests.size() && requests[k].clock <= clock; ++k) {
            const Request &r = requests[k];
            if (!memory->WillAcceptTransaction(r.address, r.write)) break;
            memory->AddTransaction(r.address, r.write);
            if (!r.write) {
                waiting[r.address].push_back(k);
                ++left;
            }
        }
        memory->ClockTick();
    }
    for (long l : latency) std::printf("%ld\n", l);
    return 0;
}
