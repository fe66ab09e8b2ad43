"""Runs small PTX programs one thread at a time, from their text, with Python's integers: for comparing with memsim's
machine.

It knows what :mod:`experiments.silicon.random_programs.control_flow` writes and nothing more: 32-bit registers,
predicates, branches, barriers, shared and global memory of 32-bit words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

WORD = (1 << 32) - 1


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


_BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b if b < 32 else 0,
    "shr": lambda a, b: a >> b if b < 32 else 0,
    "min": lambda a, b: a if _signed(a) < _signed(b) else b,
    "max": lambda a, b: a if _signed(a) > _signed(b) else b,
}
_COMPARE = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: _signed(a) < _signed(b),
    "ge": lambda a, b: _signed(a) >= _signed(b),
}


@dataclass
class Thread:
    """A thread's registers, where it is, and what it accessed: (line of the source, byte offset in its array)."""

    registers: dict[str, int] = field(default_factory=dict)
    predicates: dict[str, bool] = field(default_factory=dict)
    accesses: list[tuple[int, int]] = field(default_factory=list)


def run(text: str, threads: int, blocks: int, words: list[int]) -> list[list[Thread]]:
    """Run a program's blocks one after another; ``words`` is its global memory, which changes.

    Returns:
        The threads of every block.
    """
    lines = [line.strip() for line in text.split("{", 1)[1].splitlines()]
    lines = [line for line in lines if line and not line.startswith((".reg", ".shared", "}", "//"))]
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    done = []
    for block in range(blocks):
        shared = [0] * 256
        own = [Thread({"%tid": i, "%ctaid": block}) for i in range(threads)]
        running = [_thread(one, lines, labels, words, shared) for one in own]
        while running:  # each continues to its next barrier, or its end
            running = [one for one in running if next(one, None) is not None]
        done.append(own)
    return done


def _thread(
    thread: Thread, lines: list[str], labels: dict[str, int], words: list[int], shared: list[int]
) -> Iterator[bool]:
    at, source = 0, 0
    while True:
        line = lines[at]
        at += 1
        if line.endswith(":"):
            continue
        if found := re.match(r"\.loc 1 (\d+)", line):
            source = int(found[1])
            continue
        guard, rest = re.match(r"(?:@(!?%p\d+) )?(.*);", line).groups()
        if guard and thread.predicates[guard.lstrip("!")] == guard.startswith("!"):
            continue
        opcode, _, operands = rest.partition(" ")
        parts, operands = opcode.split("."), [one.strip() for one in operands.split(",")]
        if parts[0] == "ret":
            return
        if parts[0] == "bra":
            at = labels[operands[0]]
        elif parts[0] == "bar":
            yield True
        elif parts[0] in ("ld", "st"):
            _access(thread, parts, operands, source, words, shared)
        else:
            _compute(thread, parts, operands)


def _value(thread: Thread, operand: str) -> int:
    return thread.registers[operand] if operand.startswith("%") else int(operand) & WORD


def _compute(thread: Thread, parts: list[str], operands: list[str]) -> None:
    name, to = parts[0], operands[0]
    if name == "setp":
        thread.predicates[to] = _COMPARE[parts[1]](*(_value(thread, one) for one in operands[1:]))
    elif name == "selp":
        chosen = operands[1] if thread.predicates[operands[3]] else operands[2]
        thread.registers[to] = _value(thread, chosen)
    elif name == "mov":
        source = operands[1].removesuffix(".x")
        thread.registers[to] = _value(thread, source)
    elif name == "mad":
        a, b, c = (_value(thread, one) for one in operands[1:])
        thread.registers[to] = (a * b + c) & WORD
    else:
        a, b = (_value(thread, one) for one in operands[1:3])
        thread.registers[to] = _BINARY[name](a, b) & WORD


def _access(
    thread: Thread, parts: list[str], operands: list[str], source: int, words: list[int], shared: list[int]
) -> None:
    """Addresses of the programs are 32-bit offsets: of shared memory, or of the one global array."""
    memory = shared if parts[1] == "shared" else words
    load = parts[0] == "ld"
    register, _, offset = (operands[1] if load else operands[0]).strip("[]").partition("+")
    address = thread.registers[register.replace("%a", "%r")] + int(offset or 0)
    thread.accesses.append((source, address))
    if load:
        thread.registers[operands[0]] = memory[address // 4]
    else:
        memory[address // 4] = _value(thread, operands[1])
