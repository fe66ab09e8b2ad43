"""One capture of a CUDA C++ program by its compiled code: the host's part runs, a wanted launch's kernel as PTX too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from memsim.gpu.config import GPU
from memsim.sources.capture import Captured, Sources, Wanted
from memsim.sources.capture.build import build
from memsim.sources.capture.lane_log import Argument, Arguments, Array, Failed, Free, Launch, Message
from memsim.sources.capture.process import Process
from memsim.sources.capture.ptxas import kernel_name
from memsim.sources.capture.recorder import Progress, check_place, check_several, nothing_captured, without_probes
from memsim.sources.capture.session import notes_of_others
from memsim.sources.outputs import SUFFIX, is_folder, moved_trace
from memsim.sources.ptx import Launch as PtxLaunch
from memsim.sources.ptx import Memory, load_loops, trace_launch
from memsim.sources.ptx.compiled import machine_code, needs_of, target
from memsim.sources.ptx.cpp.entries import fitting
from memsim.sources.ptx.cpp.image import image
from memsim.sources.ptx.cpp.modules import Modules
from memsim.sources.ptx.cpp.parameters import packed, parameters
from memsim.support.errors import InputError
from memsim.support.files import writing
from memsim.support.scratch import HIDDEN, Scratch
from memsim.trace.reader import Trace
from memsim.trace.schema import Space

Refused = dict[tuple[str, int], InputError]  # by kernel and number of the launch


class SeveralLaunches(Exception):
    """More than one launch may be meant."""


def capture_by_ptx(
    sources: Sources,
    arguments: Sequence[str],
    out: Path,
    gpu: GPU,
    wanted: Wanted,
    *,
    keep: Path | None = None,
    progress: Progress | None = None,
    refused: Refused | None = None,
    only: bool = False,
) -> Captured:
    """Build a program, run it here, and write the memory trace that the compiled code of a launch makes.

    The host's part runs as in :func:`memsim.sources.capture.capture`. When a wanted launch comes, the program waits
    while the PTX that nvcc makes of the kernel runs on a copy of its memory; then the kernel's source runs, unlogged,
    for its results. A kernel whose source has inline PTX has none: after its trace the program ends.

    Args: see :func:`memsim.sources.capture.capture`; and

        refused: takes the wanted launches whose PTX cannot be told or run, and why.
        only: there must be one launch of the wanted kernels, whichever it is: it is traced when the program has ended.

    Raises:
        InputError: as there; also nvcc is not installed, or, without `refused`, a kernel's PTX cannot be told or run.
        SeveralLaunches: with `only`, a second one came; the program was ended there.
    """
    check_place(out)
    check_several(out, wanted)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(Scratch())) if keep is None else keep
        folder.mkdir(parents=True, exist_ok=True)
        with writing(out):
            hidden = Path(stack.enter_context(Scratch(out.absolute().parent, HIDDEN)))
        modules = Modules(sources, gpu)
        stack.callback(modules.close)
        loading = Thread(target=load_loops, daemon=True)  # while the compilers run; not waited for where they fail
        loading.start()
        program = build(sources, folder, assembly=not only)
        for kernel in wanted.kernels:
            program.kernels.check(kernel)
        shown = str(sources.files[0])
        loading.join()
        process = stack.enter_context(Process(program.path, arguments, shown, tells_arguments=True))
        listener = Listener(shown, process, modules, gpu, wanted, hidden, is_folder(out), progress, refused, only)
        _listen(process, listener)
        listener.finish()
        if not listener.made and not refused:
            raise nothing_captured(shown, program.kernels, listener.launches, wanted)
        traces = [Trace.open(moved_trace(path, out)) for path in listener.made]
    notes = [*notes_of_others(listener.launches, traces, wanted), *wanted.never_came(listener.launches)]
    return Captured(traces, dict(listener.launches), notes)


def _listen(process: Process, listener: Listener) -> None:
    for message in process.messages():
        if answer := listener.take(message):
            process.answer(answer)
        if listener.wanted.stop and listener.is_complete:
            return
    process.check()


@dataclass(frozen=True)
class Seen:
    """A launch as its kernel finds it: which of its kernel's it is, its arguments, the arrays, a copy of the memory."""

    launch: Launch
    index: int
    given: tuple[Argument, ...]
    arrays: tuple[Array, ...]
    memory: Memory


