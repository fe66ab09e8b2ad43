"""Many candidates at a time: each in a process forked from this one, in which memsim is loaded."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memsim.judge.candidate import Judge, empty_document, failed
from memsim.judge.sandbox import Budget, SandboxedProcess
from memsim.judge.task import JudgeTask
from memsim.support.scratch import Scratch

_LOOKED = 1.0  # seconds at most between two looks at what candidates have used, which work on several cores

_WARM = """
__global__ void warm(float *a, const float *b, int n) {
  __shared__ float s[64];
  __shared__ int count;
  int i = threadIdx.x, rest = (i * 7919 + n) % (n + 3), bits = __popc(i ^ rest) + __clz(i | 1);
  if (i == 0) count = 0;
  s[i] = b[i];
  __syncthreads();
  float x = s[63 - i], y = sqrtf(x) + expf(-x) + logf(1.0f + x) / (1.0f + fabsf(__sinf(x)));
  for (int k = 0; k < rest; k++) {
    y = y > 1e30f ? 0.0f : fmaxf(y * 0.5f, (float)k);
    if (y == 12345.0f) break;
  }
  y += __shfl_xor_sync(~0u, y, 1) + __ballot_sync(~0u, y > 1.0f);
  atomicAdd(&count, (int)(y * 0.0f) + (bits < 0));
  double wide = (double)y * 0.0 + (long long)i * 0;
  for (volatile int k = 0; k >= 0;) k = -1;
  __syncthreads();
  atomicAdd(&a[i], x * 2.0f + count + (float)wide);
}
"""


class PathLines:
    """Paths that arrive as lines on a descriptor, such as standard input.

    Args:
        descriptor: to read.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.ended = descriptor, False
        self._text = b""
        self._lines: list[bytes] = []

    def read(self) -> None:
        """Read what is there; the descriptor must be readable."""
        part = os.read(self.descriptor, 1 << 16)
        self.ended = not part
        *lines, self._text = (self._text + part).split(b"\n")
        if self.ended and self._text:
            lines.append(self._text)
        self._lines += [one.strip() for one in lines if one.strip()]

    def next(self) -> Path | None:
        """The next path that is there."""
        return Path(os.fsdecode(self._lines.pop(0))) if self._lines else None


def judge_all(
    candidates: Sequence[Path] | PathLines, judge: Judge, budget: Budget, jobs: int
) -> Iterator[dict[str, Any]]:
    """A document for each candidate, as they finish.

    Args:
        candidates: files, or lines with their paths; of these each is judged as it arrives.
        judge: of the task.
        budget: of each.
        jobs: candidates at a time.
    """
    warm_up(judge)
    todo = [*candidates] if not isinstance(candidates, PathLines) else []
    lines = candidates if isinstance(candidates, PathLines) else None
    running: dict[int, tuple[SandboxedProcess, Path]] = {}
    try:
        while True:
            while len(running) < jobs and (one := todo.pop(0) if todo else lines.next() if lines else None):
                process = SandboxedProcess(partial(judge.judge, one.absolute()), budget)
                running[process.pipe] = process, one
            reading = lines is not None and not lines.ended and len(running) < jobs
            if not running and not reading:
                return
            least = min((process.seconds_left for process, _ in running.values()), default=None)
            waited = [*running, *([lines.descriptor] if reading and lines else [])]
            ready = select.select(waited, [], [], None if least is None else min(max(0.0, least), _LOOKED))[0]
            if reading and lines and lines.descriptor in ready:
                lines.read()
            for pipe, (process, one) in list(running.items()):
                if pipe in ready and process.take():
                    del running[pipe]
                    yield _document(process, one, judge, over=False)
                elif process.seconds_left <= 0:
                    del running[pipe]
                    yield _document(process, one, judge, over=True)
    finally:
        for process, _ in running.values():
            process.end()


def _document(process: SandboxedProcess, candidate: Path, judge: Judge, over: bool) -> dict[str, Any]:
    seconds = time.monotonic() - process.begun
    found = process.end()
    if over or found is None:
        found = empty_document(candidate, judge.task, judge.gpu)
        if over:
            found |= failed(
                "endless", "time", f"it took longer than its budget of {process.budget.seconds:g} s of processor time"
            )
        else:
            found |= failed("failed", "crash", "its process ended without a result (memory ran out?)")
    found["file"] = str(candidate)
    found["budget"] = asdict(process.budget) | {
        "used_seconds": round(seconds, 3),
        "used_cpu_seconds": round(process.cpu_seconds, 3),
    }
    return found


def warm_up(judge: Judge) -> None:
    """Judge a kernel of memsim's own in this process, so that those forked from it have all loops loaded.

    Raises:
        InputError: the compiler is missing, or nothing can be compiled for the GPU.
    """
    given = np.arange(64, dtype=np.float32)
    arguments = {"a": np.zeros(64, np.float32), "b": given, "n": 5}
    with Scratch() as scratch:
        folder = Path(scratch)
        (folder / "warm.cu").write_text(_WARM)
        right = {"a": 2 * given[::-1]}
        task = JudgeTask(folder, "warm", (1, 1, 1), (64, 1, 1), 0, arguments, right)
        found = empty_document(folder / "warm.cu", task, judge.gpu)
        Judge(task, judge.gpu, judge.gains).fill(found, folder / "warm.cu", folder)
        assert found["verdict"] == "right", found["outputs"]
