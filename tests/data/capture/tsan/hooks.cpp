// What -fsanitize=thread calls, without its library: totals of bytes by kind of access and by space, a line a kernel.
#include "oracle.h"

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

dim3 oracle_thread, oracle_block, oracle_block_dim, oracle_grid_dim;
extern __attribute__((weak)) char __start_oracle_shared[], __stop_oracle_shared[], __start_oracle_constant[], __stop_oracle_constant[];
extern __attribute__((weak)) char __start_oracle_global[], __stop_oracle_global[];

namespace oracle {
char dynamic_shared[1 << 16];
static char arena[1 << 22];
static size_t allocated;
static bool counting;
enum Kind { load, store, atomic_, kinds };
static const char* const spaces[] = {"global_", "shared", "constant"};
static unsigned long long bytes_of[kinds][3];

static int space_of(const char* p) {
    auto in = [p](const char* first, const char* last) { return first <= p && p < last; };
    if (in(arena, arena + sizeof arena) || in(__start_oracle_global, __stop_oracle_global)) return 0;
    if (in(__start_oracle_shared, __stop_oracle_shared)) return 1;
    if (in(dynamic_shared, dynamic_shared + sizeof dynamic_shared)) return 1;
    return in(__start_oracle_constant, __stop_oracle_constant) ? 2 : -1;
}
static void count(Kind kind, const void* p, size_t bytes) {
    int space = counting ? space_of(static_cast<const char*>(p)) : -1;
    if (space >= 0) bytes_of[kind][space] += bytes;
}
void atomic(void* address, size_t bytes) { count(atomic_, address, bytes); }

void* allocate(size_t bytes) {
    void* p = arena + allocated;
    allocated += (bytes + 255) / 256 * 256;
    if (allocated > sizeof arena) abort();
    return p;
}

struct Context {
    ucontext_t state;
    std::vector<char> stack = std::vector<char>(1 << 16);
    bool ended = false;
};
static ucontext_t scheduler;
static Context* running;
static std::function<void()> body;

static void run_thread() {
    body();
    running->ended = true;
    swapcontext(&running->state, &scheduler);
}
void barrier() { swapcontext(&running->state, &scheduler); }

static void run_block(Shape shape) {
    std::vector<Context> threads(shape.block.x * shape.block.y * shape.block.z);
    for (Context& thread : threads) {
        getcontext(&thread.state);
        thread.state.uc_stack.ss_sp = thread.stack.data();
        thread.state.uc_stack.ss_size = thread.stack.size();
        makecontext(&thread.state, run_thread, 0);
    }
    for (bool some = true; some;) {  // from barrier to barrier
        some = false;
        for (unsigned i = 0; i < threads.size(); ++i) {
            if (threads[i].ended) continue;
            oracle_thread = dim3(i % shape.block.x, i / shape.block.x % shape.block.y, i / shape.block.x / shape.block.y);
            running = &threads[i];
            swapcontext(&scheduler, &running->state);
            some |= !running->ended;
        }
    }
}

void launch(const char* kernel, Shape shape, std::function<void()> thread) {
    body = thread;
    oracle_block_dim = shape.block;
    oracle_grid_dim = shape.grid;
    memset(bytes_of, 0, sizeof bytes_of);
    counting = true;
    for (unsigned b = 0; b < shape.grid.x; ++b) {
        oracle_block = dim3(b, 0, 0);
        run_block(shape);
    }
    counting = false;
    for (int kind = 0; kind < kinds; ++kind)
        for (int space = 0; space < 3; ++space)
            if (bytes_of[kind][space])
                printf("%s %s %s %llu\n", kernel, kind == load ? "load" : kind == store ? "store" : "atomic", spaces[space],
                       bytes_of[kind][space]);
}
}  // namespace oracle

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
#define HOOKS(n)                                                                        \
    void __tsan_read##n(void* p) { oracle::count(oracle::load, p, n); }                 \
    void __tsan_write##n(void* p) { oracle::count(oracle::store, p, n); }               \
    void __tsan_unaligned_read##n(void* p) { oracle::count(oracle::load, p, n); }       \
    void __tsan_unaligned_write##n(void* p) { oracle::count(oracle::store, p, n); }     \
    void __tsan_volatile_read##n(void* p) { oracle::count(oracle::load, p, n); }        \
    void __tsan_volatile_write##n(void* p) { oracle::count(oracle::store, p, n); }
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
void __tsan_read_range(void* p, size_t n) { oracle::count(oracle::load, p, n); }
void __tsan_write_range(void* p, size_t n) { oracle::count(oracle::store, p, n); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}
