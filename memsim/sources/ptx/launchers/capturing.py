"""Catches the launches of a Python program: the wanted ones are traced, and all run on the CPU for their results."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memsim.gpu.config import GPU
from memsim.sources.outputs import SUFFIX, is_folder
from memsim.sources.ptx import Launch, Memory, execute, trace_launch
from memsim.sources.ptx.compiled import machine_code, needs_of, target
from memsim.sources.ptx.launchers.arrays import DeviceArrays, is_array
from memsim.sources.ptx.launchers.caught import Caught, Code, extents, user_line
from memsim.sources.ptx.launchers.needed import NOT_CAUGHT
from memsim.sources.ptx.launchers.timing import Timing, Tried, Tuned
from memsim.sources.ptx.ptxas import DEFAULT_REGISTERS
from memsim.sources.wanted import Wanted
from memsim.support.errors import InputError
from memsim.support.files import writing
from memsim.support.scratch import Scratch
from memsim.trace.reader import Trace

Progress = Callable[[int, int], None]


class Enough(BaseException):
    """All that was wanted is captured, and the program is to end; no error, so no program catches it by accident."""


class Capturing:
    """One program's launches, from Triton, Numba-CUDA, NVRTC or plain PTX.

    Args:
        gpu: that the kernels are compiled for, and whose occupancy and L2 size choose the blocks to trace.
        out: the trace file, or a folder for one trace a kernel.
        wanted: which launch and blocks.
        progress: told the blocks done and all.
        timing: how launches that a tuner times are timed; None: they cannot be.

    Attributes:
        launches: all that were caught, in their order, but for those that a tuner timed.
        timed: what tuners timed, call by call: its launches, or why it could not be launched.
        tuned: kernels whose tuner is done.
        traces: of those that were wanted.
        notes: what the user should know, a line each.
    """

    def __init__(
        self,
        gpu: GPU,
        out: Path,
        wanted: Wanted | None = None,
        progress: Progress | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.gpu, self.wanted = gpu, wanted or Wanted()
        self.timed: list[list[Tried] | str] = []
        self.tuned: list[Tuned] = []
        self.launches: list[Caught] = []
        self.traces: list[Trace] = []
        self.notes: list[str] = []
        self.memory = Memory()
        self.arrays = DeviceArrays(self.memory)
        self._out, self._progress, self._timing = out, progress, timing
        self._call: list[Tried] | None = None  # the launches so far of the call that a tuner times now
        self._counts: Counter[str] = Counter()
        self._scratch: Scratch | None = None

    @property
    def trace(self) -> Trace:
        """The trace of the launch that was captured first, often the only one.

        Raises:
            InputError: none was captured.
        """
        if not self.traces:
            raise self.nothing()
        return self.traces[0]

    @property
    def is_complete(self) -> bool:
        """Whether one file was asked for, and it is written."""
        return bool(self.traces) and not is_folder(self._out)

    def nothing(self) -> InputError:
        """The error that says why no launch was captured."""
        seen = ", ".join(f"{kernel} ({count})" for kernel, count in self._counts.items())
        if not seen:
            others = ", ".join(dict.fromkeys(name for module, name in NOT_CAUGHT.items() if module in sys.modules))
            known = "launched no kernel of Triton, Numba-CUDA, CuPy, cuda.core, cuda.bindings, Warp, CuTe DSL or NVRTC"
            more = f"; those of {others} are not caught: write PTX and give it by --ptx" if others else ""
            return InputError("capture", "run", known + more)
        if self.wanted.kernels and not self._counts.keys() & {*self.wanted.kernels}:
            names = ", ".join(self.wanted.kernels)
            return InputError("--kernel", names, f"was never launched; launched were {seen}")
        numbers = ", ".join(map(str, self.wanted.launches or ()))
        return InputError("--launch", numbers, f"never came; launches, counted from 0: {seen}")

    def note(self, line: str) -> None:
        """Tell the user so, once."""
        self.notes += [line] if line not in self.notes else []

    def launch(
        self,
        code: Code,
        arguments: Sequence[Any],
        grid: Any,
        block: Any,
        *,
        names: Sequence[str] = (),
        cluster: Any = 1,
        shared_bytes: int = 0,
    ) -> Caught:
        """Run a launch on the CPU, traced if it is a wanted one.

        Args:
            code: of the kernel.
            arguments: one a parameter; arrays of the host become device addresses.
            grid, block: extents, one to three.
            names: of the arguments, which name their arrays; else those of the code's parameters.
            cluster: extents in blocks, one to three.
            shared_bytes: dynamic shared memory of a block.

        Raises:
            InputError: PTX that is not understood, or an access outside all arrays.
        """
        known = [*(names or code.parameters), *[""] * len(arguments)]
        labels = [name or f"argument{number}" for number, name in enumerate(known[: len(arguments)])]
        passed = [self._passed(value, name) for value, name in zip(arguments, labels, strict=True)]
        caught = Caught(
            code.name, self._counts[code.name], len(self.launches), extents(grid), extents(block), extents(cluster),
            shared_bytes, user_line(), code, passed,
        )  # fmt: skip
        if self._call is not None:
            self._call.append(self._time(caught))
            return caught
        self._counts[code.name] += 1
        self.launches.append(caught)
        self._run(caught)
        return caught

    def benchmark(self, call: Callable[[], Any], **_: Any) -> list[float]:
        """What a tuner calls to time a launch: the simulated milliseconds, three times, as of three quantiles.

        The launch is traced and simulated; its blocks do not all run for their results, which no tuner reads.

        Raises:
            InputError: the call launches nothing, or no clock was given.
        """
        around, self._call = self._call, []  # a benchmark of a kernel that is yet to be tuned has others inside
        try:
            call()
        except Exception as error:  # of Triton's compiler, as a rule: its tuner goes on with the next configuration
            self.timed.append(str(error))
            raise
        else:
            launches = self._call
            self.timed.append(launches)
        finally:
            self._call = around
        if not launches:
            raise InputError("capture", "tuner", "times a call that launches no kernel; give it one that does")
        return [sum(one.milliseconds for one in launches)] * 3

    @property
    def tried(self) -> list[Tried]:
        """All launches that a tuner timed."""
        return [one for call in self.timed if not isinstance(call, str) for one in call]

    def tell_tuned(self, kernel: str, tried: Sequence[tuple[Mapping[str, Any], Sequence[list[Tried] | str]]]) -> None:
        """What a kernel's tuner says when it is done.

        Args:
            kernel: its name.
            tried: its configurations in their order, each with what was added to :attr:`timed` for it.

        Raises:
            InputError: it timed one of them never, or twice.
        """
        for configuration, calls in tried:
            if len(calls) != 1:
                problem = f"timed {len(calls)} calls for {dict(configuration)}; time each configuration once"
                raise InputError("capture", f"{kernel}'s tuner", problem)
        self.tuned.append(Tuned(kernel, [dict(one) for one, _ in tried], [calls[0] for _, calls in tried]))
        if self._timing is not None and self._timing.stop and self.wanted.takes_kernel(kernel):
            raise Enough

    def _time(self, caught: Caught) -> Tried:
        if self._timing is None:
            raise InputError("capture", "tuner", "times launches, and nobody simulates them here")
        launch, folder, number = self._launch_of(caught), self._folder_of_tried(), len(self.timed)
        stem = f"{number}-{len(self._call or ())}"
        traces = [
            trace_launch(launch, self.memory, folder / f"{stem}-{blocks}.h5", self.gpu, blocks)
            for blocks in self._timing.blocks
        ]
        return Tried(caught, traces, self._timing.clock(traces[0]))

    def _folder_of_tried(self) -> Path:
        """A folder for the traces of timed launches; where none was given, one that goes with this."""
        if self._timing is not None and self._timing.folder is not None:
            return self._timing.folder
        if self._scratch is None:
            self._scratch = Scratch()
        return Path(self._scratch.name)

    def _passed(self, value: Any, name: str) -> Any:
        return self.arrays.address(value, name) if is_array(value) else value

    def _run(self, caught: Caught) -> None:
        launch = self._launch_of(caught)
        if self._is_wanted(caught):
            place = self._place(caught)
            trace = trace_launch(launch, self.memory, place, self.gpu, self.wanted.blocks, progress=self._progress)
            self.traces.append(trace)
            if self.wanted.stop and self.is_complete:
                raise Enough
            if self.wanted.snapshot_only:
                self._note_spoilt(caught)
                return
        execute(launch, self.memory)

    def _launch_of(self, caught: Caught) -> Launch:
        numbers = {"launch": caught.index, "order": caught.order}
        return Launch(
            ptx=caught.code.ptx,
            kernel=caught.code.entry,
            grid=caught.grid,
            block=caught.block,
            arguments=caught.arguments,
            shared_bytes=caught.shared_bytes,
            cluster=caught.cluster,
            source=caught.code.source,
            registers=self._registers(caught.code),
            machine_code=machine_code(caught.code.ptx, caught.code.entry, self.gpu),
            parameters=numbers | {"compiled_for": target(caught.code.ptx)},
            name=caught.code.name,
            origin=caught.code.origin,
        )

    def _registers(self, code: Code) -> int:
        """Registers of a thread: as given, else as the assembler says, where there is one."""
        if self.wanted.registers is not None:
            return self.wanted.registers
        needs = needs_of(code.ptx, code.entry, self.gpu)
        if isinstance(needs, str):
            self.note(
                f"{code.name}: {DEFAULT_REGISTERS} registers a thread are assumed, as {needs}; give --registers N"
            )
            return DEFAULT_REGISTERS
        return needs.registers

    def _note_spoilt(self, caught: Caught) -> None:
        not_read = "what the program computes from it is wrong; --stop ends it there"
        self.notes.append(f"not all blocks of {caught.kernel} ran for their results (--snapshot-only): {not_read}")

    def _is_wanted(self, caught: Caught) -> bool:
        return not self.is_complete and self.wanted.takes(caught.kernel, caught.index)

    def _place(self, caught: Caught) -> Path:
        """The trace's file; its folder is made if need be."""
        if not is_folder(self._out):
            return self._out
        with writing(self._out):
            self._out.mkdir(exist_ok=True)
        return self._out / f"{self.wanted.file_stem(caught.kernel, caught.index)}{SUFFIX}"
