"""What a candidate's process cannot do, and that it ends when its budget does."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memsim.capture.program import descendants
from memsim.judge.sandbox import Budget, SandboxedProcess


def run(work, **budget):
    process = SandboxedProcess(work, Budget(**{"seconds": 5.0} | budget))
    while (left := process.seconds_left) > 0:
        if select.select([process.pipe], [], [], min(left, 0.1))[0] and process.take():
            break
    return process.end()


@pytest.fixture(scope="module")
def isolated():
    found = run(lambda folder: {})
    if not found["sandbox"]["isolated"]:
        pytest.skip(f"this system permits no namespaces: {found['sandbox']['missing']}")


def outcome(work):
    def attempt(folder):
        try:
            return {"found": work(folder)}
        except OSError as error:
            return {"error": type(error).__name__}

    return attempt


def test_it_has_no_network(isolated):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        target = listening.getsockname()
        found = run(outcome(lambda folder: str(socket.create_connection(target, timeout=1))))
    assert "error" in found


def test_it_writes_to_its_folder_alone(isolated, tmp_path):
    assert run(outcome(lambda folder: (folder / "a").write_text("b")))["found"] == 1
    for target in (tmp_path, Path("/tmp"), Path.home()):
        assert "error" in run(outcome(lambda folder, target=target: (target / "escaped").write_text("b")))
    assert not list(tmp_path.iterdir())


def test_it_sees_its_own_processes(isolated):
    assert len(run(lambda folder: {"seen": list(map(int, filter(str.isdigit, os.listdir("/proc"))))})["seen"]) == 1


def test_it_has_no_secrets(monkeypatch):
    monkeypatch.setenv("API_TOKEN", "secret")
    assert "API_TOKEN" not in run(lambda folder: {"variables": list(os.environ)})["variables"]


def test_memory_is_limited():
    def take(folder):
        try:
            return {"taken": len(bytearray(300 << 20))}
        except MemoryError:
            return {"taken": None}

    assert run(take, memory_bytes=1 << 30)["taken"] == 300 << 20
    assert run(take, memory_bytes=100 << 20)["taken"] is None


def test_all_it_started_ends_with_budget(tmp_path):
    mark = f"sandbox-{os.getpid()}"

    def daemons(folder):
        for _ in range(3):
            code = "import os, sys, time; os.setsid(); time.sleep(60)"
            subprocess.Popen([sys.executable, "-S", "-c", code, mark], start_new_session=True)
        time.sleep(60)

    begun = time.monotonic()
    assert run(daemons, seconds=0.4) is None
    assert time.monotonic() - begun < 4
    for _ in range(50):  # the system ends a namespace's processes a moment later
        left = [one for one in descendants(1) if mark in _command(one)]
        if not left:
            break
        time.sleep(0.05)
    assert not left


def test_budget_is_processor_time_of_all_its_processes():
    def spin(until):
        while time.process_time() < until:
            pass

    def two(folder):
        if not os.fork():
            spin(5)
            os._exit(0)
        spin(0.8)
        return {}

    def sleep(folder):
        time.sleep(1.2)
        return {"slept": True}

    assert run(two, seconds=1) is None
    assert run(sleep, seconds=1)["slept"]


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""
