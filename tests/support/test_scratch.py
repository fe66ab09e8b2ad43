"""What a killed process leaves goes with the next; what a living one uses stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memsim.support.errors import InputError
from memsim.support.files import check_writable, keeping_existing, replacing
from memsim.support.scratch import Scratch

HOLD = """
import sys
from memsim.support.files import replacing
with replacing(sys.argv[1]) as part:
    part.write_text("half")
    print(part, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "out.txt")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.communicate()


def test_a_living_process_keeps_its_part(tmp_path, writer):
    process, part = writer
    with replacing(tmp_path / "other.txt") as mine:
        mine.write_text("whole")
    assert part.read_text() == "half"
    process.communicate("")  # and it can finish
    assert (tmp_path / "out.txt").read_text() == "half"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.txt", "out.txt"]


def test_part_of_killed_process_goes_with_next(tmp_path, writer):
    process, part = writer
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert part.exists()
    with replacing(tmp_path / "other.txt") as mine:
        assert not part.parent.exists()
        mine.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["other.txt"]


def test_many_at_once_keep_theirs(tmp_path):
    """Processes that make and use folders in one place, each removing what it takes for abandoned."""
    use = (
        "import sys, pathlib; from memsim.support.scratch import Scratch\n"
        "for _ in range(150):\n"
        "    with Scratch(sys.argv[1]) as name:\n"
        "        path = pathlib.Path(name, 'a'); path.write_text('b'); assert path.read_text() == 'b'\n"
    )
    several = [subprocess.Popen([sys.executable, "-c", use, str(tmp_path)]) for _ in range(4)]
    assert [process.wait(60) for process in several] == [0] * 4
    assert list(tmp_path.iterdir()) == []


def test_folders_of_others_stay(tmp_path):
    (tmp_path / "memsim-bench-1").mkdir()
    with Scratch(tmp_path):
        assert (tmp_path / "memsim-bench-1").exists()


def test_what_exists_stays_but_by_force(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with keeping_existing():
        for attempt in (lambda: check_writable(path), lambda: replacing(path).__enter__()):
            with pytest.raises(InputError, match="a.txt: file exists; give --force to overwrite it, or another path"):
                attempt()
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    with keeping_existing(force=True), replacing(path) as part:
        part.write_text("new")
    assert path.read_text() == "new"
