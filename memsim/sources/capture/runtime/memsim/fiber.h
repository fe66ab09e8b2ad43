// Fibers: stacks that one OS thread runs in turn. A switch saves what a called function must keep and nothing else
// (about 3 ns; swapcontext asks the kernel for signal masks and takes a hundred times as long).
#pragma once

#include "arrays.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#define MEMSIM_UCONTEXT 1
#endif

#ifdef MEMSIM_UCONTEXT
#include <ucontext.h>
#endif

namespace memsim_probe {

struct Fiber {
#ifdef MEMSIM_UCONTEXT
    ucontext_t state;
#else
    void* stack_pointer;
#endif
    // Where what its stack holds begins.
    char* lowest() const {
#ifdef MEMSIM_UCONTEXT
        return static_cast<char*>(state.uc_stack.ss_sp);
#else
        return static_cast<char*>(stack_pointer);
#endif
    }
    void prefetch() const {
#ifndef MEMSIM_UCONTEXT
        const char* top = static_cast<const char*>(stack_pointer);
        for (int line = 0; line < 4; ++line) __builtin_prefetch(top + 64 * line);
#endif
    }
    char* top;  // of its stack
    Fiber* next_free;
    bool used;  // by a thread of the block
};

#ifdef MEMSIM_UCONTEXT

inline void switch_fiber(Fiber& from, Fiber& to) { swapcontext(&from.state, &to.state); }

inline void prepare(Fiber& fiber, char* top, size_t bytes, void (*entry)()) {
    getcontext(&fiber.state);
    fiber.state.uc_stack.ss_sp = top - bytes;
    fiber.state.uc_stack.ss_size = bytes;
    fiber.state.uc_link = nullptr;
    makecontext(&fiber.state, entry, 0);
}

#else

extern "C" void memsim_switch(void** save, void* load);

#ifdef __x86_64__
asm(R"(
.pushsection .text.memsim_switch,"axG",@progbits,memsim_switch,comdat
.weak memsim_switch
.type memsim_switch, @function
memsim_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size memsim_switch, .-memsim_switch
.popsection
)");
constexpr int saved_words = 6;  // then the address to return to
constexpr int entry_word = saved_words;
#else
asm(R"(
.pushsection .text.memsim_switch,"axG",%progbits,memsim_switch,comdat
.weak memsim_switch
.type memsim_switch, %function
memsim_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size memsim_switch, .-memsim_switch
.popsection
)");
constexpr int saved_words = 20;
constexpr int entry_word = 11;  // x30
#endif

inline void switch_fiber(Fiber& from, Fiber& to) { memsim_switch(&from.stack_pointer, to.stack_pointer); }

inline void prepare(Fiber& fiber, char* top, size_t, void (*entry)()) {
    // Above the saved registers: the entry as return address (x86-64), and a word that keeps the ABI's alignment.
    constexpr int frame_words = round_up(saved_words + 2, 2);
    void** frame = reinterpret_cast<void**>(top) - frame_words;
    memset(frame, 0, frame_words * sizeof *frame);
    frame[entry_word] = reinterpret_cast<void*>(entry);
    fiber.stack_pointer = frame;
}

#endif

// Stacks for the threads of a block, each with unmapped pages below. A thread's local variables lie at the same
// distance from its stack's end whichever stack it got, so the log's reader needs the address modulo `slot_bytes` only.
class Stacks {
  public:
    char* top(unsigned i) {
        if (!base) map();
        char* slot = base + i * slot_bytes;
        char* guard = reinterpret_cast<char*>(round_up(reinterpret_cast<uintptr_t>(slot), page_bytes));
        protect(guard, guard_bytes, os::no_access);
        return slot + slot_bytes;
    }

    size_t usable_bytes() const { return slot_bytes - guard_bytes - page_bytes; }

    bool holds(uintptr_t address) const {
        return address - reinterpret_cast<uintptr_t>(base) < slot_bytes * max_stacks;
    }

    void announce() {
        if (!base) map();
        static char more[64];
        snprintf(more, sizeof more, ",\"stack_bytes\":%zu", slot_bytes);
        arrays.add("local", local, base, slot_bytes * max_stacks, 4, more);
    }

  private:
    static constexpr unsigned max_stacks = 1024;
    static constexpr size_t guard_bytes = 16 * page_bytes;

    void map() {
        const char* wanted = getenv("MEMSIM_STACK");
        size_t bytes = wanted ? strtoull(wanted, nullptr, 0) : 256 << 10;
        // 192: slots a multiple of the page apart would meet in the same few sets of the host's caches.
        slot_bytes = round_up(bytes, page_bytes) + guard_bytes + page_bytes + 192;
        base = reserve(stack_region, slot_bytes * max_stacks, os::read_write);
    }

    char* base = nullptr;
    size_t slot_bytes = 0;
};

inline Stacks stacks;

}  // namespace memsim_probe
