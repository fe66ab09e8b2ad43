// The threads of one block, one fiber each once they wait. A thread runs until it ends or waits; then the next runnable
// one after it runs. Threads that never wait share one fiber, one after another.
#pragma once

#include "fiber.h"
#include "indices.h"
#include "log.h"

namespace memsim_probe {

// Lanes of a warp that exchange something. `finish` gets the meetings of all lanes that take part, and sees to it that
// each has its result, before any of them goes on.
struct Meeting {
    uint32_t mask;  // the lanes that must come; 0: those that are there when no lane of the warp can run
    uint64_t key;   // of a meeting without mask: lanes with the same key meet, the smallest key first
    void (*finish)(Meeting* const* lanes, uint32_t present);
};

// One of a kind `M`, which says what is exchanged and how.
template <class M>
M new_meeting(uint32_t mask, uint64_t key) {
    M meeting;
    static_cast<Meeting&>(meeting) = {mask, key, M::done};
    return meeting;
}

// How far the threads of a block are; the rest of it is on their stacks and in shared memory.
struct BlockState {
    struct Part {
        unsigned arrived, phase;
    };
    struct Warp {
        uint32_t alive, runnable, at_barrier, at_meeting;
        Meeting* meetings[32];
    };
    Warp warps[max_threads / 32] = {};
    Part parts[max_threads / 32] = {};
    uint32_t runnable_warps = 0;
    unsigned size = 0, alive = 0, current = 0, waiting_at_barrier = 0, spins = 0;
    int sum = 0, barrier_sum = 0;
    unsigned at_grid_barrier = 0;  // of those that wait at the next barrier to open
    bool leaves = false;           // the last one was the grid's
    Fiber* fiber_of[max_threads] = {};
};

class Block : BlockState {
  public:
    // Runs all threads of a block, `body(context)` in each, to their ends or up to the grid's barrier: then it is true.
    bool run(unsigned n, void (*thread_body)(void*), void* thread_context) {
        body = thread_body;
        context = thread_context;
        size = alive = n;
        for (unsigned w = 0; w * 32 < n; ++w) {
            unsigned lanes = n - w * 32;
            warps[w].alive = warps[w].runnable = lanes >= 32 ? ~0u : (1u << lanes) - 1;
            runnable_warps |= 1u << w;
        }
        Fiber* first = free_fiber();
        fiber_of[0] = first;
        go_to(0);
        return alive;
    }

    // Goes on behind the grid's barrier; returns as `run`.
    bool resume() {
        go_to(current);
        return alive;
    }

    // Puts aside what the block needs to go on, piece by piece: `kept.keep(where, bytes)`. Others get its stacks.
    template <class Kept>
    void put_aside(Kept& kept) {
        kept.keep(static_cast<BlockState*>(this), sizeof(BlockState));
        for (Fiber*& fiber : fiber_of)
            if (fiber) {
                kept.keep(fiber, sizeof *fiber);
                kept.keep(fiber->lowest(), fiber->top - fiber->lowest());
                prepare(*fiber, fiber->top, stacks.usable_bytes(), &fiber_main);
                fiber = nullptr;
            }
        find_free_fibers();
    }
    // The same pieces in the same order, `kept.give_back(where, bytes)`, each to its place.
    template <class Kept>
    void take_up(Kept& kept) {
        kept.give_back(static_cast<BlockState*>(this), sizeof(BlockState));
        for (Fiber* fiber : fiber_of)
            if (fiber) {
                kept.give_back(fiber, sizeof *fiber);
                kept.give_back(fiber->lowest(), fiber->top - fiber->lowest());
            }
        find_free_fibers();
    }

    bool inside() const { return running != nullptr; }
    unsigned thread() const { return current; }
    unsigned lane() const { return current & 31; }
    uint32_t alive_lanes() const { return warps[current / 32].alive; }

    // The block's barrier; returns the sum of `value` over its threads.
    __attribute__((noinline)) int barrier(int value, const char* caller) {
        need_kernel(caller);
        sum += value;
        Warp& warp = warps[current / 32];
        warp.at_barrier |= 1u << lane();
        ++waiting_at_barrier;
        stop();
        if (waiting_at_barrier == alive) open_barrier();
        go_on();
        return barrier_sum;
    }

    // The grid's barrier: the first thread that goes on behind the block's leaves the processor to the other blocks.
    __attribute__((noinline)) void grid_barrier(const char* caller) {
        ++at_grid_barrier;
        barrier(0, caller);
        if (!leaves) return;
        leaves = false;
        switch_to(&host);
    }

