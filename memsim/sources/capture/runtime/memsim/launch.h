// Kernel launches: the blocks of a grid one after another, those in the window logged; up to each barrier of the whole
// grid, if the launch is a cooperative one.
#pragma once

#include "arguments.h"
#include "by_bits.h"
#include "checkpoints.h"
#include "fault.h"
#include "kernel_names.h"
#include "lock.h"
#include "occupancy.h"
#include "paused.h"
#include "variables.h"
#include "variants.h"
#include "work.h"

namespace memsim_probe {

// Which blocks to log, as the reader of the stream answers: `FIRST LAST`, and `only` if no others are to run, and `stop`
// if nothing is to run after them, `count` if the launch's accesses are to be counted, and `checkpoint` if it may have to
// be run again.
struct Window {
    unsigned long long first = 0, last = 0;
    bool only = false, stop = false, count = false, checkpoint = false;

    void ask() {
        const char* line = stream.ask();
        if (sscanf(line, "%llu %llu", &first, &last) < 2) fail("the log's reader sent `%s`", line);
        only = strstr(line, "only");
        stop = strstr(line, "stop");
        count = strstr(line, "count");
        checkpoint = strstr(line, "checkpoint");
    }
    bool holds(uint64_t number) const { return first <= number && number < last; }
    bool ends_with(uint64_t number) const { return stop && number + 1 >= last; }
};

struct Shape {
    dim3 grid, block;
    size_t shared_bytes;
    bool cooperative = false;

    bool valid() const {
        return grid.x && grid.y && grid.z && grid.x <= 0x7FFFFFFF && grid.y <= 65535 && grid.z <= 65535 && block.x &&
               block.y && block.z && block.x <= 1024 && block.y <= 1024 && block.z <= 64 && threads() <= max_threads &&
               shared_bytes <= dynamic_shared_bytes;
    }
    uint64_t threads() const { return uint64_t{block.x} * block.y * block.z; }
    uint64_t blocks() const { return uint64_t{grid.x} * grid.y * grid.z; }
    uint3 block_index(uint64_t number) const {
        auto row = number / grid.x;
        return {unsigned(number % grid.x), unsigned(row % grid.y), unsigned(row / grid.y)};
    }

    // Of a cooperative launch, all of whose blocks are on the GPU together.
    uint64_t most_blocks() const {
        return uint64_t{host_multiprocessors} * blocks_per_sm(static_cast<int>(threads()), shared_bytes);
    }

    cudaError_t error() const {
        if (!valid()) return cudaErrorInvalidConfiguration;
        return cooperative && blocks() > most_blocks() ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
    }

    // CUDA only tells those who ask for the error; who traces wonders where the kernel has gone.
    void complain(const Place& at) const {
        fprintf(stderr, "%s:%d: kernel %s did not run: ", at.file, at.line, at.kernel);
        if (valid()) return complain_of_size();
        fprintf(stderr, "no GPU launches %ux%ux%u blocks of %ux%ux%u threads with %zu shared bytes\n", grid.x, grid.y,
                grid.z, block.x, block.y, block.z, shared_bytes);
    }
    void complain_of_size() const {
        fprintf(stderr, "a cooperative launch of %llu blocks, of which the GPU that the program is told of (%d SMs) ",
                static_cast<unsigned long long>(blocks()), host_multiprocessors);
        fprintf(stderr, "holds %llu at a time\n", static_cast<unsigned long long>(most_blocks()));
    }
};

class Grid {
  public:
    // Where the shape is not allowed, nothing runs.
    cudaError_t run(const Place& at, const Shape& wanted, void (*body)(void*), void* context) {
        Alone alone;
        if (block.inside()) fail("%s:%d: a kernel launches %s", at.file, at.line, at.kernel);
        if (cudaError_t error = wanted.error()) {
            if (stream.open()) wanted.complain(at);
            return error;
        }
        shape = wanted;
        block.cooperative = wanted.cooperative;
        place = at;
        prepare();
        if (window.checkpoint && checkpoints.take()) come_back();
        run_blocks(body, context);
        finish();
        place = {};
        return cudaSuccess;
    }

    // All blocks of the grid wait for each other.
    void barrier(const char* caller) {
        if (!shape.cooperative)
            fail_in_thread("%s: the launch is not a cooperative one (cudaLaunchCooperativeKernel)", caller);
        log_word(barrier_mark);
        block.grid_barrier(caller);
    }
    bool is_cooperative() const { return shape.cooperative; }

  private:
    void prepare() {
        catch_faults();
        blockDim = shape.block;
        gridDim = shape.grid;
        unsigned t = 0;
        for (unsigned z = 0; z < shape.block.z; ++z)
            for (unsigned y = 0; y < shape.block.y; ++y)
                for (unsigned x = 0; x < shape.block.x; ++x) block.thread_index[t++] = {x, y, z};
        shared_arrays.begin_launch(shape.shared_bytes);
        window = {};
        any_logged = false;
        if (!stream.open()) return;
        if (n_launches == 0) {
            variants.announce();
            stacks.announce();
        }
        Symbol::announce();
        announce();
        window.ask();
    }

    // In a copy of the program.
    void come_back() {
        again = true;
        announce();
        arrays.announce_all();
        window.ask();
    }

