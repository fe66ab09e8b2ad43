"""The messages between the CUDA libraries in the program and the server; `native/protocol.h` has the same numbers.

A frame is u32 kind, u32 status, u64 payload bytes, then the payload; all integers are little endian and packed.
"""

from __future__ import annotations

import array
import builtins
import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from memsim.sources.ptx.textures import BoundTexture

VERSION = 1
MOST_PAYLOAD = 1 << 33  # bytes of one frame: a module's image is the largest payload
_HEADER = struct.Struct("<IIQ")


class MessageKind(IntEnum):
    """Kinds of frames."""

    hello = 1
    load_module = 2
    place_variables = 3
    allocations = 4
    launch = 5
    texture = 6
    benchmark = 7
    unsupported = 8
    note = 9
    assembled = 10
    tuned = 11
    finish = 12
    activity = 13


TEXTURE_OF_LINEAR_MEMORY = 2
"""The number of a texture's resource that is linear memory of one dimension."""

STOP = 0x504F5453
"""The status of a reply that ends the program, which first writes what it has buffered."""

RUNNING = 0x4E4E5552
"""The status of a reply to a launch that waits for the host: the program continues while the kernel runs."""

REPEATED = 0x54504552
"""The status of a reply to a launch that repeats earlier ones and was therefore not executed."""


class ReplyStatus(IntEnum):
    """Numbers of CUDA errors (CUresult and cudaError agree on these)."""

    success = 0
    invalid_value = 1
    out_of_memory = 2
    invalid_image = 200
    no_binary_for_gpu = 209
    invalid_ptx = 218
    not_found = 500
    illegal_address = 700
    launch_timeout = 702
    launch_out_of_resources = 701
    assert_failed = 710
    illegal_instruction = 715
    misaligned_address = 716
    launch_failed = 719
    not_supported = 801
    unknown = 999


class AllocationKind(IntEnum):
    """Who made an allocation."""

    device = 0
    managed = 1
    pinned = 2
    host = 3
    variable = 4
    array = 5


class ProtocolError(Exception):
    """A message is cut or makes no sense."""


class Ended(Exception):
    """The other side has closed the connection."""


# -- fields


class Fields:
    """Reads the fields of a payload in order.

    >>> fields = Fields(Payload().u32(7).text("saxpy").bytes)
    >>> fields.u32(), fields.text(), fields.rest
    (7, 'saxpy', 0)
    """

    def __init__(self, payload: bytes | memoryview) -> None:
        self._payload, self._at = memoryview(payload), 0

    @property
    def rest(self) -> int:
        """Bytes that are not read yet."""
        return len(self._payload) - self._at

    def take(self, n: int) -> bytes:
        if n > self.rest:
            raise ProtocolError(f"a message ends {n - self.rest} bytes too early")
        self._at += n
        return bytes(self._payload[self._at - n : self._at])

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def u64(self) -> int:
        return int.from_bytes(self.take(8), "little")

    def f32(self) -> float:
        return float(struct.unpack("<f", self.take(4))[0])

    def triple(self) -> tuple[int, int, int]:
        return self.u32(), self.u32(), self.u32()

    def text(self) -> str:
        return self.take(self.u32()).decode("utf-8", "replace")