    // A barrier of `size` consecutive threads, the multiple of a warp.
    __attribute__((noinline)) void part_barrier(unsigned size, const char* caller) {
        need_kernel(caller);
        Part& part = parts[current / size];
        unsigned phase = part.phase;
        ++part.arrived;
        while (part.phase == phase)
            if (part.arrived >= alive_in(current / size * size, size)) part.arrived = 0, ++part.phase, moved_on();
            else spin();
    }

    __attribute__((noinline)) void meet(Meeting& meeting, const char* caller) {
        need_kernel(caller);
        Warp& warp = warps[current / 32];
        uint32_t self = 1u << lane();
        if (meeting.mask && !(meeting.mask & self))
            fail("%s: thread %u is not in its own mask %#x", caller, current, meeting.mask);
        warp.meetings[lane()] = &meeting;
        warp.at_meeting |= self;
        stop();
        if (meeting.mask) try_finish(warp, lane());
        go_on();
    }

    // A thread that waits for another one to change something lets the others run.
    __attribute__((noinline)) void spin() {
        if (!running) return;
        if (++spins > most_spins)
            fail("block (%u,%u,%u) waits for ever for a lock or another block (%s)", blockIdx.x, blockIdx.y, blockIdx.z,
                 cooperative ? "blocks take turns at grid.sync() alone: no barrier of the program's own opens"
                             : "blocks run one after another");
        go_on();
    }

    // What a thread spins for has happened: who spins next has not waited for ever.
    void moved_on() { spins = 0; }

  private:
    unsigned alive_in(unsigned first, unsigned size) const {
        unsigned count = 0;
        for (unsigned w = first / 32; w < (first + size) / 32 && w < max_threads / 32; ++w)
            count += __builtin_popcount(warps[w].alive);
        return count;
    }

    void need_kernel(const char* caller) const {
        if (!running) fail("%s is called outside a kernel", caller);
    }

    void stop() {
        unsigned w = current / 32;
        warps[w].runnable &= ~(1u << lane());
        if (!warps[w].runnable) {
            runnable_warps &= ~(1u << w);
            if (warps[w].at_meeting) finish_converged(warps[w]);
        }
    }

    void wake(Warp& warp, uint32_t lanes) {
        warp.runnable |= lanes;
        runnable_warps |= 1u << (&warp - warps);
    }

    void open_barrier() {
        if (at_grid_barrier && at_grid_barrier < size)
            fail("deadlock in block (%u,%u,%u): %u of its %u threads wait at the grid's barrier, the others have ended "
                 "or wait at the block's",
                 blockIdx.x, blockIdx.y, blockIdx.z, at_grid_barrier, size);
        for (Warp& warp : warps)
            if (warp.at_barrier) {
                wake(warp, warp.at_barrier);
                warp.at_barrier = 0;
            }
        waiting_at_barrier = 0;
        leaves = at_grid_barrier;
        at_grid_barrier = 0;
        spins = 0;
        barrier_sum = sum;
        sum = 0;
    }

    // Finishes the meeting that `lane` waits in, if all the lanes it needs are there. Ended lanes need not come.
    void try_finish(Warp& warp, unsigned lane) {
        const Meeting& own = *warp.meetings[lane];
        uint32_t needed = own.mask & warp.alive;
        if (needed & ~warp.at_meeting) return;
        for (uint32_t left = needed; left; left &= left - 1) {
            const Meeting& other = *warp.meetings[__builtin_ctz(left)];
            if (other.mask != own.mask || other.finish != own.finish) return;
        }
        finish(warp, needed);
    }

    // No lane of the warp can run: the meetings without mask have all who will come. The smallest key goes first, so
    // that lanes ahead wait for those behind, as where diverged lanes reconverge.
    void finish_converged(Warp& warp) {
        const Meeting* first = nullptr;
        for (uint32_t left = warp.at_meeting; left; left &= left - 1) {
            const Meeting* each = warp.meetings[__builtin_ctz(left)];
            if (!each->mask && (!first || each->key < first->key)) first = each;
        }
        if (!first) return;
        uint32_t present = 0;
        for (uint32_t left = warp.at_meeting; left; left &= left - 1) {
            const Meeting* each = warp.meetings[__builtin_ctz(left)];
            if (!each->mask && each->key == first->key && each->finish == first->finish) present |= left & -left;
        }
        finish(warp, present);
    }

