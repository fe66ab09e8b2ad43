"""Random programs of a few warps, and their traces. Not named traces.py: that would hide the workload library."""

import numpy as np
from hypothesis import strategies as st

from memsim.trace.schema import (
    CONTROL_DEFAULTS,
    EXPLICIT,
    INSTRUCTION_COLUMNS,
    INSTRUCTION_DEFAULTS,
    NO_OP,
    WAIT_COLUMNS,
    ArrayInfo,
    Chunk,
    Flag,
    LaunchShape,
    OpKind,
    Space,
    StaticInstruction,
)
from memsim.trace.writer import TraceWriter

ARRAYS = [ArrayInfo("a", Space.global_, 512, 4096, 4), ArrayInfo("s", Space.shared, 0, 256, 4)]
OPS = [
    StaticInstruction(OpKind.load, Space.global_, 4, 0, 3, 9, "kernel.py", "a[i]"),
    StaticInstruction(OpKind.store, Space.shared, 4, 1, 4, 5, "kernel.py", "s[i] # ∑"),
]


@st.composite
def instructions(draw):
    """One instruction: (op, flags, compute run, mask, base, stride, off_path, addresses, three waits, mix, phase)."""
    more = (*(draw(st.just(255) | st.integers(0, 255)) for _ in WAIT_COLUMNS), 0, 0)
    compute_run = draw(st.integers(0, 2**32 - 1))
    off_path = draw(st.just(0) | st.integers(0, compute_run))
    if draw(st.integers(0, 9)) == 0:
        return NO_OP, int(Flag.barrier | Flag.sequence), compute_run, 2**32 - 1, 0, 0, off_path, [], *more
    mask = draw(st.integers(1, 2**32 - 1))
    stride = draw(st.sampled_from([0, 4, -8, 2**31 - 1, int(EXPLICIT)]))
    lanes = mask.bit_count() if stride == EXPLICIT else 0
    addresses = draw(st.lists(st.integers(0, 2**32 - 1), min_size=lanes, max_size=lanes))
    op, flags, base = draw(st.integers(0, 1)), draw(st.integers(0, 1)), draw(st.integers(0, 2**63))
    return op, flags, compute_run, mask, base, stride, off_path, addresses, *more


PROGRAMS = st.lists(st.lists(instructions(), max_size=5), min_size=2, max_size=8).filter(lambda p: len(p) % 2 == 0)


def chunk(programs, first_warp=0):
    """Warps' programs as columns; what comes behind the addresses of a row may be left out."""
    plain = tuple(INSTRUCTION_DEFAULTS[name] for name in (*WAIT_COLUMNS, "instruction_mix", "phase", *CONTROL_DEFAULTS))
    rows = [(*row, *plain[len(row) - 8 :]) for program in programs for row in program]
    columns = [[row[at] for row in rows] for at in range(8 + len(plain)) if at != 7]
    data = {n: np.array(c, d) for (n, d), c in zip(INSTRUCTION_COLUMNS.items(), columns, strict=True)}
    addresses = [address for row in rows for address in row[7]]
    return Chunk(
        range(first_warp, first_warp + len(programs)),
        np.cumsum([0, *map(len, programs)]),
        np.cumsum([0, *(sum(len(row[7]) for row in program) for program in programs)]),
        addresses=np.array(addresses, "u4"),
        **data,
    )


def shape(programs):
    """A launch of blocks with two warps."""
    return LaunchShape((len(programs) // 2, 1, 1), (64, 1, 1))


PARAMETERS = {"n": 3, "kind": "a"}
ROWS = [
    [(0, 1, 5, 0xFFFFFFFF, 512, 4, 0, []), (1, 0, 0, 0b101, 16, int(EXPLICIT), 0, [0, 64])],
    [(0, 1, 5, 1, 512, 0, 2, [])],
]


def write_trace(path, programs, blocks_a_batch=1, ops=OPS):
    """Write programs as a trace; its digest."""
    with TraceWriter(path, kernel="k", source="kernel.py", parameters=PARAMETERS) as writer:
        for start in range(0, len(programs), 2 * blocks_a_batch):
            part = programs[start : start + 2 * blocks_a_batch]
            writer.append(np.arange(start // 2, start // 2 + len(part) // 2), chunk(part, start))
        return writer.finish(shape(programs), ops, ARRAYS)
