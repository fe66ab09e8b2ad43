"""Walks on a GPU of this machine, by a CUDA program of ours (cuda/probe.cu) that nvcc compiles here."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memsim.calibration.walks import WARPS, AccessStream, Latencies
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch, leaving_in

SOURCE = Path(__file__).parent / "cuda" / "probe.cu"
# As in the source.
MOST_SEGMENTS, MOST_GROUPS = 1024, 32
EDGES = 8 * np.arange(128)
SLACK = 0.35  # hits of L2 differ by the way to their slice; what comes from memory takes half as long again
_WHERE = "memsim calibrate"


@dataclass(frozen=True)
class Properties:
    """What the driver says of a GPU.

    Attributes:
        name, capability: as ``cudaGetDeviceProperties`` has them.
        numbers: sms; of an SM, threads, blocks, registers and shared_bytes; warp; l2_bytes; clock_khz; memory_khz and
            bus_bits; walk_shared_bytes, of the program's own kernel.
    """

    name: str
    capability: str
    numbers: dict[str, int]


class ProbedGPU:
    """A GPU that can be walked (:class:`memsim.calibration.walks.WalkedGPU`).

    Args:
        probe: the running program, pipes open.
        use_l1: whether loads are looked up in L1.
        shared_bytes: as :class:`memsim.calibration.walks.WalkedGPU` has it; known once :meth:`properties` was
            asked for.
    """

    def __init__(self, probe: subprocess.Popen[str], use_l1: bool = True, shared_bytes: int = 0) -> None:
        self._probe, self._use_l1, self.shared_bytes = probe, use_l1, shared_bytes

    def without_l1(self) -> ProbedGPU:
        """As :meth:`memsim.calibration.walks.WalkedGPU.without_l1`; both are one GPU."""
        return ProbedGPU(self._probe, use_l1=False, shared_bytes=self.shared_bytes)

    def properties(self) -> Properties:
        """What the driver says; to be asked for first, once."""
        self._ask("properties\n")
        texts: dict[str, str] = {}
        while (line := self._answer()) != "end":
            name, _, value = line.partition(" ")
            texts[name] = value
        found = Properties(texts.pop("name"), texts.pop("capability"), {k: int(v) for k, v in texts.items()})
        self.shared_bytes = found.numbers["walk_shared_bytes"]
        return found

    def launch_ns(self, number: int = 1000) -> float:
        """Nanoseconds from one empty kernel to the next, of many launched one after the other."""
        self._ask(f"launch {number}\n")
        return float(self._answer())

    def walk(self, addresses: Sequence[int] | np.ndarray, groups: Sequence[int] | np.ndarray) -> list[Latencies]:
        """As :meth:`memsim.calibration.walks.WalkedGPU.walk`; the walk is repeated where it has many groups.

        Raises:
            RuntimeError: it is too irregular for the program's list.
        """
        address, group = np.asarray(addresses, np.int64), np.asarray(groups, np.int64)
        found: list[Latencies] = []
        total, step = int(group.max()) + 1, MOST_GROUPS
        while len(found) < total:
            chunk = min(step, total - len(found))
            counted = np.where((group >= len(found)) & (group < len(found) + chunk), group - len(found), -1)
            order = segments(address, counted)
            if len(order) <= MOST_SEGMENTS:
                found += self._walk(order, chunk, int(address.max()) + 4)
            elif step == 1:
                raise RuntimeError(f"a walk of {len(order)} pieces, of which the GPU can be given {MOST_SEGMENTS}")
            else:
                step //= 2
        return found

    def stream(self, stream: AccessStream, accesses: int) -> float:
        """As :meth:`memsim.calibration.walks.WalkedGPU.stream`: of the block that takes longest."""
        ring = f"{stream.units} {stream.stride} {stream.width}"
        self._ask(f"stream {stream.kind.name} {stream.blocks} {WARPS} {accesses} {ring}\n")
        return float(self._answer())

    def _walk(self, order: np.ndarray, groups: int, size: int) -> list[Latencies]:
        lines = "".join(f"{' '.join(map(str, row))}\n" for row in order.tolist())
        self._ask(f"walk {int(self._use_l1)} {groups} {len(order)} {size}\n{lines}")
        found = []
        for _ in range(groups):
            total, *counts = map(int, self._answer().split())
            found.append(Latencies(total / max(1, sum(counts)), np.array(counts), EDGES, SLACK))
        return found

    def _ask(self, text: str) -> None:
        assert self._probe.stdin is not None
        try:
            self._probe.stdin.write(text)
            self._probe.stdin.flush()
        except BrokenPipeError:
            raise InputError(_WHERE, "GPU", "no longer responds; check whether other programs use it") from None

    def _answer(self) -> str:
        assert self._probe.stdout is not None
        line = self._probe.stdout.readline().strip()
        if not line or line.startswith("error"):
            reason = line.removeprefix("error").strip() or "the program ended"
            problem = f"cannot be used ({reason}); run this on a machine with an NVIDIA GPU and its driver"
            raise InputError(_WHERE, "GPU", problem)
        return line


def segments(addresses: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """A walk as stretches of equal steps in one group: i8 [n, 4], start, stride, count, group.

    >>> segments(np.array([0, 8, 16, 8]), np.array([0, 0, 0, 0])).tolist()
    [[0, 8, 3, 0], [8, 0, 1, 0]]
    """
    step = np.diff(addresses)
    begins = np.append(True, groups[1:] != groups[:-1])
    begins[2:] |= (step[1:] != step[:-1]) & ~begins[1:-1]
    first = np.flatnonzero(begins)
    count = np.diff(np.append(first, len(addresses)))
    stride = np.where(count > 1, addresses[np.minimum(first + 1, len(addresses) - 1)] - addresses[first], 0)
    return np.stack([addresses[first], stride, count, groups[first]], axis=1)


@contextmanager
def probe_gpu() -> Iterator[ProbedGPU]:
    """The first GPU of this machine, for as long as the block lasts.

    Raises:
        InputError: there is no nvcc, or it does not compile the program; without a GPU, the first question raises it.
    """
    with Scratch() as folder:
        program = compiled(Path(folder) / "probe")
        with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as probe:
            try:
                yield ProbedGPU(probe)
            finally:
                probe.kill()
                assert probe.stdin is not None
                with suppress(BrokenPipeError):  # what it never read; Popen would raise it in place of the reason
                    probe.stdin.close()


def compiled(out: Path, architecture: str = "native") -> Path:
    """The program, compiled by nvcc.

    Args:
        architecture: as nvcc has it: ``sm_80``, or ``native``, that of the GPU which is here.

    Raises:
        InputError: there is no nvcc, or it fails.
    """
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise InputError(_WHERE, "nvcc", "is not installed; install NVIDIA's CUDA toolkit")
    command = [nvcc, "-O2", "-std=c++17", f"-arch={architecture}", "-o", str(out), str(SOURCE)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=leaving_in(out.parent))
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise InputError(_WHERE, "nvcc", f"fails ({lines[0]}); check that this machine has a GPU that it supports")
    return out