    void finish(Warp& warp, uint32_t present) {
        auto how = warp.meetings[__builtin_ctz(present)]->finish;
        how(warp.meetings, present);
        warp.at_meeting &= ~present;
        wake(warp, present);
    }

    // The current thread has ended: who waited for it need not any more.
    void end_thread() {
        Warp& warp = warps[current / 32];
        warp.alive &= ~(1u << lane());
        --alive;
        spins = 0;
        stop();
        if (waiting_at_barrier && waiting_at_barrier == alive) open_barrier();
        for (uint32_t left = warp.at_meeting; left; left &= left - 1)
            if ((warp.at_meeting & left & -left) && warp.meetings[__builtin_ctz(left)]->mask)
                try_finish(warp, __builtin_ctz(left));
    }

    // The first runnable thread after the current one, around the block.
    unsigned next_thread() {
        unsigned w = current / 32;
        uint64_t after = ~uint64_t{0} << (lane() + 1);
        if (uint32_t later = warps[w].runnable & static_cast<uint32_t>(after)) return w * 32 + __builtin_ctz(later);
        uint32_t others = runnable_warps & static_cast<uint32_t>(~uint64_t{0} << (w + 1));
        if (!others) others = runnable_warps;
        if (!others) stuck();
        w = __builtin_ctz(others);
        return w * 32 + __builtin_ctz(warps[w].runnable);
    }

    void go_on() {
        unsigned next = next_thread();
        if (next != current) go_to(next);
    }

    void set_current(unsigned thread) {
        current = thread;
        threadIdx = thread_index[thread];
        block_log.turn(thread);
    }

    void go_to(unsigned thread) {
        set_current(thread);
        Fiber* to = fiber_of[thread];
        if (!to) to = fiber_of[thread] = free_fiber();
        // Mostly the thread after it is next; its stack has left the fastest cache since it last ran.
        if (Fiber* then = fiber_of[(thread + 1) % max_threads]) then->prefetch();
        if (to != running) switch_to(to);
    }

    void switch_to(Fiber* to) {
        Fiber* from = running ? running : &host;
        running = to == &host ? nullptr : to;
        switch_fiber(*from, *to);
    }

    Fiber* free_fiber() {
        if (Fiber* fiber = free_fibers) {
            free_fibers = fiber->next_free;
            return fiber;
        }
        Fiber* fiber = made[n_fibers] = static_cast<Fiber*>(calloc(1, sizeof(Fiber)));
        fiber->top = stacks.top(n_fibers++);
        prepare(*fiber, fiber->top, stacks.usable_bytes(), &fiber_main);
        return fiber;
    }

    void find_free_fibers() {
        for (unsigned i = 0; i < n_fibers; ++i) made[i]->used = false;
        for (Fiber* fiber : fiber_of)
            if (fiber) fiber->used = true;
        free_fibers = nullptr;
        for (unsigned i = 0; i < n_fibers; ++i)
            if (!made[i]->used) {
                made[i]->next_free = free_fibers;
                free_fibers = made[i];
            }
    }

    // A fiber's life: each time it is switched to here, there is a thread to begin.
    static void fiber_main();
    void serve() {
        for (;;) {
            body(context);
            end_thread();
            fiber_of[current] = nullptr;
            if (alive) {
                unsigned next = next_thread();
                if (!fiber_of[next]) {
                    fiber_of[next] = running;
                    set_current(next);
                    continue;
                }
                retire();
                go_to(next);
            } else {
                retire();
                switch_to(&host);
            }
        }
    }

    void retire() {
        running->next_free = free_fibers;
        free_fibers = running;
    }

    [[noreturn]] void stuck() const {
        unsigned in_meetings = 0;
        for (const Warp& warp : warps) in_meetings += __builtin_popcount(warp.at_meeting);
        fail(
            "deadlock in block (%u,%u,%u): %u threads wait at a barrier, %u for other lanes of their warp, none can "
            "run",
            blockIdx.x, blockIdx.y, blockIdx.z, waiting_at_barrier, in_meetings);
    }

    static constexpr unsigned most_spins = 20'000'000;

    unsigned n_fibers = 0;
    void (*body)(void*) = nullptr;
    void* context = nullptr;
    Fiber host = {};
    Fiber *running = nullptr, *free_fibers = nullptr;
    Fiber* made[max_threads] = {};

  public:
    uint3 thread_index[max_threads] = {};
    bool cooperative = false;  // its grid's blocks may wait for each other
};

inline Block block;

inline void Block::fiber_main() { block.serve(); }

}  // namespace memsim_probe
