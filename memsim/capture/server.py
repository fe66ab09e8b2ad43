"""The server: starts a program whose CUDA libraries are memsim's, answers their messages and keeps the traces.

One connection belongs to one process. Everything runs in the caller's thread, one message after another, so a launch
sees the memory as its process left it.
"""

from __future__ import annotations

import hashlib
import os
import selectors
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memsim.capture import preparation, protocol
from memsim.capture.conversation import Conversation
from memsim.capture.dumped_ptx import DUMPED_PTX
from memsim.capture.launches import Launches
from memsim.capture.modules import Modules
from memsim.capture.outcome import check_outcome, notes_of
from memsim.capture.program import RunningProgram
from memsim.capture.timer import LaunchTimer, Timer
from memsim.gpu.config import GPU
from memsim.sources.launch_list import write_program
from memsim.sources.outputs import SUFFIX, check_output, check_several, is_folder, moved_trace
from memsim.sources.ptx.origin import NOWHERE, Origin
from memsim.sources.ptx.trace import Progress
from memsim.sources.selection import CaptureSelection
from memsim.support.files import writing
from memsim.support.interrupts import listening, raise_heard
from memsim.support.scratch import HIDDEN, Scratch
from memsim.trace.reader import Trace

LONGEST_MESSAGE_SECONDS = 60.0  # from the begin of a message to its end
SOCKET_VARIABLE = "MEMSIM_GPU_SOCKET"
GRACE_SECONDS = 2.0  # for a program that is to end, until it is killed
LONGEST_NAME = 100  # characters of a kernel in a file name
POLL_SECONDS = 0.2  # where the system cannot report that a process ended


@dataclass(frozen=True)
class Captured:
    """The traces that one run of a program gave, and what there is to know about them.

    Attributes:
        traces: one of each captured launch, in the order of the launches.
        launches: how often each kernel was launched, in the order of their first launches.
        notes: what the user should know, a line each.
        exit_code: of the program; None where memsim ended it.
        program: for each launch of the run, in their order, the place in `traces` of the one that stands for it; empty
            where each launch that was asked for has its own.
        activities: kind, stream and bytes of each copy, fill and wait of the host among the launches; of a launch its
            place in `program`.
        mapped: files that the program had in its memory when memsim ended it.
    """

    traces: list[Trace]
    launches: dict[str, int]
    notes: list[str]
    exit_code: int | None = 0
    program: tuple[int, ...] = ()
    activities: tuple[tuple[str, int, int], ...] = ()
    mapped: frozenset[str] = frozenset()

    @property
    def trace(self) -> Trace:
        """The trace of the launch that was captured first, often the only one."""
        return self.traces[0]


def serve(
    command: Sequence[str],
    environment: Mapping[str, str],
    gpu: GPU,
    selection: CaptureSelection,
    out: Path,
    *,
    shown: str = "",
    origin: Origin = NOWHERE,
    about: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    timer: Timer | LaunchTimer | None = None,
    needs_trace: bool = True,
    stdin: Any = None,
) -> Captured:
    """Run a program on memsim's CUDA libraries and write the memory traces of its wanted launches.

    Args:
        command: the program and its arguments; it runs in the current folder, and its output goes where memsim's goes.
        environment: of the program: it must find memsim's libraries.
        gpu: the one that programs see, and whose occupancy and L2 size choose the blocks to trace.
        selection: which launches and blocks.
        out: the trace file, which ends with ``.h5``; or a folder, for one trace of each kernel.
        shown: what traces and messages call the program; empty: the command's first word.
        origin: where the sources lie whose lines traces may quote.
        about: what else traces say that they were made from, JSON values.
        progress: called with the blocks done and all of a traced launch.
        timer: times launches for programs that tune themselves.
        needs_trace: whether it is an error that no launch was traced.
        stdin: of the program, as for :class:`subprocess.Popen`.

    Raises:
        InputError: the program fails, a kernel cannot be run, the wanted launch never comes, or a file cannot be
            written. No trace is left then.
        KeyboardInterrupt: Ctrl-C. A folder keeps the traces that were finished.
    """
    check_output(out)
    check_several(out, selection)
    with ExitStack() as stack:
        stack.enter_context(listening())
        with writing(out):
            hidden = Path(stack.enter_context(Scratch(out.absolute().parent, HIDDEN)))
        modules = Modules(gpu, Path(environment[DUMPED_PTX]) if DUMPED_PTX in environment else None)
        stack.callback(modules.close)
        launches = Launches(
            gpu, selection, modules, hidden, is_folder(out), shown or command[0], origin, dict(about or {}), progress
        )
        loading = preparation.loops()  # while the program makes ready
        server = stack.enter_context(Server(Conversation(gpu, modules, launches, timer, loading.join)))
        try:
            stopped, code = server.run(command, environment, stdin)
        except KeyboardInterrupt as interrupt:
            if not is_folder(out) or not launches.traces:
                raise
            traces, _ = _moved_traces(launches, hidden, out)
            raise KeyboardInterrupt(f"{len(traces)} finished traces are kept in {out}") from interrupt
        check_outcome(launches, stopped, code, needs_trace)
        traces, program = _moved_traces(launches, hidden, out)
    notes = notes_of(launches, traces, stopped, code) + (timer.notes if timer and not isinstance(timer, Timer) else [])
    return Captured(traces, dict(launches.counts), notes, code, program, tuple(launches.activities.rows), server.mapped)


