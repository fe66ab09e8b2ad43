"""Small random PTX programs that end: branches and loops that lanes leave one by one, barriers, predication."""

from __future__ import annotations

import random

WORDS = 512  # of global memory
SHARED = 256  # words; a thread writes its own, and reads others' behind barriers
_OPERATIONS = ("add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.s32")
_REGISTERS = [f"%r{i}" for i in range(2, 8)]


class Program:
    """Writes a program's text; ``%r0`` is the thread, ``%r1`` the thread in the grid, ``%r8`` to ``%r11`` addresses."""

    def __init__(self, seed: int, threads: int, *, clear_shared: bool = False) -> None:
        """Write a program for blocks of ``threads``.

        Args:
            clear_shared: clear shared memory first, which a GPU leaves as the kernel before it did.
        """
        self._random, self._threads, self._clear_shared = random.Random(seed), threads, clear_shared
        self._lines: list[str] = []
        self._labels = self._source = self._counters = 0
        self.text = self._whole()

    def _whole(self) -> str:
        self._start()
        for _ in range(self._random.randint(2, 5)):
            self._statement(0)
            if self._random.random() < 0.5:
                self._exchange()
        for i, register in enumerate(_REGISTERS[:2]):
            self._add(f"mad.lo.s32 %r8, %r1, 8, {4 * i};")
            self._global("st", register)
        self._add("ret;")
        body = "\n".join(self._lines)
        return (
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry program(.param .u64 memory)\n{\n"
            ".reg .pred %p<64>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<8>;\n.reg .b64 %a<16>;\n"
            f".shared .align 4 .b8 own[{4 * SHARED}];\n{body}\n}}\n"
        )

    def _start(self) -> None:
        self._add("mov.u32 %r0, %tid.x;")
        self._add("mov.u32 %r9, %ctaid.x;")
        self._add(f"mad.lo.s32 %r1, %r9, {self._threads}, %r0;")
        for number, register in enumerate(_REGISTERS):
            self._add(f"mad.lo.s32 {register}, %r1, {self._random.randint(1, 99)}, {number};")
        if self._clear_shared:
            self._clear()

    def _clear(self) -> None:
        self._lines += ["mov.u32 %r11, 0;", "shl.b32 %r8, %r0, 2;"]
        for first in range(0, SHARED, self._threads):
            guard = ""
            if first + self._threads > SHARED:
                self._add(f"setp.lt.u32 %p63, %r0, {SHARED - first};")
                guard = "@%p63 "
            self._add(f"{guard}st.shared.b32 [%r8 + {4 * first}], %r11;")
        self._add("bar.sync 0;")

    def _add(self, line: str) -> None:
        self._lines.append(line)

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _predicate(self) -> str:
        """A predicate that some lanes have, by what a register holds."""
        name = f"%p{self._random.randint(0, 7)}"
        register = self._random.choice([*_REGISTERS, "%r0"])
        self._add(f"and.b32 %r10, {register}, {self._random.choice((1, 3, 7, 31))};")
        compare = self._random.choice(("eq", "ne", "lt", "ge"))
        self._add(f"setp.{compare}.s32 {name}, %r10, {self._random.randint(0, 7)};")
        return name

    def _statement(self, depth: int) -> None:
        kind = self._random.random()
        if depth < 3 and kind < 0.25:
            self._branch(depth)
        elif depth < 2 and kind < 0.4:
            self._loop(depth)
        elif kind < 0.6:
            self._memory()
        elif kind < 0.7:
            guard = self._predicate()
            self._compute(f"@{self._random.choice(('', '!'))}{guard} ")
        else:
            self._compute("")

    def _compute(self, guard: str) -> None:
        to, a, b = (self._random.choice(_REGISTERS) for _ in range(3))
        self._add(f"{guard}{self._random.choice(_OPERATIONS)} {to}, {a}, {b};")

    def _branch(self, depth: int) -> None:
        other, end = self._label(), self._label()
        self._add(f"@{self._random.choice(('', '!'))}{self._predicate()} bra {other};")
        self._statement(depth + 1)
        self._add(f"bra {end};")
        self._add(f"{other}:")
        self._statement(depth + 1)
        self._add(f"{end}:")

    def _loop(self, depth: int) -> None:
        """As many rounds as a register says, 1 to 4, other for each lane."""
        self._counters += 1
        counter, again = f"%r{20 + self._counters}", self._label()
        self._add(f"and.b32 {counter}, {self._random.choice(_REGISTERS)}, 3;")
        self._add(f"{again}:")
        self._statement(depth + 1)
        self._statement(depth + 1)
        self._add(f"sub.s32 {counter}, {counter}, 1;")
        self._add(f"setp.ge.s32 %p{20 + self._counters}, {counter}, 0;")
        self._add(f"@%p{20 + self._counters} bra {again};")

    def _memory(self) -> None:
        """A load from anywhere in the first half of global memory, which nobody writes.

        Or a store to one's own place.
        """
        register = self._random.choice(_REGISTERS)
        guard = f"@{self._predicate()} " if self._random.random() < 0.3 else ""
        if self._random.random() < 0.7:
            self._add(f"and.b32 %r8, {self._random.choice(_REGISTERS)}, {WORDS // 2 - 1};")
            self._add("shl.b32 %r8, %r8, 2;")
            self._add(f"add.s32 %r8, %r8, {4 * WORDS // 2};")
            self._global("ld", register, guard)
        else:
            self._add("mad.lo.s32 %r8, %r1, 8, 0;")
            self._global("st", register, guard)

    def _global(self, name: str, register: str, guard: str = "") -> None:
        """An access at the byte offset in %r8; the oracle reads offsets where addresses stand."""
        self._source += 1
        self._add("// the address")
        self._lines += ADDRESS
        self._add(f".loc 1 {self._source} 1")
        operands = f"{register}, [%a8]" if name == "ld" else f"[%a8], {register}"
        self._add(f"{guard}{name}.global.b32 {operands};")

    def _exchange(self) -> None:
        """Threads write words of shared memory, meet, read each other's, and meet again."""
        self._source += 2
        self._add("shl.b32 %r8, %r0, 2;")
        self._add(f".loc 1 {self._source - 1} 1")
        self._add(f"st.shared.b32 [%r8], {self._random.choice(_REGISTERS)};")
        self._add("bar.sync 0;")
        self._add(f"add.s32 %r11, %r0, {self._random.randint(1, 40)};")
        self._add(f"and.b32 %r11, %r11, {SHARED - 1};")
        self._add("shl.b32 %r11, %r11, 2;")
        self._add(f".loc 1 {self._source} 1")
        self._add(f"ld.shared.b32 {self._random.choice(_REGISTERS)}, [%r11];")
        self._add("bar.sync 0;")


# The same offset as an address: in 64-bit registers, which the oracle leaves out.
ADDRESS = ["ld.param.u64 %rd1, [memory];", "cvt.u64.u32 %rd2, %r8;", "add.s64 %a8, %rd1, %rd2;"]


def for_oracle(text: str) -> str:
    """The program without what computes 64-bit addresses."""
    return "\n".join(line for line in text.splitlines() if line not in ADDRESS)
