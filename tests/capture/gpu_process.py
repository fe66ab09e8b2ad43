"""A process as the server sees it, without the process: an arena, and messages as memsim's CUDA libraries send them."""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

import numpy as np

from memsim.capture.conversation import Conversation, Reply
from memsim.capture.launches import Launches
from memsim.capture.modules import Modules
from memsim.capture.protocol import VERSION, MessageFrame, MessageKind, Payload
from memsim.capture.timer import Timer
from memsim.gpu.presets import load_gpu
from memsim.sources.selection import CaptureSelection

ARENA_BYTES = 1 << 20


class GpuProcess:
    """Talks to a server of its own.

    Args:
        folder: for traces.
        base: address of the arena, which differs from run to run.
        offset: of the first allocation in it.
        wanted: which launches are traced.
        timer: times the launches of benchmarks.
    """

    def __init__(
        self, folder: Path, wanted: CaptureSelection | None = None, base: int = 1 << 40, offset: int = 0,
        timer: Timer | None = None,
    ) -> None:  # fmt: skip
        gpu = load_gpu("rtx4090")
        self.modules = Modules(gpu)
        wanted = wanted or CaptureSelection(registers=32, to_end=True)
        self.launches = Launches(gpu, wanted, self.modules, folder, False, "program")
        self.server = Conversation(gpu, self.modules, self.launches, timer, lambda: None)
        descriptor = os.memfd_create("arena")
        os.ftruncate(descriptor, ARENA_BYTES)
        self._memory = np.frombuffer(mmap.mmap(descriptor, ARENA_BYTES), np.uint8)
        self._base, self._next, self._sequence = base, offset, 0
        self.functions: dict[str, tuple[int, int]] = {}
        self.variables: dict[str, int] = {}
        hello = Payload().u32(VERSION, 1).u64(base, ARENA_BYTES).text("program")
        self.ask(MessageKind.hello, hello, (descriptor,))

    def ask(self, kind: MessageKind, payload: Payload, descriptors: tuple[int, ...] = ()) -> Reply | None:
        return self.server.answer(self, MessageFrame(kind, 0, payload.bytes, descriptors))  # type: ignore[arg-type]

    def allocate(self, values: np.ndarray, name: str = "") -> int:
        """Put values into memory; returns their address."""
        data, at = values.view(np.uint8).ravel(), self._next
        self._memory[at : at + len(data)] = data
        self._next += -(-max(len(data), 1) // 512) * 512
        self._sequence += 1
        added = Payload().u32(0, 1).u64(self._base + at, len(data), self._sequence, at).u32(0).text(name)
        self.ask(MessageKind.allocations, added)
        return self._base + at

    def free(self, address: int) -> None:
        self.ask(MessageKind.allocations, Payload().u32(1).u64(address).u32(0))

    def write(self, address: int, values: np.ndarray) -> None:
        """Write to allocated memory, as a copy does."""
        data, at = values.view(np.uint8).ravel(), address - self._base
        self._memory[at : at + len(data)] = data

    def read(self, address: int, count: int, dtype=np.int32) -> np.ndarray:
        at = address - self._base
        return self._memory[at : at + count * np.dtype(dtype).itemsize].view(dtype).copy()

    def load(self, ptx: str) -> Reply:
        """Load a module, and place its variables."""
        reply = self.ask(MessageKind.load_module, Payload().text("").u64(len(ptx)).raw(ptx.encode()))
        assert reply is not None
        if reply.status:
            return reply
        (number,) = struct.unpack_from("<Q", reply.payload)
        module = next(iter(self.server.devices.values()))[0].modules[number]
        self.functions |= {name: (number, k) for k, name in enumerate(module.kernels)}
        places = [self.allocate(np.zeros(one.bytes, np.uint8), one.name) for one in module.variables]
        self.variables |= {one.name: place for one, place in zip(module.variables, places, strict=True)}
        self.ask(MessageKind.place_variables, Payload().u64(number).u32(len(places)).u64(*places))
        return reply

    def launch(
        self, kernel: str, parameters: bytes, grid: int = 1, block: int = 32, cooperative: bool = False
    ) -> Reply:
        module, function = self.functions[kernel]
        extents, stack_bytes = (grid, 1, 1, block, 1, 1, 1, 1, 1), 1024
        p = Payload().u64(module).u32(function, *extents, 0, int(cooperative), stack_bytes).u64(0).text("")
        reply = self.ask(MessageKind.launch, p.u32(len(parameters)).raw(parameters))
        assert reply is not None
        return reply

    def printed(self, reply: Reply) -> bytes:
        return reply.payload[12:]
