"""Answers the messages of processes: allocations, modules, launches, textures and what tuners time."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memsim.capture.arena import Arena, ProcessMemory
from memsim.capture.captured_device import Benchmarked, CapturedDevice
from memsim.capture.device_runtime import HEAP_ADDRESS, WORKSPACE_ADDRESS
from memsim.capture.fatbin import ImageError, OnlyMachineCode
from memsim.capture.faults import explained, status_of
from memsim.capture.launches import Launches
from memsim.capture.modules import Modules
from memsim.capture.outcome import CALLED
from memsim.capture.properties import launch_milliseconds, properties
from memsim.capture.protocol import (
    REPEATED,
    RUNNING,
    VERSION,
    Allocations,
    Benchmark,
    Fields,
    Hello,
    LaunchRequest,
    LoadModule,
    MessageFrame,
    MessageKind,
    Payload,
    PlaceVariables,
    ProtocolError,
    ReplyStatus,
    TextureRequest,
    _close,
    module_reply,
    send,
)
from memsim.capture.timer import LaunchTimer, Timer
from memsim.capture.tuning import TimedLaunch, TunedKernel, read_report
from memsim.gpu.config import GPU
from memsim.support.errors import InputError

PATIENCE_SECONDS = 10.0  # from the first time that the kernel waits
STEP_SECONDS = 0.002


@dataclass
class WaitForHost:
    """Answers the launch of a kernel that waits for the host, then gives the host time.

    Launches are otherwise answered when the kernel has ended. That is wrong where the host has to act while the kernel
    runs, for example to set a flag in managed or mapped memory.
    """

    connection: socket.socket
    has_begun: bool = False
    _since: float = 0.0

    def __call__(self) -> bool:
        """Let the host run for a moment; returns whether the kernel should wait longer."""
        now = time.monotonic()
        if not self.has_begun:
            send(self.connection, MessageKind.launch, Payload().u64(0).text("").bytes, RUNNING)
            self.has_begun, self._since = True, now
        time.sleep(STEP_SECONDS)
        return now - self._since < PATIENCE_SECONDS


@dataclass(frozen=True)
class Reply:
    """Payload and CUDA error."""

    payload: bytes = b""
    status: int = 0


@dataclass
class Conversation:
    """All that processes say and are answered.

    Attributes:
        gpu: the one that they see.
        modules, launches: what they load and launch.
        timer: times the launches of benchmarks; None: estimates are all there is.
        wait: returns once the machine's loops are loaded.
        failures: of launches, the first one first.
        refused: images without PTX, the first one first.
    """

    gpu: GPU
    modules: Modules
    launches: Launches
    timer: Timer | LaunchTimer | None
    wait: Callable[[], None]
    devices: dict[socket.socket, tuple[CapturedDevice, Arena]] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether the program is to end, as all that is wanted is captured or tuned."""
        if isinstance(self.timer, Timer) and self.timer.is_done:
            return True
        return not self.launches.selection.to_end and self.launches.is_complete

    def forget(self, connection: socket.socket) -> None:
        """A process has ended."""
        known = self.devices.pop(connection, None)
        if known is not None:
            known[1].close()

    def answer(self, connection: socket.socket, frame: MessageFrame) -> Reply | None:
        """The reply to a message; None for one that has no reply.

        Raises:
            ProtocolError: the message makes no sense.
        """
        f = Fields(frame.payload)
        if frame.kind == MessageKind.hello:
            return self._hello(connection, Hello.read(f), frame.descriptors)
        _close(frame.descriptors)
        if frame.kind == MessageKind.unsupported:
            self.launches.note(f"{CALLED}{f.text()}, which memsim does not have")
            return None
        if frame.kind == MessageKind.note:
            self.launches.note(f.text())
            return None
        if connection not in self.devices:
            raise ProtocolError("the first message of a process must be hello")
        device, _ = self.devices[connection]
        match frame.kind:
            case MessageKind.load_module:
                return self._load(device, LoadModule.read(f))
            case MessageKind.place_variables:
                return self._place_variables(device, PlaceVariables.read(f))
            case MessageKind.allocations:
                changes = Allocations.read(f)
                device.memory.update(changes.removed, changes.added)
                return None
            case MessageKind.launch:
                return self._launch(connection, device, LaunchRequest.read(f))
            case MessageKind.activity:
                self.launches.activities.read(f)
                return None
            case MessageKind.finish:
                return Reply(*device.finished)
            case MessageKind.benchmark:
                return self._benchmark(device, Benchmark.read(f))
            case MessageKind.texture:
                request = TextureRequest.read(f)
                device.memory.set_texture(request.number, request.texture)
                return Reply()
            case MessageKind.assembled:
                return self._assembled(device, f.u64(), f.u32())
            case MessageKind.tuned:
                return self._tuned(device, f.text())
        raise ProtocolError(f"there is no message of kind {frame.kind}")

    def _hello(self, connection: socket.socket, hello: Hello, descriptors: tuple[int, ...]) -> Reply:
        if hello.version != VERSION or not descriptors:
            _close(descriptors)
            raise ProtocolError(f"version {hello.version} of the libraries is not this memsim's ({VERSION})")
        _close(descriptors[1:])
        arena = Arena(descriptors[0], hello.bytes, hello.base)
        device = CapturedDevice(ProcessMemory(arena))
        device.memory.add_own(HEAP_ADDRESS, device.heap.bytes, "device heap")
        device.memory.add_own(WORKSPACE_ADDRESS, device.workspace, "grid workspace")
        self.devices[connection] = device, arena
        return Reply(Payload().text(properties(self.gpu)).bytes)

    def _load(self, device: CapturedDevice, request: LoadModule) -> Reply:
        try:
            module = self.modules.load(request.image)
        except ImageError as error:
            self.launches.refused.append(str(error))
            status = ReplyStatus.no_binary_for_gpu if isinstance(error, OnlyMachineCode) else ReplyStatus.invalid_image
            return Reply(Payload().text(str(error)).bytes, status)
        except InputError as error:
            self.launches.refused.append(str(error))
            return Reply(Payload().text(str(error)).bytes, ReplyStatus.invalid_ptx)
        device.modules[module.number] = module
        return Reply(module_reply(module.number, *self.modules.describe(module)))

    def _assembled(self, device: CapturedDevice, handle: int, function: int) -> Reply:
        module = device.modules.get(handle)
        if module is None or function >= len(module.kernels):
            return Reply(status=ReplyStatus.invalid_value)
        known = self.modules.attributes(module, module.kernels[function])
        return Reply(Payload().u32(known.registers, known.static_shared, known.local_bytes, known.const_bytes).bytes)

    def _place_variables(self, device: CapturedDevice, request: PlaceVariables) -> Reply:
        module = device.modules.get(request.module)
        if module is None:
            return Reply(status=ReplyStatus.invalid_value)
        module.place(request.addresses, device.memory)
        return Reply()

    def _launch(self, connection: socket.socket, device: CapturedDevice, request: LaunchRequest) -> Reply | None:
        """Run a launch; None if the program continued while it ran, so that ``finish`` has the reply."""
        waiting = WaitForHost(connection)
        reply = self._run(device, request, waiting)
        if not waiting.has_begun:
            return reply
        device.finished = reply.payload, reply.status
        device.unexecuted.forget()
        return None

    def _run(self, device: CapturedDevice, request: LaunchRequest, waiting: WaitForHost) -> Reply:
        module = device.modules.get(request.module)
        if module is None or request.function >= len(module.kernels):
            return Reply(Payload().u64(0).text("").bytes, ReplyStatus.invalid_value)
        self.wait()
        try:
            if device.benchmark is not None and self.timer is not None:
                ran = self.launches.time(device, request, self.timer)
            else:
                ran = self.launches.run(device, request, waiting, self.timer)
                if device.benchmark is not None:
                    device.benchmark.launches.append(TimedLaunch(ran.nanoseconds / 1e6))
        except InputError as error:
            kernel = module.shown[module.kernels[request.function]]
            self.launches.failures.append(explained(error, kernel, device.memory, self.launches.shown))
            return Reply(Payload().u64(0).raw(_text(self.launches.printed)).bytes, status_of(error))
        payload = Payload().u64(ran.nanoseconds).raw(_text(ran.text)).bytes
        return Reply(payload, REPEATED if ran.repeated else ReplyStatus.success)

    def _benchmark(self, device: CapturedDevice, request: Benchmark) -> Reply:
        if request.report:
            device.reports = request.begins
            return Reply(Payload().f64(0).u32(self.launches.counts.total()).bytes)
        if request.begins:
            device.benchmark = Benchmarked(request.flushed)
            return Reply()
        done, device.benchmark = device.benchmark or Benchmarked(False), None
        device.benchmarks.append(done.launches)
        overhead = launch_milliseconds(self.gpu, done.flushed) * len(done.launches)
        spent = sum(one.milliseconds for one in done.launches) + overhead
        return Reply(Payload().f64(spent).u32(len(done.launches)).bytes)

    def _tuned(self, device: CapturedDevice, report: str) -> Reply:
        tuned = read_report(report, device.benchmarks)
        if isinstance(self.timer, Timer):
            self.timer.tuned.append(tuned)
        if isinstance(tuned, TunedKernel):
            self.launches.note(tuned.summary(self.gpu.name))
        return Reply()


def _text(data: bytes) -> bytes:
    return len(data).to_bytes(4, "little") + data
