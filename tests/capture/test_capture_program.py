"""How the user's program is started and ended: with all that it started, and with its own input and output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memsim.capture.program import RunningProgram
from memsim.support.errors import InputError

STARTS_ANOTHER = 'sh -c "echo \\$\\$ > pid; sleep 600" & wait'


def wait_until(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_running(number: int) -> bool:
    """Whether a process is there, and not only its exit code."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def started(folder: Path) -> int:
    """The number of the process that the program started."""
    wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text().strip())
    return int((folder / "pid").read_text())


def test_all_processes_end_with_the_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with RunningProgram(["sh", "-c", STARTS_ANOTHER], os.environ, "x") as program:
        other = started(tmp_path)
        assert is_running(other) and not program.has_ended
    wait_until(lambda: not is_running(other))


def test_exit_codes_and_signals_are_reported():
    for command, code in (("exit 7", 7), ("exit 0", 0), ("kill -SEGV $$", -signal.SIGSEGV)):
        with RunningProgram(["sh", "-c", command], os.environ, "x") as program:
            assert program.exit_code() == code


@pytest.fixture
def default_interrupts():
    """Shells start background jobs with Ctrl-C ignored, and programs inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupted_program_is_an_interrupt(default_interrupts):
    with RunningProgram(["sh", "-c", "kill -INT $$"], os.environ, "x") as program, pytest.raises(KeyboardInterrupt):
        program.exit_code()


def test_file_that_is_no_program_is_one_line(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(InputError, match="x: program does not run"), RunningProgram([str(tmp_path / "x")], {}, "x"):
        pass


def test_program_ends_when_memsim_is_killed(tmp_path):
    code = (
        "import os, time\n"
        "from memsim.capture.program import RunningProgram\n"
        "with RunningProgram(['sh', '-c', 'echo $$ > pid; exec sleep 600'], os.environ, 'x'):\n"
        "    time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    program = started(tmp_path)
    parent.kill()
    parent.wait()
    wait_until(lambda: not is_running(program))
