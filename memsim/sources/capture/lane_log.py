"""The stream in which an instrumented program reports what its threads did: messages, read as they come.

A message is a header of 16 bytes, little-endian ``{u4 kind, u4 zero, u8 bytes}``, and so many bytes of payload. The
payload of a block is 64-bit words ``number, n_threads, offsets[n_threads + 1], words[]``: one word an access of a
thread, ``variant << 48 | address``, or a mark, thread after thread, each in its own order. A long block comes in parts,
each such a payload with the words that the threads have since the last; the block's own message has the last of them.
So do blocks that wait for each other, a part of each block up to each barrier of the grid.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import IO, Any

import numpy as np

from memsim.sources.capture.kernel_names import bare_name
from memsim.support.errors import InputError
from memsim.trace.schema import Space

HEADER = struct.Struct("<IIQ")
LARGEST_PAYLOAD = 1 << 40  # more than any launch on a GPU records: the stream is not ours
BATCH_BYTES = 1 << 22  # of blocks handed on together: a call and an append cost as much for one block as for many
SHORTEST_BLOCK = HEADER.size // 8 + 3  # words: number, threads (none), the one offset
ADDRESS_BITS = 48  # of a word
SPACES = {"global": Space.global_, "shared": Space.shared, "local": Space.local, "constant": Space.constant}


class MessageKind(IntEnum):
    """``kind`` of a header."""

    launch = 1
    array = 2
    free = 3
    variant = 4
    block = 5
    end = 6
    failed = 7
    records = 8
    part = 9
    arguments = 10


@dataclass(frozen=True)
class Launch:
    """A kernel is about to run; the program waits for an answer.

    ``kernel`` is its name alone, ``written`` that with namespaces and template arguments, as the launch has it.
    ``index`` counts all launches from 0. On a GPU (``gpu``) there is one answer, and :class:`Records` follow; there is
    one for a ``cooperative`` launch too, whose blocks may wait for each other. A launch that a copy of the program runs
    comes ``again``; the arrays that there are then are told once more behind it.
    """

    kernel: str
    file: str
    line: int
    index: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int = 0
    gpu: bool = False
    again: bool = False
    cooperative: bool = False
    written: str = field(default="", compare=False)


@dataclass(frozen=True)
class Argument:
    """One of a launch's, as the program gave it.

    Attributes:
        kind: of its type: ``i`` signed, ``u`` unsigned, ``f`` floating, ``p`` a pointer, ``s`` a structure.
        data: its bytes, little-endian.
    """

    kind: str
    data: bytes


@dataclass(frozen=True)
class Arguments:
    """Those of the launch that comes next, where they were asked for."""

    values: tuple[Argument, ...]


@dataclass(frozen=True)
class Array:
    """Memory the program may access from now on, at the addresses it sees.

    ``element_bytes`` is 0 where unknown; ``stack_bytes`` those of each thread's stack, of the local memory alone.
    """

    name: str
    space: Space
    base: int
    bytes: int
    element_bytes: int = 0
    stack_bytes: int = 0
    dynamic: bool = False


@dataclass(frozen=True)
class Free:
    """The array at ``base`` is no more."""

    base: int


@dataclass(frozen=True)
class Variant:
    """What a word's upper 16 bits stand for: ``width`` bytes accessed at a site."""

    number: int
    site: int
    width: int


@dataclass(frozen=True)
class Blocks:
    """What the threads of some blocks did.

    Attributes:
        ids: i8 [n_blocks], linear numbers.
        words: i8, the payloads with their headers; good until the next message is asked for.
        starts: i8 [n_blocks + 1], index of each payload in ``words``; the last entry is that of one more.
    """

    ids: np.ndarray
    words: np.ndarray
    starts: np.ndarray


@dataclass(frozen=True)
class Part:
    """What the threads of a block did at first: the payload, i8; good until the next message is asked for."""

    words: np.ndarray


@dataclass(frozen=True)
class Records:
    """Warp instructions from a GPU: the payload, u4; good until the next message is asked for."""

    words: np.ndarray


@dataclass(frozen=True)
class End:
    """All blocks of the launch have run; ``accesses`` of lanes were counted in those that were not logged.

    ``grid_barriers``: how often all blocks waited for each other.
    """

    index: int
    accesses: int = 0
    grid_barriers: int = 0


