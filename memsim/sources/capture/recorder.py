"""Writes the wanted launches of a program as traces, and answers its questions: which blocks of a launch to log."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memsim.gpu.config import GPU
from memsim.sources import snapshot
from memsim.sources.capture.kernel_names import Kernels
from memsim.sources.capture.lane_log import Blocks, End, Failed, Launch, Message, Records
from memsim.sources.capture.merge import Merger
from memsim.sources.capture.resources import Resources
from memsim.sources.outputs import SUFFIX, is_folder
from memsim.support.errors import InputError
from memsim.support.files import check_writable, writing
from memsim.trace.info import lane_bytes
from memsim.trace.schema import ADDRESS_DTYPE, INSTRUCTION_COLUMNS, Chunk, Instructions, Issue, LaunchShape
from memsim.trace.writer import TraceWriter

Progress = Callable[[int, int], None]  # blocks done, blocks in all


@dataclass(frozen=True)
class Wanted:
    """What of a program's run is captured.

    Attributes:
        kernel: by name; None: the first that is launched.
        launch: which of its launches, from 0.
        blocks: ``FIRST:LAST``, ``4x`` (times the resident threads) or ``all``; None: what section 3.1 of Baghsorkhi
            2012 asks for.
        snapshot_only: other blocks of the launch do not run, so what runs later sees wrong data.
        registers: of a thread; None: as nvcc reports for the GPU, where there is nvcc.
        gaps: estimate the instructions between accesses.
        unroll: iterations that the compiler puts before a back-edge of a loop that it can count, where the source does
            not say.
        stop: end the program as soon as the trace, or each launched kernel's, is complete, whatever would come later.
    """

    kernel: str | None = None
    launch: int = 0
    blocks: str | None = None
    snapshot_only: bool = False
    registers: int | None = None
    gaps: bool = False
    unroll: int = 1
    stop: bool = False


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
    written: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spoilt: str = ""  # the launches of which not all blocks ran; what the program computes from there on is wrong
    writers: ExitStack = field(default_factory=ExitStack)  # they remove what they wrote if anything fails
    _launch: Launch | None = None  # that is being captured
    _writer: TraceWriter | None = None
    _first: int | None = None  # the first block, until its accesses have told how many blocks to take
    _blocks: range = range(0)

    def take(self, message: Message) -> str:
        """Use a message of the program; returns the answer that it waits for, if it does."""
        if isinstance(message, Failed):
            raise InputError(self.program, "run", f"failed: {without_probes(message.text)}")
        if isinstance(message, Blocks) and self.merger.is_long:
            return self._add_long(message)
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
            self._end()
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
        all_wanted = {self.wanted.kernel} if self.wanted.kernel else {*self.kernels.launched}
        return self.kernels.all_known and {path.stem for path in self.written} >= all_wanted

    def close(self) -> None:
        """The program is done, and well: keep the traces.

        Raises:
            InputError: nothing was captured.
        """
        if self._launch is not None:
            raise InputError(self.program, "run", f"ended inside kernel {self._launch.kernel}; no trace was kept")
        if not self.written:
            raise nothing_captured(self.program, self.kernels, self.launches, self.wanted)
        self.writers.close()

    def _begin(self, launch: Launch) -> str:
        """A launch is about to run: which of its blocks to log."""
        index = self.launches[launch.kernel]
        self.launches[launch.kernel] += 1
        if not self._is_wanted(launch, index):
            return "0 0"
        self._launch = launch
        path = self.out
        if is_folder(self.out):
            self.writers.enter_context(_folder(self.out))
            path = self.out / f"{launch.kernel}{SUFFIX}"
        self._writer = self.writers.enter_context(
            TraceWriter(path, kernel=launch.kernel, source=self.program, parameters=self._about(launch.kernel, index))
        )
        self.written.append(path)
        if self.on_gpu:  # all at once, before anything is known of what a block accesses
            self._blocks = self._given() if self.wanted.blocks is not None else self._wave()
            return self._answer(self._blocks.start, self._blocks.stop)
        self._first = self._given().start if self.wanted.blocks is not None else 0
        return self._answer(self._first, self._first + 1)

    def _about(self, kernel: str, index: int) -> dict[str, Any]:
        """What the trace was made from, and who told the registers: with or without nvcc it is another trace."""
        source = self.resources.needs(kernel).source if self.wanted.registers is None else "--registers"
        about: dict[str, Any] = {"launch": index, "registers_from": source}
        if self.wanted.unroll != 1:
            about["unroll"] = self.wanted.unroll
        return about | ({"arguments": shlex.join(self.arguments)} if self.arguments else {})

    def _is_wanted(self, launch: Launch, index: int) -> bool:
        if index != self.wanted.launch or (self.written and not is_folder(self.out)):
            return False
        return self.wanted.kernel in (None, launch.kernel)

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

    def _add_long(self, message: Blocks) -> str:
        """Write a block that is too long to be held."""
        assert self._writer is not None
        first, accessed = np.zeros((2, self._shape().warps_per_block + 1), np.int64), 0
        for chunk in self.merger.long_block(message):
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
        return self._answer(self._blocks.start, self._blocks.stop)

    def _answer(self, first: int, last: int) -> str:
        """The blocks to log; whether no others run; whether the program ends when it has logged them."""
        only = " only" if self.wanted.snapshot_only else ""
        return f"{first} {last}{only}{' stop' if self.wanted.stop and self._is_last else ''}"

    def _end(self) -> None:
        if self._launch is None:
            return
        assert self._writer is not None
        shape = self._shape()
        issue = Issue(instructions=Instructions.estimated if self.wanted.gaps else Instructions.none)
        self._writer.finish(shape, self.merger.ops, self.merger.arrays, issue)
        if self.wanted.registers is None and (note := self.resources.note(self._launch.kernel)):
            self.notes.append(note)
        if self.wanted.snapshot_only and not self.on_gpu and len(self._blocks) < shape.n_blocks:
            ran = f"{len(self._blocks)} of {shape.n_blocks} blocks of {self._launch.kernel} ran"
            self.spoilt += f", {ran}" if self.spoilt else ran
        self._launch = self._writer = None


def nothing_captured(program: str, kernels: Kernels, launches: Mapping[str, int], wanted: Wanted) -> InputError:
    """The error that says why no launch of a program was captured.

    Args:
        program: named in the message.
        kernels: that it defines.
        launches: how often each was launched.
        wanted: the launch that never came.
    """
    kernel, seen = wanted.kernel, ", ".join(f"{one} ({n})" for one, n in launches.items())
    if not kernels.defined:
        return InputError(program, "program", "defines no kernel; give all its CUDA C++ files")
    if not launches:
        known = ", ".join(kernels.defined)
        return InputError(program, "run", f"launched no kernel ({known}); give arguments after -- if it needs some")
    if kernel is not None and kernel not in launches:
        return InputError("--kernel", kernel, f"was never launched; launched were {seen}")
    return InputError("--launch", str(wanted.launch), f"never came; launches, counted from 0: {seen}")


def check_place(out: Path) -> None:
    """Refuse a place where no trace can be written, before hours of work that would end there.

    Raises:
        InputError: it, or the folder it would be in, is not there or cannot be written.
    """
    check_writable(out / f".trace{SUFFIX}" if out.is_dir() else out)  # a kernel's file, whose name is not known yet


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