@dataclass
class Payload:
    """Collects the fields of a payload."""

    data: bytearray = field(default_factory=bytearray)

    @property
    def bytes(self) -> bytes:
        return bytes(self.data)

    def u32(self, *values: int) -> Payload:
        for value in values:
            self.data += (value & 0xFFFFFFFF).to_bytes(4, "little")
        return self

    def u64(self, *values: int) -> Payload:
        for value in values:
            self.data += (value & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little")
        return self

    def f64(self, value: float) -> Payload:
        self.data += struct.pack("<d", value)
        return self

    def raw(self, data: builtins.bytes) -> Payload:
        self.data += data
        return self

    def text(self, value: str) -> Payload:
        encoded = value.encode("utf-8", "replace")
        return self.u32(len(encoded)).raw(encoded)


# -- requests


@dataclass(frozen=True)
class Hello:
    """The first message of a process: its arena, whose file descriptor rides along."""

    version: int
    pid: int
    base: int
    bytes: int
    program: str

    @classmethod
    def read(cls, f: Fields) -> Hello:
        return cls(f.u32(), f.u32(), f.u64(), f.u64(), f.text())


@dataclass(frozen=True)
class LoadModule:
    """A module's image, and options as text."""

    options: str
    image: bytes

    @classmethod
    def read(cls, f: Fields) -> LoadModule:
        options = f.text()
        return cls(options, f.take(f.u64()))


@dataclass(frozen=True)
class PlaceVariables:
    """Where the variables of a module lie, in the order of the reply to LoadModule."""

    module: int
    addresses: tuple[int, ...]

    @classmethod
    def read(cls, f: Fields) -> PlaceVariables:
        module, n = f.u64(), f.u32()
        return cls(module, tuple(f.u64() for _ in range(n)))


class Allocation(NamedTuple):
    """A stretch of the process's memory that kernels may access.

    Attributes:
        sequence: ascending in the order in which the program made its allocations.
        offset: in the arena; the address less the arena's base, except for memory that cudaHostRegister re-mapped.
    """

    address: int
    bytes: int
    sequence: int
    offset: int
    kind: int
    name: str


_ALLOCATION = struct.Struct("<QQQQII")  # the fields of an Allocation, the last one the length of its name


@dataclass(frozen=True)
class Allocations:
    """What was freed and allocated since the last such message."""

    removed: tuple[int, ...]
    added: tuple[Allocation, ...]

    @classmethod
    def read(cls, f: Fields) -> Allocations:
        removed = struct.unpack(f"<{(n := f.u32())}Q", f.take(8 * n))
        return cls(removed, tuple(_allocations(f, f.u32())))


def _allocations(f: Fields, n: int) -> Iterator[Allocation]:
    """The next ``n`` allocations, of which there may be tens of thousands."""
    data = f.take(f.rest)
    at, size = 0, _ALLOCATION.size
    try:
        for _ in range(n):
            address, nbytes, sequence, offset, kind, length = _ALLOCATION.unpack_from(data, at)
            at += size + length
            name = data[at - length : at].decode("utf-8", "replace") if length else ""
            yield Allocation(address, nbytes, sequence, offset, kind, name)
    except struct.error:
        at = len(data) + 1
    if at > len(data):
        raise ProtocolError("a message of allocations ends too early")


@dataclass(frozen=True)
class LaunchRequest:
    """A kernel's launch.

    Attributes:
        stack_bytes: of a thread, as the program has set the limit.
        undisturbed: since the last one the host made no copy and ran no function of a stream.
        observed: a profiler in the program, such as Proton, wants its time.
    """

    module: int
    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: int
    cooperative: bool
    stack_bytes: int
    stream: int
    where: str
    parameters: bytes
    undisturbed: bool = False
    observed: bool = False

    @classmethod
    def read(cls, f: Fields) -> LaunchRequest:
        module, function = f.u64(), f.u32()
        grid, block, cluster = f.triple(), f.triple(), f.triple()
        shared, flags, stack, stream, where = f.u32(), f.u32(), f.u32(), f.u64(), f.text()
        parameters, cooperative, *more = f.take(f.u32()), *(bool(flags & bit) for bit in (1, 2, 4))
        return cls(
            module, function, grid, block, cluster, shared, cooperative, stack, stream, where, parameters, *more
        )  # fmt: skip


class TextureOp(IntEnum):
    """What a message about textures does."""

    create_texture = 0
    destroy_texture = 1
    create_surface = 2
    destroy_surface = 3


@dataclass(frozen=True)
class TextureRequest:
    """A texture or surface object begins (``texture``) or ends (None)."""

    number: int
    texture: BoundTexture | None

    @classmethod
    def read(cls, f: Fields) -> TextureRequest:
        number, op = f.u64(), f.u32()
        return cls(number, None if op in (TextureOp.destroy_texture, TextureOp.destroy_surface) else _texture(f))


def _texture(f: Fields) -> BoundTexture:
    """The description of a texture; protocol.h has the order of the fields."""
    resource, address, extents = f.u32(), f.u64(), (f.u64(), f.u64(), f.u64())
    row_bytes, slice_bytes, bits, kind = f.u64(), f.u64(), (*f.triple(), f.u32()), f.u32()
    flags, levels, modes, filtering = f.u32(), f.u32(), f.triple(), f.u32()
    normalized_float, srgb, border = bool(f.u32()), bool(f.u32()), (f.f32(), f.f32(), f.f32(), f.f32())
    normalized, _anisotropy, _mipmap_filter = bool(f.u32()), f.u32(), f.u32()
    bias, lowest, highest = f.f32(), f.f32(), f.f32()
    return BoundTexture(
        address, extents, row_bytes, slice_bytes, bits, kind, resource == TEXTURE_OF_LINEAR_MEMORY, modes, filtering,
        normalized_float, srgb, normalized, border, levels, bool(flags & 1), bias, lowest, highest,
    )  # fmt: skip


@dataclass(frozen=True)
class Benchmark:
    """The begin or the end of what a tuner times, or of a function that makes such measurements (``report``)."""

    begins: bool
    flushed: bool
    report: bool = False

    @classmethod
    def read(cls, f: Fields) -> Benchmark:
        begins, flags = f.u32() == 0, f.u32()
        return cls(begins, bool(flags & 1), bool(flags & 2))


# -- replies


@dataclass(frozen=True)
class FunctionInfo:
    """Attributes of a kernel, as ``cudaFuncGetAttributes`` reports them; parameters are (offset, bytes)."""

    name: str
    registers: int = 0
    static_shared: int = 0
    local_bytes: int = 0
    const_bytes: int = 0
    max_threads: int = 1024
    ptx_version: int = 0
    binary_version: int = 0
    required_block: tuple[int, int, int] = (0, 0, 0)
    cluster: tuple[int, int, int] = (0, 0, 0)
    parameters: Sequence[tuple[int, int]] = ()

    def write(self, p: Payload) -> None:
        p.text(self.name).u32(self.registers, self.static_shared, self.local_bytes, self.const_bytes)
        p.u32(self.max_threads, self.ptx_version, self.binary_version, *self.required_block, *self.cluster)
        p.u32(len(self.parameters))
        for offset, size in self.parameters:
            p.u32(offset, size)


@dataclass(frozen=True)
class VariableInfo:
    """A variable of a module; space 0 is global memory, 1 constant memory."""

    name: str
    bytes: int
    align: int
    space: int = 0
    managed: bool = False

    def write(self, p: Payload) -> None:
        p.text(self.name).u64(self.bytes).u32(self.align, self.space, int(self.managed))


def module_reply(module: int, functions: Sequence[FunctionInfo], variables: Sequence[VariableInfo]) -> bytes:
    p = Payload().u64(module).u32(len(functions))
    for function in functions:
        function.write(p)
    p.u32(len(variables))
    for variable in variables:
        variable.write(p)
    return p.bytes


# -- frames


@dataclass(frozen=True)
class MessageFrame:
    """One message as it came."""

    kind: int
    status: int
    payload: bytes
    descriptors: tuple[int, ...] = ()


def receive(connection: socket.socket) -> MessageFrame:
    """Wait for a frame.

    Raises:
        Ended: the other side closed the connection.
        ProtocolError: the frame is cut or too large.
    """
    header, descriptors = _first_bytes(connection)
    try:
        header += _exactly(connection, _HEADER.size - len(header))
        kind, status, size = _HEADER.unpack(header)
        if size > MOST_PAYLOAD:
            raise ProtocolError(f"a message of kind {kind} has {size} bytes")
        return MessageFrame(kind, status, _exactly(connection, size), descriptors)
    except BaseException:
        _close(descriptors)
        raise


def send(connection: socket.socket, kind: int, payload: bytes = b"", status: int = 0) -> None:
    """Send a frame.

    Raises:
        Ended: nobody reads it any more.
    """
    try:
        connection.sendall(_HEADER.pack(kind, status, len(payload)) + payload)
    except (BrokenPipeError, ConnectionResetError, TimeoutError) as error:
        raise Ended from error


def _first_bytes(connection: socket.socket) -> tuple[bytes, tuple[int, ...]]:
    """The begin of a frame, and the file descriptors that came with it."""
    size = array.array("i").itemsize
    try:
        data, ancillary, _, _ = connection.recvmsg(_HEADER.size, socket.CMSG_SPACE(4 * size))
    except ConnectionResetError as error:
        raise Ended from error
    descriptors = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) // size * size])
    if not data:
        _close(descriptors)
        raise Ended
    return data, tuple(descriptors)


def _exactly(connection: socket.socket, n: int) -> bytes:
    received = bytearray(n)
    rest = memoryview(received)
    while rest:
        try:
            got = connection.recv_into(rest)
        except (ConnectionResetError, TimeoutError) as error:
            raise ProtocolError("a message is cut") from error
        if not got:
            raise ProtocolError("a message is cut")
        rest = rest[got:]
    return bytes(received)


def _close(descriptors: Iterable[int]) -> None:
    for one in descriptors:
        socket.close(one)
