"""Runs packed programs on the GPU of this machine; needs numpy and NVIDIA's driver, and nothing of memsim.

    python device.py FOLDER OUT

Each worker is a process of its own, so that a kernel that faults or hangs costs its own result and no other.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import lzma
import queue
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

HANG_SECONDS = 12.0  # without a word from a worker
START_SECONDS = 35.0  # until its first word, when Python and the driver have started
LARGEST_TAR = 14_600_000  # bytes
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 3, "lc": 0, "lp": 3, "pb": 3}]  # for words of 64 bits
_COMPUTE_MAJOR, _COMPUTE_MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*


class CudaError(Exception):
    """The driver's answer to a call that failed."""


class Gpu:
    """The first GPU, by calls of the driver."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.about = self._describe(device)

    def call(self, name: str, *arguments: object) -> None:
        """One call of the driver.

        Raises:
            CudaError: it failed.
        """
        code = getattr(self._cuda, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorName(code, ctypes.byref(text))
            raise CudaError(f"{name}: {(text.value or b'').decode() or code}")

    def _describe(self, device: ctypes.c_int) -> dict[str, object]:
        name, number, version = ctypes.create_string_buffer(100), ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetName", name, 100, device)
        capability = []
        for attribute in (_COMPUTE_MAJOR, _COMPUTE_MINOR):
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, device)
            capability.append(number.value)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return {"device": name.value.decode(), "capability": capability, "driver": version.value}

    def allocate(self, size: int) -> ctypes.c_uint64:
        """Device memory."""
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def load(self, image: bytes) -> ctypes.c_void_p:
        """A module, from a cubin or PTX."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.create_string_buffer(image, len(image) + 1))
        return module

    def unload(self, module: ctypes.c_void_p) -> None:
        """Release a module."""
        self.call("cuModuleUnload", module)

    def run(self, module: ctypes.c_void_p, entry: str, shape: tuple[int, int], words: np.ndarray,
            pointer: ctypes.c_uint64) -> np.ndarray:  # fmt: skip
        """What a kernel leaves of its words.

        Args:
            shape: blocks, and threads of a block.
        """
        function, found = ctypes.c_void_p(), np.zeros_like(words)
        size = ctypes.c_size_t(words.nbytes)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        self.call("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(words.ctypes.data), size)
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(pointer))
        blocks, threads = shape
        self.call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, None, parameters, None)
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(found.ctypes.data), pointer, size)
        return found


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0, help="after which workers are stopped")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--work", help=argparse.SUPPRESS)  # what a worker does: batches and seeds to leave out
    asked = parser.parse_args()
    if asked.work is not None:
        work(asked.folder, asked.out, **json.loads(asked.work))
        return 0
    return supervise(asked.folder, asked.out, asked.jobs, asked.seconds)


def work(folder: Path, out: Path, names: list[str], skip: list[str]) -> None:
    """Run batches; a line of standard output announces each entry before it starts."""
    batches = {one["name"]: one for one in json.loads((folder / "batches.json").read_text())}
    inputs = np.load(folder / "words.npz")
    gpu = Gpu()
    pointer = gpu.allocate(max(inputs[kind][0].nbytes for kind in inputs.files))
    say("about", gpu.about)
    for name in names:
        run_batch(gpu, folder, out, batches[name], inputs[batches[name]["kind"]], pointer, skip)


def run_batch(gpu: Gpu, folder: Path, out: Path, batch: dict, inputs: np.ndarray, pointer: ctypes.c_uint64,
              skip: list[str]) -> None:  # fmt: skip
    """Run a batch's programs; its file holds what each changed in its words, as exclusive or."""
    say("start", batch["name"])
    module = gpu.load(lzma.decompress((folder / f"{batch['name']}.xz").read_bytes()))
    changes = []
    for seed in batch["seeds"]:
        entry, words = f"program_{seed}", inputs[seed % len(inputs)]
        label = f"{batch['name']}/{seed}"
        if label in skip:
            changes.append(np.zeros_like(words))
            continue
        say("start", label)
        changes.append(gpu.run(module, entry, (batch["blocks"], batch["threads"]), words, pointer) ^ words)
    gpu.unload(module)
    temporary = out / f"{batch['name']}.part"
    temporary.write_bytes(pack(np.stack(changes)))
    temporary.rename(out / f"{batch['name']}.xz")
    say("done", batch["name"])


def pack(changes: np.ndarray) -> bytes:
    """Compressed changes of programs [programs, words] or [programs, threads, ...], with the threads last."""
    return lzma.compress(np.moveaxis(changes, 1, -1).tobytes(), filters=_FILTERS)


