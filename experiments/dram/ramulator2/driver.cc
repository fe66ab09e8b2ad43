// Sends a list of requests through Ramulator 2 and prints each read's latency in ticks of its memory.
//
//     driver MEMORY.yaml LEVELS < requests > latencies
//
// A line of the list is "tick is_write place...", in order of time; the place is a number for each level of the memory, from
// the channel to the column. A request that the controller has no room for waits, and those behind it; its latency counts
// from its tick. A line of the output is the latency of a read, in the order of the list; -1 for a write.
#include <cstdio>
#include <string>
#include <vector>

#include <ramulator/base/config.h>
#include <ramulator/base/factory.h>
#include <ramulator/base/request.h>
#include <ramulator/frontend/i_frontend.h>
#include <ramulator/memory_system/i_memory_system.h>

struct Entry {
    long tick;
    int write;
    Ramulator::AddrVec_t place;
};

std::vector<Entry> read_entries(int levels) {
    std::vector<Entry> entries;
    Entry next;
    while (std::scanf("%ld %d", &next.tick, &next.write) == 2) {
        next.place.resize(levels);
        for (auto &number : next.place)
            if (std::scanf("%d", &number) != 1) return entries;
        entries.push_back(next);
    }
    return entries;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: driver MEMORY.yaml LEVELS < requests > latencies\n");
        return 2;
    }
    auto config = Ramulator::Config::parse_config_file(argv[1]);
    auto *frontend = Ramulator::Factory::create_frontend(config);
    auto *memory = Ramulator::Factory::create_memory_system(config);
    frontend->connect_memory_system(memory);
    memory->connect_frontend(frontend);

    const std::vector<Entry> entries = read_entries(std::stoi(argv[2]));
    std::vector<long> latency(entries.size(), -1);
    std::size_t left = 0;
    long tick = 0;
    for (std::size_t k = 0; k < entries.size() || left > 0; ++tick) {
        for (; k < entries.size() && entries[k].tick <= tick; ++k) {
            const Entry &e = entries[k];
            // The address only tells requests apart: each has its own, so that none is served from the writes' buffer.
            Ramulator::Request request(static_cast<Ramulator::Addr_t>(k), e.write, 0, [&, k](Ramulator::Request &) {
                if (entries[k].write) return;
                latency[k] = tick + 1 - entries[k].tick;
                --left;
            });
            request.addr_vec = e.place;
            request.size_bytes = memory->get_tx_bytes();
            if (!memory->send(request)) break;
            if (!e.write) ++left;
        }
        memory->tick();
    }
    for (long l : latency) std::printf("%ld\n", l);
    return 0;
}
