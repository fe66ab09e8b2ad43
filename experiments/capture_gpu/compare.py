"""Two traces of one launch, access by access: what every lane of every warp accessed at each place in the source.

Two captures of a program agree in what a lane does, one access after another. They need not agree in which lanes go
together (hardware may reconverge later than the host's merge does), nor in where arrays lie; so accesses are compared
lane by lane, by their place in the array, and the number of warp instructions is reported beside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, NO_OP, Chunk, Kind, Space, StaticOp

WARP_SIZE = 32
Key = tuple[str, int, int, Kind, Space, int]  # file, line, column, kind, space, width
Lanes = dict[tuple[int, int], bytes]  # (warp in the launch, lane) -> its addresses there, in order


@dataclass(frozen=True)
class Compared:
    """One static op of two captures.

    Attributes:
        key: the place in the source, and what is done there.
        text: the expression.
        lanes, equal: lanes of warps that access it in either capture, and those that do the same in both.
        accesses: of lanes, in each capture.
        instructions: of warps, in each capture.
    """

    key: Key
    text: str
    lanes: int
    equal: int
    accesses: tuple[int, int]
    instructions: tuple[int, int]


def compare(one: Trace, other: Trace) -> list[Compared]:
    """Static ops in order of the source.

    >>> import memsim
    >>> trace = memsim.trace("saxpy", n=256)
    >>> [(op.text, op.lanes, op.equal) for op in compare(trace, trace)]
    [('y[i]', 256, 256), ('x[i]', 256, 256), ('y[i]', 256, 256)]
    """
    ops = [_ops(trace) for trace in (one, other)]
    found = [_accesses(trace) for trace in (one, other)]
    compared = []
    for key in sorted(found[0].keys() | found[1].keys()):
        based = all(_has_base(trace, numbers.get(key, [])) for trace, numbers in zip((one, other), ops, strict=True))
        lanes = [_lanes(trace, of.get(key), based) for trace, of in zip((one, other), found, strict=True)]
        either = lanes[0].keys() | lanes[1].keys()
        named = one.ops[ops[0][key][0]] if key in ops[0] else other.ops[ops[1][key][0]]
        compared.append(
            Compared(
                key,
                named.text,
                len(either),
                sum(lanes[0].get(lane) == lanes[1].get(lane) for lane in either),
                (_count(found[0].get(key)), _count(found[1].get(key))),
                (_instructions(found[0].get(key)), _instructions(found[1].get(key))),
            )
        )
    return compared


@dataclass(frozen=True)
class _Accesses:
    """Lanes' accesses at one place, in the order of execution: four columns [n], and which instruction each is of."""

    warp: np.ndarray
    lane: np.ndarray
    address: np.ndarray
    array: np.ndarray
    instruction: np.ndarray


def _key(op: StaticOp) -> Key:
    return op.file, op.line, op.column, op.kind, op.space, op.width


def _ops(trace: Trace) -> dict[Key, list[int]]:
    """Numbers of a trace's static ops by place: one that accesses several arrays has several."""
    numbers: dict[Key, list[int]] = {}
    for number, op in enumerate(trace.ops):
        numbers.setdefault(_key(op), []).append(number)
    return numbers


def _has_base(trace: Trace, numbers: list[int]) -> bool:
    """Whether all the arrays of some static ops lie where the program allocated them."""
    arrays = [trace.arrays[trace.ops[number].array] for number in numbers]
    return all(array.space is Space.global_ and array.bytes > 0 for array in arrays)


def _accesses(trace: Trace) -> dict[Key, _Accesses]:
    """All accesses of a trace, by place; places that it never reaches are left out."""
    blocks = np.asarray(trace.block_ids)
    per_block = trace.launch.warps_per_block
    parts = [_of_chunk(chunk, blocks, per_block) for chunk in trace.chunks()]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    op, columns = columns[0], columns[1:]
    columns[-1] = np.cumsum(np.diff(columns[-1], prepend=-1) != 0)  # numbered anew, through all chunks
    array = np.array([one.array for one in trace.ops], np.int64)[op]
    found = {}
    for key, numbers in _ops(trace).items():
        chosen = np.isin(op, numbers)
        warp, lane, address, instruction = (column[chosen] for column in columns)
        if len(warp):
            found[key] = _Accesses(warp, lane, address, array[chosen], instruction)
    return found


def _of_chunk(chunk: Chunk, blocks: np.ndarray, per_block: int) -> tuple[np.ndarray, ...]:
    """Op, warp in the launch, lane, address and instruction of every access of a chunk."""
    rows = np.flatnonzero(chunk.op != NO_OP)
    active = (chunk.mask[rows][:, None] >> np.arange(WARP_SIZE, dtype=np.uint32)) & 1 != 0
    row, lane = np.nonzero(active)
    first = active.argmax(axis=1)
    base, stride = chunk.base[rows].astype(np.int64), chunk.stride[rows].astype(np.int64)
    address = base[row] + stride[row] * (lane - first[row])
    listed = (stride == int(EXPLICIT))[row]
    address[listed] = base[row][listed] + chunk.addresses
    warps = np.repeat(np.arange(chunk.warps.start, chunk.warps.stop), np.diff(chunk.first_instruction))[rows]
    warp = blocks[warps // per_block] * per_block + warps % per_block
    return chunk.op[rows][row], warp[row], lane, address, rows[row]


def _lanes(trace: Trace, accesses: _Accesses | None, based: bool) -> Lanes:
    """Every lane's accesses: from the start of their array, or else from the lowest address of all of them."""
    if accesses is None:
        return {}
    bases = np.array([array.base for array in trace.arrays], np.int64)
    place = accesses.address - (bases[accesses.array] if based else accesses.address.min())
    order = np.lexsort((accesses.instruction, accesses.lane, accesses.warp))
    lane = accesses.warp[order] * WARP_SIZE + accesses.lane[order]
    starts = np.flatnonzero(np.diff(lane, prepend=-1))
    parts = np.split(place[order], starts[1:])
    return {divmod(int(lane[start]), WARP_SIZE): part.tobytes() for start, part in zip(starts, parts, strict=True)}


def _count(accesses: _Accesses | None) -> int:
    return 0 if accesses is None else len(accesses.lane)


def _instructions(accesses: _Accesses | None) -> int:
    return 0 if accesses is None else len(np.unique(accesses.instruction))