def unpack(data: bytes, words: np.ndarray) -> np.ndarray:
    """The changes that :func:`pack` packed, of programs with such words."""
    shape = np.moveaxis(words, 0, -1).shape
    return np.moveaxis(np.frombuffer(lzma.decompress(data), words.dtype).reshape(-1, *shape), -1, 1)


def say(word: str, what: object) -> None:
    """A line for the supervisor."""
    print(json.dumps([word, what]), flush=True)


class Lane(threading.Thread):
    """Workers one after another, which share a list of batches; a worker that dies or hangs is replaced."""

    def __init__(self, folder: Path, out: Path, names: list[str], deadline: float) -> None:
        super().__init__()
        self._folder, self._out, self._names, self._deadline = folder, out, names, deadline
        self.bad: dict[str, str] = {}
        self.done: list[str] = []
        self.about: dict[str, object] = {}

    def run(self) -> None:
        """Until all batches are done, or time is up."""
        while self._names and time.monotonic() < self._deadline:
            doing, reason = self._one_worker()
            if self._names and reason != "time is up":
                self.bad[doing] = reason
                if "/" not in doing:  # its module does not load, or no GPU answers
                    self._names = [one for one in self._names if one != doing] if doing else []

    def _one_worker(self) -> tuple[str, str]:
        """What it did last, and why it ended."""
        plan = json.dumps({"names": self._names, "skip": [one for one in self.bad if "/" in one]})
        command = [sys.executable, __file__, str(self._folder), str(self._out), "--work", plan]
        lines: queue.Queue[str | None] = queue.Queue()
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=lambda: (*map(lines.put, worker.stdout), lines.put(None)), daemon=True).start()
        doing, longest = "", START_SECONDS
        try:
            while True:
                left = self._deadline - time.monotonic()
                line = lines.get(timeout=max(0.01, min(longest, left)))
                longest = HANG_SECONDS
                if line is None:
                    break
                doing = self._heed(*json.loads(line)) or doing
        except queue.Empty:
            worker.kill()
            worker.wait(10)
            return doing, "hangs" if left > longest else "time is up"
        errors = worker.stderr.read().strip().splitlines()[-1:]
        worker.wait(10)
        return doing, errors[0] if errors else f"the worker ended with status {worker.returncode}"

    def _heed(self, word: str, what: object) -> str | None:
        if word == "about":
            self.about = dict(what)
        elif word == "done":
            self.done.append(what)
            self._names = [one for one in self._names if one != what]
        return what if word == "start" else None


def supervise(folder: Path, out: Path, jobs: int, seconds: float) -> int:
    """Run all batches in ``jobs`` workers; results go into tar files and summary.json. Returns the exit status."""
    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    parts = Path(tempfile.mkdtemp())
    batches = json.loads((folder / "batches.json").read_text())
    names = [one["name"] for one in batches]
    lanes = [Lane(folder, parts, names[k::jobs], began + seconds) for k in range(jobs)]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    done = sorted(name for lane in lanes for name in lane.done)
    bad = {label: reason for lane in lanes for label, reason in lane.bad.items()}
    summary = {"about": lanes[0].about, "done": done, "missing": sorted(set(names) - set(done)), "bad": bad,
               "seconds": round(time.monotonic() - began, 2)}  # fmt: skip
    count = sum(len(one["seeds"]) for one in batches if one["name"] in done)
    tars = bundle(parts, out, summary)
    print(
        f"{count} programs ran on {summary['about'].get('device', 'no GPU')} in {summary['seconds']} s; "
        f"{len(bad)} failed, {len(summary['missing'])} batches of {len(names)} missing; {', '.join(tars)}"
    )
    for label, reason in list(bad.items())[:10]:
        print(f"  {label}: {reason}")
    return 0 if done else 1


def bundle(parts: Path, out: Path, summary: dict[str, object]) -> list[str]:
    """Put the results and the summary into as few tar files as their size allows; returns what was written."""
    (parts / "summary.json").write_text(json.dumps(summary))
    groups: list[list[Path]] = [[]]
    for path in [parts / "summary.json", *sorted(parts.glob("*.xz"))]:
        if sum(one.stat().st_size + 1024 for one in groups[-1]) + path.stat().st_size > LARGEST_TAR:
            groups.append([])
        groups[-1].append(path)
    written = []
    for number, group in enumerate(groups):
        target = out / f"results_{number}.tar"
        with tarfile.open(target, "w") as file:
            for path in group:
                file.add(path, path.name)
        written.append(f"{target.name} {target.stat().st_size / 1e6:.1f} MB")
    for path in parts.iterdir():
        path.unlink()
    parts.rmdir()
    return written


if __name__ == "__main__":
    sys.exit(main())