@dataclass(frozen=True)
class Failed:
    """The program cannot go on; ``text`` says why in one line."""

    text: str


Message = Launch | Arguments | Array | Free | Variant | Part | Blocks | Records | End | Failed


def read_log(file: IO[bytes], program: str) -> Iterator[Message]:
    """The messages of a program, as they come, in memory for :data:`BATCH_BYTES` or the largest block.

    The first block of a launch comes alone and at once, as the program then waits for an answer; so does the end of one
    that came in parts.

    Args:
        file: a pipe or file.
        program: named in messages.

    Raises:
        InputError: the stream ends within a message or a launch, a launch within a block, or the stream is none.

    >>> from io import BytesIO
    >>> list(read_log(BytesIO(HEADER.pack(7, 0, 8) + b"no luck\\n"), "app.cu"))
    [Failed(text='no luck')]
    """
    stream = _Stream(file, program)
    running: int | None = None
    first = False  # the next block is its launch's first
    in_parts: set[int] = set()  # blocks that have not ended
    while (header := stream.header()) is not None:
        kind, n_bytes = header
        if kind == MessageKind.block:
            if running is None:
                raise stream.foreign("a block outside a launch")
            blocks = stream.blocks(n_bytes, first or bool(in_parts))
            in_parts.difference_update(blocks.ids[:1].tolist())
            first = False
            yield blocks
            continue
        message = stream.message(kind, n_bytes)
        if isinstance(message, Launch):
            running, first, in_parts = message.index, True, set()
        elif isinstance(message, Part):
            if running is None:
                raise stream.foreign("a part of a block outside a launch")
            in_parts.update(message.words[:1].tolist())
        elif isinstance(message, End):
            if in_parts:
                raise stream.foreign(f"a launch that ends before its block {min(in_parts)}")
            running = None
        yield message
        if isinstance(message, Failed):
            return
    if running is not None:
        raise InputError(program, f"launch {running}", "was not finished; the program stopped in the middle of it")