@dataclass
class Listener:
    """Takes a program's messages, and runs a wanted launch's PTX while the program waits for an answer."""

    shown: str
    process: Process
    modules: Modules
    gpu: GPU
    wanted: Wanted
    folder: Path
    every: bool  # kernel, not the first alone
    progress: Progress | None = None
    refused: Refused | None = None
    only: bool = False  # launch: its PTX runs when no other has come
    launches: Counter[str] = field(default_factory=Counter)
    made: list[Path] = field(default_factory=list)
    _arrays: dict[int, Array] = field(default_factory=dict)
    _given: tuple[Argument, ...] = ()
    _waiting: Seen | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all is tried that was asked for, as far as its number is known."""
        tried = len(self.made) + len(self.refused or ())
        return tried > 0 and (not self.every or (self.wanted.exact is not None and tried == len(self.wanted.exact)))

    def take(self, message: Message) -> str:
        """Use a message; returns the answer that the program waits for, if it does."""
        match message:
            case Failed():
                raise InputError(self.shown, "run", f"failed: {without_probes(message.text)}")
            case Array() if message.space in (Space.global_, Space.constant):
                self._arrays[message.base] = message
            case Free():
                self._arrays.pop(message.base, None)
            case Arguments():
                self._given = message.values
            case Launch():
                return self._begin(message)
        return ""

    def finish(self) -> None:
        """The program has ended: run the PTX of its only launch."""
        if self._waiting is not None:
            with self._may_refuse(self._waiting.launch, self._waiting.index):
                self.made.append(self._trace(self._waiting))

    def _begin(self, launch: Launch) -> str:
        index = self.launches[launch.kernel]
        self.launches[launch.kernel] += 1
        if self._waiting is not None and self.wanted.takes_kernel(launch.kernel):
            raise SeveralLaunches
        if self.is_complete or not self.wanted.takes(launch.kernel, index):
            return "0 0"
        with self._may_refuse(launch, index):
            arrays = tuple(self._arrays.values())
            seen = Seen(launch, index, self._given, arrays, image(self.process.number, arrays, self.shown))
            if self.only:
                self._waiting = seen
            else:
                self.made.append(self._trace(seen))
        return "0 0 only" if self.wanted.snapshot_only else "0 0"

    @contextmanager
    def _may_refuse(self, launch: Launch, index: int) -> Iterator[None]:
        """Where a launch's PTX is told and run: notes why that cannot be, where somebody wants to know."""
        try:
            yield
        except InputError as error:
            if self.refused is None:
                raise
            self.refused[launch.kernel, index] = error

    def _trace(self, seen: Seen) -> Path:
        """Run a launch's PTX, and write its trace."""
        launch, memory = seen.launch, seen.memory
        path = self.folder / f"{self.wanted.file_stem(launch.kernel, seen.index)}{SUFFIX}"
        ptx, entry = self._compiled(seen)
        passed = packed(seen.given, parameters(ptx, entry))
        assert passed is not None  # as the entry fits
        run = PtxLaunch(
            ptx=ptx,
            kernel=entry,
            grid=launch.grid,
            block=launch.block,
            arguments=passed,
            shared_bytes=launch.dynamic_shared,
            source=self.shown,
            registers=self._registers(ptx, entry),
            machine_code=machine_code(ptx, entry, self.gpu),
            parameters={"launch": seen.index, "order": launch.index, "by": "ptx", "compiled_for": target(ptx)},
            name=launch.kernel,
            origin=self.modules.origin,
        )
        _bind_variables(run, memory, seen.arrays)
        trace_launch(run, memory, path, self.gpu, self.wanted.blocks, progress=self.progress)
        return path

    def _registers(self, ptx: str, entry: str) -> int:
        """Registers of a thread: as given, else as the assembler says."""
        if self.wanted.registers is not None:
            return self.wanted.registers
        needs = needs_of(ptx, entry, self.gpu)
        if isinstance(needs, str):
            raise InputError(self.shown, "registers", f"are not known ({needs}); give --registers N")
        return needs.registers

    def _compiled(self, seen: Seen) -> tuple[str, str]:
        """The PTX with the launched kernel, and its name there."""
        launch = seen.launch
        found = [
            (text, entry)
            for text in self.modules.texts().values()
            for entry in fitting(text, launch.kernel, launch.written, seen.given)
        ]
        if len(found) != 1:
            names = ", ".join(entry for _, entry in found) or "nothing"
            problem = f"of PTX cannot be told for {launch.written}: {names} fits; capture it with --by source"
            raise InputError(f"{launch.file}:{launch.line}", "kernel", problem)
        return found[0]


def _bind_variables(run: PtxLaunch, memory: Memory, arrays: Sequence[Array]) -> None:
    """Have the module's variables lie where the program has its own of the same name."""
    places = {array.name: array.base for array in arrays}
    for name in run.module.variables:
        if (bare := kernel_name(name)) in places:
            memory.bind(run.key, name, places[bare])
