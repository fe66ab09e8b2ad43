"""Writes the wanted launches of a program as traces, and answers its questions: which blocks of a launch to log."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.sources import snapshot
from memsim.sources.capture.heaviest import Counted, Heaviest
from memsim.sources.capture.kernel_names import Kernels
from memsim.sources.capture.lane_log import Blocks, End, Failed, Launch, Message, Records
from memsim.sources.capture.merge import Merger
from memsim.sources.capture.resources import Resources
from memsim.sources.capture.wanted import ALL, Wanted
from memsim.sources.outputs import SUFFIX, is_folder
from memsim.support.errors import InputError
from memsim.support.files import check_writable, writing
from memsim.trace import made_for, source_text
from memsim.trace.info import lane_bytes
from memsim.trace.schema import ADDRESS_DTYPE, INSTRUCTION_COLUMNS, Chunk, Instructions, Issue, LaunchShape
from memsim.trace.writer import TraceWriter

Progress = Callable[[int, int], None]  # blocks done, blocks in all

GRID_BARRIERS = "a barrier of the whole grid is one of each block in the trace: no block waits for another there"


@dataclass
class Recorder:
    """Writes the wanted launches' traces from the program's messages; all of them, or none if the program fails."""

    program: str
    arguments: Sequence[str]
    out: Path
    gpu: GPU
    wanted: Wanted
    merger: Merger
    resources: Resources
    kernels: Kernels
    on_gpu: bool = False
    progress: Progress | None = None
    launches: Counter[str] = field(default_factory=Counter)
    heaviest: Heaviest | None = None  # where the launch with the most accesses is wanted
    written: dict[Path, Counted] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    spoilt: str = ""  # the launches of which not all blocks ran; what the program computes from there on is wrong
    writers: ExitStack = field(default_factory=ExitStack)  # they remove what they wrote if anything fails
    _running: Counted | None = None  # captured or not
    _launch: Launch | None = None  # that is being captured
    _writer: TraceWriter | None = None
    _files: dict[Path, ExitStack] = field(default_factory=dict)  # each removes its file unless it is kept
    _first: int | None = None  # the first block, until its accesses have told how many blocks to take
    _blocks: range = range(0)

    def __post_init__(self) -> None:
        if self.wanted.heaviest and not self.on_gpu:
            self.heaviest = Heaviest(is_folder(self.out))
        self.writers.push(self._leave)

    def take(self, message: Message) -> str:
        """Use a message of the program; returns the answer that it waits for, if it does."""
        if isinstance(message, Failed):
            raise InputError(self.program, "run", f"failed: {without_probes(message.text)}")
        if isinstance(message, Blocks) and self.merger.is_in_parts(message):
            return self._add_joined(message)
        chunk = self.merger.take(message)
        if isinstance(message, Launch):
            return self._begin(message)
        if isinstance(message, Blocks):
            assert chunk is not None
            return self._add(message, chunk, lane_bytes(chunk, self.merger.ops) if self._first is not None else 0)
        if isinstance(message, Records):
            assert self._writer is not None
            self._writer.append(np.array(self._blocks), self.merger.records(message, self._blocks))
        if isinstance(message, End):
            return self._end(message)
        return ""

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing more to capture."""
        return self._launch is None and self._is_last

    @property
    def _is_last(self) -> bool:
        """Whether no launch is wanted but those that are captured, or were."""
        if not is_folder(self.out):
            return bool(self.written)
        of_each = (0,) if self.wanted.launches is None else self.wanted.launches
        if of_each is ALL or not self.kernels.all_known:
            return False
        kernels = self.wanted.kernels or self.kernels.launched
        last = {self.wanted.file_stem(kernel, of_each[-1]) for kernel in kernels}
        return {path.stem for path in self.written} >= last

    def close(self) -> None:
        """The program is done, and well: keep the traces.

        Raises:
            InputError: nothing was captured.
        """
        if self._launch is not None:
            raise InputError(self.program, "run", f"ended inside kernel {self._launch.kernel}; no trace was kept")
        if not self.written:
            raise nothing_captured(self.program, self.kernels, self.launches, self.wanted)
        for kernel in {one.launch.kernel: None for one in self.written.values()}:
            if self.wanted.registers is None and (note := self.resources.note(kernel)):
                self.notes.append(note)
        self.writers.close()

    def _begin(self, launch: Launch) -> str:
        """A launch is about to run: which of its blocks to log, and whether it may be wanted later."""
        if launch.again:
            return self._begin_again(launch)
        index = self.launches[launch.kernel]
        self.launches[launch.kernel] += 1
        self._running = Counted(launch, index, 0)
        if self.heaviest is None:
            return self._open(self._running) if self._is_wanted(launch, index) else "0 0"
        if not self.wanted.takes_kernel(launch.kernel):
            self._running = None
            return "0 0"
        if self.heaviest.group(launch) not in self.heaviest.best:
            return f"{self._open(self._running)} count"
        return "0 0 count checkpoint" if self.heaviest.may_win(launch) else "0 0 count"

    def _begin_again(self, launch: Launch) -> str:
        """The program has ended, and a copy of it runs the launch that was its group's best."""
        assert self.heaviest is not None
        best = self.heaviest.best[self.heaviest.group(launch)]
        self._running = replace(best, launch=launch)
        return f"{self._open(self._running)} stop"

    def _open(self, counted: Counted) -> str:
        """Make a launch's file; the first block to log, as the answer."""
        self._launch = launch = counted.launch
        path = self.out
        if is_folder(self.out):
            if not self._files:
                self.writers.enter_context(_folder(self.out))
                self.writers.push(self._leave)  # before the folder is left
            path = self.out / f"{self.wanted.file_stem(launch.kernel, counted.index)}{SUFFIX}"
        about = self._about(launch.kernel, counted.index)
        self._files[path] = stack = ExitStack()
        self._writer = stack.enter_context(
            TraceWriter(
                path, kernel=launch.kernel, source=self.program, parameters=about, gpu=made_for.stated(self.gpu)
            )
        )
        self.written[path] = counted
        if self.on_gpu:  # all at once, before anything is known of what a block accesses
            self._blocks = self._given() if self.wanted.blocks is not None else self._wave()
            return self._answer(self._blocks.start, self._blocks.stop)
        if launch.cooperative:  # the first block may wait for the others: it cannot tell how many to take
            self._blocks = self._given() if self.wanted.blocks is not None else range(self._shape().n_blocks)
            return self._answer(self._blocks.start, self._blocks.stop)
        self._first = self._given().start if self.wanted.blocks is not None else 0
        return self._answer(self._first, self._first + 1)

    def _about(self, kernel: str, index: int) -> dict[str, Any]:
        """What the trace was made from, and who told the registers: with or without nvcc it is another trace."""
        source = self.resources.needs(kernel).source if self.wanted.registers is None else "--registers"
        assert self._launch is not None
        order = self._launch.index  # of all launches of the program
        about: dict[str, Any] = {"launch": index, "order": order, "registers_from": source}
        if self.wanted.unroll != 1:
            about["unroll"] = self.wanted.unroll
        return about | ({"arguments": shlex.join(self.arguments)} if self.arguments else {})

    def _is_wanted(self, launch: Launch, index: int) -> bool:
        return self.wanted.takes(launch.kernel, index) and (is_folder(self.out) or not self.written)

    def _given(self) -> range:
        assert self.wanted.blocks is not None
        return snapshot.given_blocks(self.wanted.blocks, self._shape(), self.gpu)

    def _wave(self) -> range:
        """As many blocks as the GPU holds at a time."""
        return snapshot.given_blocks("1x", self._shape(), self.gpu)

    def _shape(self) -> LaunchShape:
        assert self._launch is not None
        needs = self.resources.needs(self._launch.kernel)
        shared = needs.shared_bytes if self.on_gpu else None  # a GPU's probes do not tell the sizes of arrays
        if self.wanted.registers is not None:
            return self.merger.launch_shape(self.wanted.registers, shared)
        threads = self.merger.launch_shape().warps_per_block * self.gpu.sm.warp_size
        most = self.gpu.sm.registers // threads  # nvcc would make do with so many for this GPU
        return self.merger.launch_shape(min(needs.registers, most), shared)

    def _add_joined(self, message: Blocks) -> str:
        """Write a block that came in parts, without ever holding all of it."""
        assert self._writer is not None
        first, accessed = np.zeros((2, self._shape().warps_per_block + 1), np.int64), 0
        for chunk in self.merger.joined(message):
            self._writer.extend({name: getattr(chunk, name) for name in INSTRUCTION_COLUMNS}, chunk.addresses)
            first += chunk.first_instruction, chunk.first_address
            accessed += lane_bytes(chunk, self.merger.ops)
        columns = *INSTRUCTION_COLUMNS.items(), ("addresses", ADDRESS_DTYPE)
        written = {name: np.empty(0, dtype) for name, dtype in columns}
        return self._add(message, Chunk(chunk.warps, first[0], first[1], **written), accessed)

    def _add(self, message: Blocks, chunk: Chunk, accessed: int) -> str:
        """Write blocks; the first one's accesses, in bytes, decide on how many there will be."""
        assert self._writer is not None
        self._writer.append(message.ids, chunk)
        if self.progress and self._first is None:
            self.progress(int(message.ids[-1]) + 1 - self._blocks.start, len(self._blocks))
        if self._first is None:
            return ""
        self._first = None
        if self.wanted.blocks is not None:
            self._blocks = self._given()
        else:
            self._blocks = snapshot.default_blocks(self._shape(), self.gpu, None, accessed)
        assert self._launch is not None
        more = " stop" if self._launch.again else " count" if self.heaviest else ""
        return self._answer(self._blocks.start, self._blocks.stop) + more

    def _answer(self, first: int, last: int) -> str:
        """The blocks to log; whether no others run; whether the program ends when it has logged them."""
        only = " only" if self.wanted.snapshot_only else ""
        return f"{first} {last}{only}{' stop' if self.wanted.stop and self._is_last else ''}"

    def _end(self, message: End) -> str:
        """A launch has run; what the program is to do with its copy from before it, where it has one."""
        again = self._launch is not None and self._launch.again
        captured = self._launch is not None
        if captured:
            self._finish(message)
        if self.heaviest is None or self._running is None or again:
            return ""
        launch = self._running.launch
        can_come_back = captured or self.heaviest.may_win(launch)
        is_best = self.heaviest.add(launch, self._running.index, message.accesses, can_come_back)
        if captured or not can_come_back:
            return ""
        if not is_best:
            return "drop"
        self._drop(launch)
        return f"keep {self.heaviest.place(launch)}"

    def _drop(self, launch: Launch) -> None:
        """Remove the trace of the launch that was its group's best until this one."""
        for path, counted in list(self.written.items()):
            if self.heaviest is not None and self.heaviest.group(counted.launch) == self.heaviest.group(launch):
                self._files.pop(path).__exit__(_Beaten, _Beaten(), None)
                del self.written[path]

    def _leave(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Keep the files, or remove them if anything failed."""
        files, self._files, stack = self._files, {}, ExitStack()
        for one in files.values():
            stack.push(one)
        stack.__exit__(kind, error, trace)

    def _finish(self, message: End) -> None:
        """Complete the trace of the launch that ran."""
        assert self._launch is not None and self._writer is not None
        shape, about = self._shape(), {}
        if message.grid_barriers:
            about["grid_barriers"] = "each block's alone"
            self.notes.append(f"{self._launch.kernel}: {GRID_BARRIERS}")
        issue = Issue(instructions=Instructions.estimated if self.wanted.gaps else Instructions.none)
        ops = self.merger.ops
        self._writer.finish(shape, ops, self.merger.arrays, issue, source_text.of_ops(ops), about)
        if self.wanted.snapshot_only and not self.on_gpu and len(self._blocks) < shape.n_blocks:
            ran = f"{len(self._blocks)} of {shape.n_blocks} blocks of {self._launch.kernel} ran"
            self.spoilt += f", {ran}" if self.spoilt else ran
        self._launch = self._writer = None


class _Beaten(Exception):
    """Another launch accesses more."""


def nothing_captured(program: str, kernels: Kernels, launches: Mapping[str, int], wanted: Wanted) -> InputError:
    """The error that says why no launch of a program was captured.

    Args:
        program: named in the message.
        kernels: that it defines.
        launches: how often each was launched.
        wanted: the launch that never came.
    """
    seen = ", ".join(f"{one} ({n})" for one, n in launches.items())
    if not kernels.defined:
        return InputError(program, "program", "defines no kernel; give all its CUDA C++ files")
    if not launches:
        known = ", ".join(kernels.defined)
        return InputError(program, "run", f"launched no kernel ({known}); give arguments after -- if it needs some")
    if wanted.kernels and not launches.keys() & {*wanted.kernels}:
        names = ", ".join(wanted.kernels)
        return InputError("--kernel", names, f"was never launched; launched were {seen}")
    numbers = ", ".join(map(str, wanted.launches or ()))
    return InputError("--launch", numbers, f"never came; launches, counted from 0: {seen}")


def check_place(out: Path) -> None:
    """Refuse a place where no trace can be written, before hours of work that would end there.

    Raises:
        InputError: it, or the folder it would be in, is not there or cannot be written.
    """
    check_writable(out / f".trace{SUFFIX}" if out.is_dir() else out)  # a kernel's file, whose name is not known yet


def check_several(out: Path, wanted: Wanted) -> None:
    """Refuse one file for several launches.

    Raises:
        InputError: it is one.
    """
    if wanted.several and not is_folder(out):
        raise InputError(out, "file", "is one file for several launches; give a folder, whose name has no .h5")


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """A folder that is there inside the block, and afterwards only if the block succeeds or it was there before."""
    made = not path.exists()
    with writing(path):
        path.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:
        if made:
            with suppress(OSError):
                path.rmdir()
        raise


def without_probes(text: str) -> str:
    """What the program says of its own code, as its author wrote it.

    >>> without_probes("`memsim_probe::access<7>(a[memsim_probe::access<6>(b[i])]) > 0` failed")
    '`a[b[i]] > 0` failed'
    """
    probe = re.compile(r"memsim_probe::\w+(?:<[\d, u]*>)?\(")
    while found := probe.search(text):
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = text[: found.start()] + text[found.end() : end - 1] + text[end:]
    return text
