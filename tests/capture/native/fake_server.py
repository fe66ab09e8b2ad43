"""A server that stands in for memsim's in tests of the CUDA libraries: it knows a few kernels by their names.

It maps the process's arena, so that kernels work on the same memory, without the machine that executes PTX.
"""

from __future__ import annotations

import mmap
import os
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from memsim.capture import protocol
from memsim.capture.fatbin import ptx_of
from memsim.capture.protocol import Fields, FunctionInfo, MessageKind, Payload, VariableInfo

PROPERTIES = {
    "name": "Test GPU", "compute_capability_major": 9, "compute_capability_minor": 0, "has_clusters": 1, "sms": 100,
    "clock_khz": 1500000, "memory_bytes": 8 << 30, "shared_per_sm": 228 << 10, "shared_per_block": 48 << 10,
    "shared_per_block_optin": 227 << 10, "reserved_shared_per_block": 1024, "launch_overhead_ns": 2000,
    "copy_latency_ns": 1000, "copy_bytes_per_us_h2d": 10000, "copy_bytes_per_us_d2h": 10000,
}  # fmt: skip
KERNEL_NS = 10_000
REGISTERS, STATIC_SHARED = 32, 256  # of every kernel
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\(([^)]*)\)([^{]*)\{", re.DOTALL)
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.[a-z](\d+)\s+(?:\.ptr[^\w]*[\w.\s]*?)?\w+(?:\[(\d+)\])?")
_VARIABLE = re.compile(
    r"\.(global|const)\s+(?:\.attribute\((\.managed)\)\s+)?\.align\s+(\d+)\s+\.[a-z](\d+)\s+(\w+)(?:\[(\d+)\])?(?:\s*=\s*([^;]+))?;"
)
_BOUNDS = re.compile(r"\.maxntid\s+(\d+)")


class FakeServer:
    """Listens on a socket; its attributes say what the programs did.

    Attributes:
        launches: (kernel, grid, block, cluster, shared bytes, cooperative, where) of each launch.
        unsupported: names of functions that nobody implemented.
        allocations: what the programs reported of their allocations, by address.
        textures: (id, op) of each texture message.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "gpu"
        self.launches: list[tuple[Any, ...]] = []
        self.unsupported: list[str] = []
        self.notes: list[str] = []
        self.textures: list[tuple[int, int]] = []
        self.allocations: dict[int, protocol.Allocation] = {}
        self.loads = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._conversations: list[threading.Thread] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._conversations.append(threading.Thread(target=_Conversation(self, connection).run, daemon=True))
            self._conversations[-1].start()

    def settle(self) -> None:
        """Wait until what ended programs have sent is read."""
        for one in self._conversations:
            one.join(10)


class _Conversation:
    def __init__(self, server: FakeServer, connection: socket.socket) -> None:
        self._server, self._connection = server, connection
        self._modules: list[tuple[list[FunctionInfo], list[tuple[VariableInfo, bytes]]]] = []
        self._memory: mmap.mmap | None = None
        self._base = 0

    def run(self) -> None:
        with self._connection:  # closed at an error as well, so that the program does not wait for a reply
            self._answer()

    def _answer(self) -> None:
        answers: dict[int, Callable[[Fields], tuple[int, bytes] | None]] = {
            MessageKind.load_module: self._load,
            MessageKind.place_variables: self._place,
            MessageKind.allocations: self._allocations,
            MessageKind.launch: self._launch,
            MessageKind.texture: self._texture,
            MessageKind.benchmark: self._benchmark,
            MessageKind.assembled: lambda f: (0, Payload().u32(REGISTERS, STATIC_SHARED, 0, 0).bytes),
            MessageKind.unsupported: lambda f: self._server.unsupported.append(f.text()),
            MessageKind.note: lambda f: self._server.notes.append(f.text()),
            MessageKind.activity: lambda f: None,
        }  # fmt: skip
        while True:
            try:
                frame = protocol.receive(self._connection)
            except (protocol.Ended, protocol.ProtocolError, OSError):
                return
            fields = Fields(frame.payload)
            if frame.kind == MessageKind.hello:
                reply = self._hello(protocol.Hello.read(fields), frame.descriptors[0])
            else:
                reply = answers[frame.kind](fields)
            if reply is not None:
                protocol.send(self._connection, frame.kind, reply[1], reply[0])

    def _hello(self, hello: protocol.Hello, descriptor: int) -> tuple[int, bytes]:
        self._memory = mmap.mmap(descriptor, hello.bytes, mmap.MAP_SHARED | 0x4000)  # MAP_NORESERVE
        os.close(descriptor)
        self._base = hello.base
        return 0, Payload().text("\n".join(f"{name} {value}" for name, value in PROPERTIES.items())).bytes

    def _load(self, fields: Fields) -> tuple[int, bytes]:
        image = protocol.LoadModule.read(fields).image
        self._server.loads += 1
        try:
            text = "\n".join(ptx_of(image, 90))
        except Exception as error:
            return 209, Payload().text(str(error)).bytes
        functions = [_function(match) for match in _ENTRY.finditer(text)]
        variables = [_variable(match) for match in _VARIABLE.finditer(text)]
        self._modules.append((functions, variables))
        reply = protocol.module_reply(len(self._modules) - 1, functions, [one for one, _ in variables])
        return 0, reply

    def _place(self, fields: Fields) -> tuple[int, bytes]:
        placed = protocol.PlaceVariables.read(fields)
        for (info, initial), address in zip(self._modules[placed.module][1], placed.addresses, strict=True):
            self._bytes(address, info.bytes)[:] = np.frombuffer(initial.ljust(info.bytes, b"\0"), np.uint8)
        return 0, b""

    def _allocations(self, fields: Fields) -> None:
        changes = protocol.Allocations.read(fields)
        for address in changes.removed:
            del self._server.allocations[address]
        for one in changes.added:
            assert one.address not in self._server.allocations
            self._server.allocations[one.address] = one

    def _launch(self, fields: Fields) -> tuple[int, bytes]:
        request = protocol.LaunchRequest.read(fields)
        function = self._modules[request.module][0][request.function]
        self._server.launches.append(
            (function.name, request.grid, request.block, request.cluster, request.shared_bytes, request.cooperative,
             request.where)
        )  # fmt: skip
        arguments = [request.parameters[offset : offset + size] for offset, size in function.parameters]
        numbers = [int.from_bytes(one, "little", signed=len(one) == 4) for one in arguments]
        status, text = KERNELS[function.name](self._bytes, numbers, request)
        return status, Payload().u64(KERNEL_NS).text(text).bytes

    def _texture(self, fields: Fields) -> tuple[int, bytes]:
        self._server.textures.append((fields.u64(), fields.u32()))
        return 0, b""

    def _benchmark(self, fields: Fields) -> tuple[int, bytes]:
        return 0, Payload().f64(1.5).u32(3).bytes if fields.u32() else b""

    def _bytes(self, address: int, n: int) -> np.ndarray:
        """Memory of the process; registered memory lies elsewhere in the arena."""
        for one in self._server.allocations.values():
            if one.address <= address < one.address + one.bytes:
                assert address + n <= one.address + one.bytes, "outside the allocation"
                at = one.offset + address - one.address
                return np.frombuffer(self._memory, np.uint8, n, at)
        raise AssertionError(f"{address:#x} is in no allocation")


def _function(match: re.Match[str]) -> FunctionInfo:
    parameters, at = [], 0
    for align, bits, count in _PARAMETER.findall(match[2]):
        size = _BYTES[bits] * int(count or 1)
        unit = int(align or _BYTES[bits])
        at = -(-at // unit) * unit
        parameters.append((at, size))
        at += size
    bounds = _BOUNDS.search(match[3])
    return FunctionInfo(
        match[1], registers=REGISTERS, static_shared=STATIC_SHARED, 
        max_threads=int(bounds[1]) if bounds else 1024, ptx_version=90,
        binary_version=90, parameters=parameters,
    )  # fmt: skip


def _variable(match: re.Match[str]) -> tuple[VariableInfo, bytes]:
    space, managed, align, bits, name, count, initial = match.groups()
    size = _BYTES[bits] * int(count or 1)
    values = [int(one, 0) for one in re.findall(r"(?<!\w)-?(?:0x)?\d+(?!\w)", initial or "")]
    data = b"".join((value % (1 << int(bits))).to_bytes(_BYTES[bits], "little") for value in values)
    return VariableInfo(name, size, int(align), int(space == "const"), bool(managed)), data


def _add(memory: Callable[[int, int], np.ndarray], numbers: list[int], request: Any) -> tuple[int, str]:
    """add(int* data, int n, int by)."""
    memory(numbers[0], 4 * numbers[1]).view(np.int32)[:] += numbers[2]
    return 0, ""


def _blocks(memory: Callable[[int, int], np.ndarray], numbers: list[int], request: Any) -> tuple[int, str]:
    """blocks(int* out): the number of blocks of the grid."""
    memory(numbers[0], 4).view(np.int32)[0] = np.prod(request.grid)
    return 0, ""


KERNELS: dict[str, Callable[[Callable[[int, int], np.ndarray], list[int], Any], tuple[int, str]]] = {
    "add": _add,
    "blocks": _blocks,
    "bounded": _add,
    "hello": lambda memory, numbers, request: (0, "hello from the device\n"),
    "illegal": lambda memory, numbers, request: (700, ""),
    "trap": lambda memory, numbers, request: (719, ""),
    "nothing": lambda memory, numbers, request: (0, ""),
}