def _moved_traces(launches: Launches, folder: Path, out: Path) -> tuple[list[Trace], tuple[int, ...]]:
    """Move the traces to their place; with the positions of those that stand for each launch of the program."""
    positions = {one.order: position for position, one in enumerate(launches.traces)}
    program = tuple(positions[order] for order in launches.stand_ins.orders if order in positions)
    traces = [Trace.open(moved_trace(path, out)) for path in _named(launches, folder)]
    if program and is_folder(out):
        write_program(out, traces, program, launches.activities.rows)
    return traces, program


def _named(launches: Launches, folder: Path) -> list[Path]:
    """The traces under the names that they have in a folder."""
    found = []
    for one in launches.traces:
        path = folder / f"{launches.selection.file_stem(_file_name(one.counted.kernel), one.counted.index)}{SUFFIX}"
        os.replace(one.path, path)
        found.append(path)
    return found


def _file_name(kernel: str) -> str:
    """A kernel's name as part of a file name; a long name is cut and ends with a hash.

    >>> _file_name("scale<float, 4>")
    'scale_float_4'
    >>> len(_file_name("thrust::" + 40 * "pair<int, "))
    109
    """
    name = "_".join("".join(one if one.isalnum() or one in "_.-" else " " for one in kernel).split())
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}_{hashlib.sha256(kernel.encode()).hexdigest()[:8]}"


@dataclass
class Server:
    """Listens for the processes of one program."""

    conversation: Conversation
    mapped: frozenset[str] = frozenset()
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Server:
        folder = Path(self._stack.enter_context(Scratch()))
        self._path = folder / "gpu"
        self._listening = self._stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        self._listening.bind(str(self._path))
        self._listening.listen(64)
        self._selector = self._stack.enter_context(selectors.DefaultSelector())
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._stack.callback(self._close_all)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def run(self, command: Sequence[str], environment: Mapping[str, str], stdin: Any = None) -> tuple[bool, int | None]:
        """Run a program to its end, or until all that is wanted is captured.

        Returns:
            whether memsim ended it, and its exit code, negative for a signal; None where memsim ended it.

        Raises:
            InputError: it cannot be started.
        """
        own = {**environment, SOCKET_VARIABLE: str(self._path)}
        with RunningProgram(command, own, self.conversation.launches.shown, stdin) as program:
            self._program = program
            stopped = self._attend(program)
            if stopped:
                program.wait(GRACE_SECONDS)  # it writes what it has buffered
            return stopped, None if stopped else program.exit_code()

    def _attend(self, program: RunningProgram) -> bool:
        """Take messages until the program ends; whether it is to end because all is captured."""
        ended = program.ended
        if ended is not None:
            self._selector.register(ended, selectors.EVENT_READ)
        try:
            while True:
                raise_heard()
                ready = [key.fileobj for key, _ in self._selector.select(None if ended is not None else POLL_SECONDS)]
                for one in ready:
                    if one is self._listening:
                        self._accept()
                    elif one != ended and self._take(one):  # type: ignore[arg-type]
                        return True
                if ready in ([], [ended]) and program.has_ended:
                    return False
        finally:
            if ended is not None:
                self._selector.unregister(ended)

    def _accept(self) -> None:
        connection, _ = self._listening.accept()
        connection.settimeout(LONGEST_MESSAGE_SECONDS)
        self._selector.register(connection, selectors.EVENT_READ)

    def _take(self, connection: socket.socket) -> bool:
        """Answer one message; whether the program is to end."""
        try:
            frame = protocol.receive(connection)
            reply = self.conversation.answer(connection, frame)
            if reply is None and frame.kind == protocol.MessageKind.launch:
                return False  # the program already runs on; its next message gets the result
            if self.conversation.is_done:
                self.mapped = self._program.mapped_files()
                protocol.send(connection, frame.kind, status=protocol.STOP)
            elif reply is not None:
                protocol.send(connection, frame.kind, reply.payload, reply.status)
        except protocol.Ended:
            self._close(connection)
        except protocol.ProtocolError as error:
            self.conversation.launches.note(f"a process was disconnected: {error}")
            self._close(connection)
        return self.conversation.is_done

    def _close(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        self.conversation.forget(connection)
        connection.close()

    def _close_all(self) -> None:
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket) and key.fileobj is not self._listening:
                self._close(key.fileobj)