    void announce() const {
        static char kernel[512], file[2048], json[4096];
        escape(place.kernel, kernel, sizeof kernel);
        escape(place.file, file, sizeof file);
        snprintf(
            json, sizeof json,
            "{\"kernel\":\"%s\",\"file\":\"%s\",\"line\":%d,\"index\":%llu,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],"
            "\"dynamic_shared\":%zu%s%s}",
            kernel, file, place.line, n_launches, shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x,
            shape.block.y, shape.block.z, shape.shared_bytes, shape.cooperative ? ",\"cooperative\":true" : "",
            again ? ",\"again\":true" : "");
        arguments_given.announce();
        stream.text(Message::launch, json);
    }

    void run_blocks(void (*body)(void*), void* context) {
        PausedBlock* waiting = shape.cooperative ? new PausedBlock[shape.blocks()] : nullptr;
        bool more = true;
        for (n_barriers = 0; more; n_barriers += more) more = run_round(body, context, waiting);
        delete[] waiting;
    }

    // Each block, from the grid's last barrier to the next or to its end; whether they wait there.
    bool run_round(void (*body)(void*), void* context, PausedBlock* waiting) {
        uint64_t n_waiting = 0, n_ended = 0;
        for (uint64_t number = 0; number < shape.blocks(); ++number) {
            bool logged = window.holds(number), counted = window.count;
            if (window.only && !logged) continue;
            blockIdx = shape.block_index(number);
            if (logged || counted) block_log.begin(number, shape.threads(), logged, counted);
            bool went_on = waiting && waiting[number].waits();
            if (went_on) waiting[number].take_up();
            if (went_on ? block.resume() : block.run(shape.threads(), body, context)) {
                block_log.pause();
                waiting[number].put_aside();
                ++n_waiting;
                continue;
            }
            ++n_ended;
            if (logged) send();
            else if (counted) block_log.end();
            if (window.ends_with(number) && !n_waiting) return false;
        }
        if (n_waiting && n_ended)
            fail("deadlock: %llu blocks wait at the grid's barrier, %llu have ended",
                 static_cast<unsigned long long>(n_waiting), static_cast<unsigned long long>(n_ended));
        return n_waiting;
    }

    void send() {
        shared_arrays.settle();
        block_log.end();
        if (any_logged || shape.cooperative) return;
        any_logged = true;
        window.ask();  // now it is known what one block does
    }

    void finish() {
        shared_arrays.end_launch();
        if (window.stop && !again) fflush(nullptr);  // what the program has printed so far is right
        if (stream.open()) {
            char json[128];
            unsigned long long accesses = block_log.take_count();
            snprintf(json, sizeof json, "{\"index\":%llu,\"accesses\":%llu,\"grid_barriers\":%llu}", n_launches, accesses,
                     n_barriers);
            stream.text(Message::end, json);
            if (window.checkpoint) keep_or_drop();
            else stream.flush();
        }
        if (window.stop || again) os::memsim_exit(0);
        ++n_launches;
    }

    static void keep_or_drop() {
        unsigned number;
        if (sscanf(stream.ask(), "keep %u", &number) == 1) checkpoints.keep(number);
        else checkpoints.drop();
    }

    Shape shape{};
    Window window;
    unsigned long long n_barriers = 0;  // of the whole grid
    bool any_logged = false, again = false;
    unsigned long long n_launches = 0;
};
inline Grid grid_runner;

inline cudaError_t launch_error = cudaSuccess;  // what cudaGetLastError() tells of launches

template <class Body>
void run_grid(const Place& at, const Shape& shape, Body& body) {
    auto call = [](void* context) { (*static_cast<Body*>(context))(); };
    if (cudaError_t error = grid_runner.run(at, shape, call, &body)) launch_error = error;
}

// `k<<<...>>>(arguments)` is launch(..., MEMSIM_KERNEL(k), shape(...), arguments): the arguments are evaluated once,
// and each thread gets copies, converted to the parameters' types.
#define MEMSIM_KERNEL(...)                                                                                             \
    ::memsim_probe::either(                                                                                            \
        [=](auto&... memsim_arguments) -> decltype(::memsim_probe::ByBits<decltype(memsim_arguments)...>::call(        \
                                           0, __VA_ARGS__, memsim_arguments...)) {                                        \
            ::memsim_probe::ByBits<decltype(memsim_arguments)...>::call(0, __VA_ARGS__, memsim_arguments...);          \
        },                                                                                                             \
        [=](auto&... memsim_arguments) { __VA_ARGS__(memsim_arguments...); })

inline Shape shape(dim3 grid, dim3 block, size_t shared_bytes = 0, const void* stream = nullptr) {
    (void)stream;
    return {grid, block, shared_bytes};
}

template <class Kernel, class... Arguments>
cudaError_t run_kernel(const Place& at, const Shape& shape, const Kernel& kernel, Arguments&... arguments) {
    auto body = [&] { start(0, kernel, arguments...); };
    arguments_given.take(arguments...);
    run_grid(at, shape, body);
    return cudaSuccess;
}

// Arguments are copied once, as by CUDA, unless a graph keeps them: what a copy owns, its destructor frees after the
// kernel.
template <class Kernel, class... Arguments>
void launch(const char* name, const char* file, int line, Kernel kernel, const Shape& shape, Arguments... arguments) {
    Place at{name, file, line};
    if (!record) return (void)run_kernel(at, shape, kernel, arguments...);
    (void)in_order(cudaGraphNodeTypeKernel, [=]() mutable { return run_kernel(at, shape, kernel, arguments...); });
}

}  // namespace memsim_probe
