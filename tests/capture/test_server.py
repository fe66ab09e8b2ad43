"""Programs on the server's socket: their ends, and messages that make no sense."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from dropped_interrupt import drop_interrupt

from memsim.capture.conversation import Conversation
from memsim.capture.program import RunningProgram
from memsim.capture.server import serve
from memsim.gpu.presets import load_gpu
from memsim.sources.selection import CaptureSelection
from memsim.support.errors import InputError

CLIENT = """
import array, os, socket, struct, sys
server = socket.socket(socket.AF_UNIX); server.connect(os.environ["MEMSIM_GPU_SOCKET"])
def frame(kind, payload=b""): return struct.pack("<IIQ", kind, 0, len(payload)) + payload
def text(value): return struct.pack("<I", len(value)) + value
def hello(version=1, size=1 << 16):
    memory = os.memfd_create("arena"); os.ftruncate(memory, 1 << 16)
    message = frame(1, struct.pack("<IIQQ", version, 1, 1 << 40, size) + text(b"program"))
    server.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory]))])
"""


def run(tmp_path, script: str, **options):
    command = [sys.executable, "-c", CLIENT + script]
    gpu, out = load_gpu("rtx4090"), tmp_path / "out.h5"
    return serve(command, dict(os.environ), gpu, CaptureSelection(), out, shown="program", **options)


def test_a_process_gets_the_gpu(tmp_path):
    script = 'hello(); assert b"compute_capability_major 8" in server.recv(1 << 16)'
    assert run(tmp_path, script, needs_trace=False).exit_code == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupt_that_python_dropped_ends_the_capture(tmp_path, monkeypatch):
    answer = Conversation.answer

    def answered(self, connection, frame):
        drop_interrupt()
        return answer(self, connection, frame)

    monkeypatch.setattr(Conversation, "answer", answered)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "hello(); server.recv(1 << 16); import time; time.sleep(60)", needs_trace=False)
    assert time.monotonic() - begun < 30


def test_notes_of_a_program_are_kept_once(tmp_path):
    script = 'hello(); server.recv(1 << 16); server.sendall(frame(9, text(b"hm")) * 2 + frame(8, text(b"cuOdd")))'
    notes = run(tmp_path, script, needs_trace=False).notes
    assert notes == ["hm", "the program called cuOdd, which memsim does not have"]


@pytest.mark.parametrize(
    "script",
    [
        'server.sendall(b"abc"); server.shutdown(socket.SHUT_WR)',
        "server.sendall(frame(99))",
        "hello(version=7)",
        "hello(size=1 << 50)",
        "hello(); server.recv(1 << 16); server.sendall(frame(2, bytes(7)))",
        "hello(); server.recv(1 << 16); server.sendall(struct.pack('<IIQ', 2, 0, 1 << 60))",
        "hello(); server.recv(1 << 16); one = struct.pack('<II5Q', 0, 1, 0, 1 << 40, 1, 1 << 30, 0);"
        "server.sendall(frame(4, one + bytes(4)))",
    ],
)
def test_messages_without_sense_end_the_connection(tmp_path, script):
    found = run(tmp_path, script + "; server.recv(9)", needs_trace=False)
    assert found.exit_code == 0 and any("disconnected" in note for note in found.notes)


def test_a_program_without_launches_is_an_error(tmp_path):
    with pytest.raises(InputError, match="launched no kernel"):
        run(tmp_path, "")


def test_exit_code_of_failed_program_is_reported(tmp_path):
    with pytest.raises(InputError, match="ended with exit code 3"):
        run(tmp_path, "hello(); sys.exit(3)")


def test_a_failed_program_tells_what_memsim_lacks(tmp_path):
    with pytest.raises(
        InputError,
        match="exit code 3 before its first launch; no trace was kept; the program called cuOdd, which memsim does",
    ):
        run(tmp_path, 'hello(); server.recv(1 << 16); server.sendall(frame(8, text(b"cuOdd"))); sys.exit(3)')


def test_a_killed_program_is_reported_by_its_signal(tmp_path):
    with pytest.raises(InputError, match="was ended by SIGKILL in its host code, before its first launch; no trace"):
        run(tmp_path, "hello(); os.kill(os.getpid(), 9)")


def test_processes_in_other_groups_end_with_the_program(tmp_path):
    """Ninja starts compilers so."""
    started = tmp_path / "started"
    script = (
        "import subprocess, sys, time; one = subprocess.Popen(['sleep', '60'], process_group=0);"
        "open(sys.argv[1], 'w').write(str(one.pid)); time.sleep(60)"
    )
    with RunningProgram([sys.executable, "-c", script, str(started)], dict(os.environ), "program"):
        while not (started.exists() and started.read_text()):
            time.sleep(0.01)
    deadline = time.monotonic() + 10  # a killed process ends when the system gets to it
    while not _has_ended(int(started.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _has_ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_program_that_does_not_exist_is_one_line(tmp_path):
    with pytest.raises(InputError, match="no-such-program"):
        serve(
            ["no-such-program"],
            {},
            load_gpu("rtx4090"),
            CaptureSelection(),
            tmp_path / "out.h5",
            shown="no-such-program",
        )


def test_nothing_is_left_behind(tmp_path):
    with pytest.raises(InputError):
        run(tmp_path, "sys.exit(1)")
    assert list(tmp_path.iterdir()) == []
