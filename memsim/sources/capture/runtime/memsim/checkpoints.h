// Launches to come back to. Which launch of a program accesses memory most is known when all have run; so before a launch
// a copy of the process is made (fork: pages are copied as they change), which waits. The program goes on, counts what
// the launch accesses, and is told whether the copy is to be kept, in a place where there may be one already, or not.
// When the program has ended, one copy after the other runs its launch once more, logged; it prints nothing.
#pragma once

#include "failure.h"

namespace memsim_probe {

class Checkpoints {
  public:
    // Returns false in the program, and true in the copy, once the program has ended and it is this copy's turn.
    bool take() {
        if (turns < 0) turns = os::memsim_memory_file("memsim", 1);
        int ends[2];
        if (turns < 0 || os::memsim_pipe(ends, os::close_on_exec)) give_up();
        int process = os::memsim_fork();
        if (process < 0) give_up();
        if (process) {
            os::memsim_close(ends[0]);
            newest = {process, ends[1]};
            return false;
        }
        os::memsim_close(ends[1]);
        for (unsigned i = 0; i < room; ++i)
            if (kept[i].process) os::memsim_close(kept[i].end);
        await(ends[0]);
        return true;
    }

    void keep(unsigned number) {
        if (number >= room) grow(number + 1);
        drop(kept[number]);
        kept[number] = newest;
    }
    void drop() { drop(newest); }

  private:
    struct Copy {
        int process = 0, end = -1;  // what it waits at: a byte ends it, the program's end lets it go
    };

    static void drop(Copy& copy) {
        if (!copy.process) return;
        os::memsim_write(copy.end, "x", 1);
        os::memsim_close(copy.end);
        while (os::memsim_waitpid(copy.process, nullptr, 0) < 0 && *os::memsim_errno() == os::interrupted) {}
        copy = {};
    }

    void await(int end) {
        char byte;
        long got;
        do got = os::memsim_read(end, &byte, 1);
        while (got < 0 && *os::memsim_errno() == os::interrupted);
        if (got) os::memsim_exit(0);
        while (os::memsim_lockf(turns, os::wait_and_lock, 0) && *os::memsim_errno() == os::interrupted) {}
        int nowhere = os::memsim_open("/dev/null", os::write_only);
        os::memsim_dup2(nowhere, 1);
    }

    void grow(unsigned wanted) {
        kept = static_cast<Copy*>(realloc(kept, wanted * sizeof *kept));
        for (; room < wanted; ++room) kept[room] = {};
    }

    [[noreturn]] static void give_up() {
        fail("its state cannot be kept (%s); give --kernel and --launch", strerror(*os::memsim_errno()));
    }

    Copy newest, *kept = nullptr;
    unsigned room = 0;
    int turns = -1;  // a file that one copy at a time has locked
};
inline Checkpoints checkpoints;

}  // namespace memsim_probe