class _Stream:
    """Bytes of the stream: those of ``_buffer`` from ``_start`` to ``_stop`` were read but not handed on."""

    def __init__(self, file: IO[bytes], program: str) -> None:
        # Takes what there is and waits for no more, so that an answer never comes too late.
        self._read: Callable[[memoryview], int | None] = getattr(file, "readinto1", None) or file.readinto  # type: ignore[attr-defined]
        self._program = program
        self._buffer = memoryview(bytearray(2 * BATCH_BYTES))
        self._start = self._stop = 0
        self._handed_on = 0  # bytes of the stream before those in the buffer

    def header(self, ahead: int = 0) -> tuple[int, int] | None:
        """Kind and payload bytes of the message that begins so many bytes ahead; None where the stream ends."""
        waiting = self._fill(ahead + HEADER.size)
        if waiting == ahead:
            return None
        if waiting < ahead + HEADER.size:
            raise self._truncated()
        kind, zero, n_bytes = HEADER.unpack_from(self._buffer, self._start + ahead)
        if zero or not 1 <= kind <= len(MessageKind) or n_bytes > LARGEST_PAYLOAD:
            raise self.foreign(f"a message of kind {kind}, {n_bytes} bytes long")
        return kind, n_bytes

    def message(self, kind: int, n_bytes: int) -> Message:
        """The next message, which is no block."""
        self._require(HEADER.size + n_bytes)
        payload = self._buffer[self._start + HEADER.size : self._start + HEADER.size + n_bytes]
        try:
            message = _PARSERS[MessageKind(kind)](payload)
        except (ValueError, TypeError, KeyError, struct.error) as error:
            raise self.foreign(f"message of kind {kind}: {error}") from None
        self._start += HEADER.size + n_bytes
        return message

    def blocks(self, n_bytes: int, alone: bool) -> Blocks:
        """The next block and, unless ``alone``, those that follow it up to a batch.

        The program waits for nothing while it logs further blocks, so waiting for a full batch is safe.
        """
        ends = [HEADER.size + n_bytes]
        self._require(ends[0])
        while not alone and ends[-1] < BATCH_BYTES:
            header = self.header(ends[-1])
            if header is None or header[0] != MessageKind.block:
                break
            ends.append(ends[-1] + HEADER.size + header[1])
            self._require(ends[-1])
        # A copy only where messages before these had odd lengths.
        starts = (np.array([0, *ends]) + HEADER.size) // 8
        if any(end % 8 for end in ends) or (np.diff(starts) < SHORTEST_BLOCK).any():
            raise self.foreign("a block without its number and threads")
        words = np.require(np.frombuffer(self._buffer, "<i8", ends[-1] // 8, self._start), requirements="A")
        self._start += ends[-1]
        return Blocks(words[starts[:-1]], words, starts)

    def foreign(self, what: str) -> InputError:
        """The exception for bytes that no instrumented program sends."""
        at = self._handed_on + self._start
        return InputError(self._program, f"log, byte {at}", f"is not what memsim's probes write: {what}")

    def _require(self, n_bytes: int) -> None:
        if self._fill(n_bytes) < n_bytes:
            raise self._truncated()

    def _fill(self, n_bytes: int) -> int:
        """Have so many bytes waiting in the buffer; returns how many there are, fewer where the stream ends."""
        while self._stop - self._start < n_bytes:
            if self._stop == len(self._buffer):
                self._make_room()
            count = self._read(self._buffer[self._stop :])
            if not count:
                return self._stop - self._start
            self._stop += count
        return n_bytes

    def _make_room(self) -> None:
        """Move what is waiting to the front, of a buffer twice as large if it fills more than half of this one."""
        waiting = self._buffer[self._start : self._stop]
        twice = 2 * len(waiting) > len(self._buffer)
        target = memoryview(bytearray(2 * len(self._buffer))) if twice else self._buffer
        target[: len(waiting)] = waiting
        self._handed_on += self._start
        self._buffer, self._start, self._stop = target, 0, len(waiting)

    def _truncated(self) -> InputError:
        at = self._handed_on + self._stop
        return InputError(self._program, f"log, byte {at}", "ends within a message; the program was stopped")


def _part(payload: memoryview) -> Part:
    if len(payload) % 8:
        raise ValueError("no whole words")
    return Part(np.require(np.frombuffer(payload, "<i8"), requirements="A"))


def _launch(payload: memoryview) -> Launch:
    fields = _fields(payload)
    grid, block = (tuple(map(int, fields.pop(name))) for name in ("grid", "block"))
    if len(grid) != 3 or len(block) != 3 or min(*grid, *block) < 1:
        raise ValueError(f"a grid of {grid} blocks of {block} threads")
    written = fields.pop("kernel")
    return Launch(bare_name(written), **fields, grid=grid, block=block, written=written)


def _array(payload: memoryview) -> Array:
    fields = _fields(payload)
    array = Array(**fields | {"space": SPACES[fields["space"]]})
    if array.base < 0 or array.bytes < 0 or array.base + array.bytes > 1 << ADDRESS_BITS:
        raise ValueError(f"array {array.name} at {array.base}, {array.bytes} bytes long")
    return array


def _arguments(payload: memoryview) -> Arguments:
    values, at = [], 0
    while at < len(payload):
        kind, size = struct.unpack_from("<cI", payload, at)
        data = bytes(payload[at + 5 : at + 5 + size])
        if len(data) != size or kind not in b"iufps":
            raise ValueError(f"an argument of kind {kind!r}, {size} bytes long")
        values.append(Argument(kind.decode(), data))
        at += 5 + size
    return Arguments(tuple(values))


def _fields(payload: memoryview) -> dict[str, Any]:
    """The members of a JSON object; names are text, all other members whole numbers or lists of such."""
    fields = json.loads(bytes(payload))
    if not isinstance(fields, dict):
        raise ValueError("no object")
    return fields


def _variant(payload: memoryview) -> Variant:
    number, site, width = struct.unpack_from("<III", payload)
    return Variant(number, site, width)


_PARSERS: dict[MessageKind, Callable[[memoryview], Message]] = {
    MessageKind.launch: _launch,
    MessageKind.arguments: _arguments,
    MessageKind.array: _array,
    MessageKind.free: lambda payload: Free(int(_fields(payload)["base"])),
    MessageKind.variant: _variant,
    MessageKind.end: lambda payload: End(**_fields(payload)),
    MessageKind.failed: lambda payload: Failed(" ".join(bytes(payload).decode(errors="replace").split())),
    MessageKind.part: _part,
    MessageKind.records: lambda payload: Records(np.require(np.frombuffer(payload, "<u4"), requirements="A")),
}
