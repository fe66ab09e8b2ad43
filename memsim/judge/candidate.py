"""One candidate: compiled, run on its task's data, compared, predicted and explained, as a document of fixed keys."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memsim.analysis.program import LaunchGroup
from memsim.analysis.result import RunResult
from memsim.analysis.speed_of_light import speed_of_light
from memsim.capture.build import KEEPS_LOG, LENIENT, first_error
from memsim.capture.compilers import find_compiler
from memsim.gpu.config import GPU
from memsim.judge.races import shared_races
from memsim.judge.task import JudgeTask
from memsim.montecarlo.run import run
from memsim.sources.ptx.failures import KernelFailure
from memsim.sources.ptx.launch import PtxLaunch, parsed, with_code
from memsim.sources.ptx.machine.codes import Stop
from memsim.sources.ptx.memory import ALIGNMENT, FIRST_ADDRESS, DeviceMemory
from memsim.sources.ptx.origin import origin_of
from memsim.sources.ptx.ptxas import kernel_name, registers_of
from memsim.sources.ptx.trace import trace_launch
from memsim.sources.sass.assemble import needs_of, target
from memsim.sources.sass.choice import kernel_for
from memsim.support.errors import InputError
from memsim.trace.reader import Trace
from memsim.why import explain
from memsim.why.source_access import kernel_definition

SCHEMA, VERSION = "memsim-judge", 1
TRIALS = 3
_GUARD = 1 << 20  # bytes between arrays, which no argument may touch
_SHOWN = 3  # findings
_STOPS = {Stop.outside: "out of bounds", Stop.misaligned: "misaligned", Stop.endless: "endless"}
_VERDICTS = {
    "out of bounds": "out of bounds", "endless": "endless", Stop.spinning.name: "endless", Stop.deadlock.name: "endless"
}  # fmt: skip


class CandidateFailure(Exception):
    """A candidate that gave no result, and why.

    Args:
        verdict: as in the document.
        kind: of the error.
        error: with file, line and words.
    """

    def __init__(self, verdict: str, kind: str, error: InputError | str, file: str = "", line: int = 0) -> None:
        super().__init__(str(error))
        self.verdict, self.kind, self.file, self.line = verdict, kind, file, line


@dataclass(frozen=True)
class Judge:
    """What all candidates of a task have in common.

    Attributes:
        task: that they are to do.
        gpu: that they are predicted for.
        gains: replay repaired kernels, so that findings have a predicted gain; takes longer.
    """

    task: JudgeTask
    gpu: GPU
    gains: bool = False
    _compiler: Any = field(default_factory=find_compiler)

    def judge(self, candidate: Path, folder: Path) -> dict[str, Any]:
        """The document of one candidate.

        Args:
            candidate: CUDA C++ with the kernel; it needs no main.
            folder: for temporary files.
        """
        document = empty_document(candidate, self.task, self.gpu)
        try:
            self.fill(document, candidate, folder)
        except CandidateFailure as failure:
            document |= failed(failure.verdict, failure.kind, str(failure), failure.file, failure.line)
        except MemoryError:
            document |= failed("out of memory", "memory", "it needs more memory than its budget allows")
        except InputError as error:
            document |= failed("failed", "input", str(error))
        except Exception as error:  # a fault of memsim's own must not end a batch
            document |= failed("failed", "internal", f"{type(error).__name__}: {error}")
        return document

    def fill(self, document: dict[str, Any], candidate: Path, folder: Path) -> None:
        """Fill in the document of a candidate that comes to its end.

        Raises:
            CandidateFailure, InputError: it does not, or the GPU or the compiler cannot be used.
        """
        if not candidate.is_file():
            raise CandidateFailure("failed", "input", "file does not exist", str(candidate))
        text = self._compiled(candidate, folder)
        arrays = {
            name: np.array(one, order="C") for name, one in self.task.arguments.items() if isinstance(one, np.ndarray)
        }
        launch, memory = self._launch(text, candidate, arrays)
        trace = self._run(launch, memory, folder)
        document["ran"] = True
        document["outputs"] = {name: compared(arrays[name], one, self.task) for name, one in self._expected(arrays)}
        document["correct"] = all(one["equal"] for one in document["outputs"].values())
        document["verdict"] = "right" if document["correct"] else "wrong"
        document["warnings"] = warnings_of(trace)
        result = RunResult(run(trace, self.gpu, trials=TRIALS, jobs=1))
        self._predict(result, trace, document)

    def _expected(self, arrays: dict[str, np.ndarray]) -> list[tuple[str, np.ndarray]]:
        return [(name, one) for name, one in self.task.expected.items() if name in arrays]

    def _compiled(self, candidate: Path, folder: Path) -> str:
        """PTX of a candidate's file."""
        architecture = self._compiler.nearest(self.gpu.architecture_number)
        made = folder / "candidate.ptx"
        command = [
            str(self._compiler.path), "-ptx", "-lineinfo", f"-arch=compute_{architecture}", "-std=c++17", *LENIENT,
            str(candidate.absolute()), "-o", str(made),
        ]  # fmt: skip
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, cwd=folder
        )
        if done.returncode or not made.exists():
            error = first_error(f"{done.stdout}{done.stderr}", candidate)
            file, _, line = error.where.rpartition(":")
            number = int(line) if line.isdigit() else 0
            words = error.problem.removeprefix("does not compile: ").removesuffix(f" ({KEEPS_LOG})")
            raise CandidateFailure("does not compile", "compilation", words, file or str(candidate), number)
        return made.read_text("latin-1")

    def _launch(self, text: str, candidate: Path, arrays: dict[str, np.ndarray]) -> tuple[PtxLaunch, DeviceMemory]:
        task, memory, at = self.task, DeviceMemory(), FIRST_ADDRESS
        entry = self._entry(text, candidate)
        values: list[Any] = []
        for name, value in task.arguments.items():
            if name not in arrays:
                values.append(value)
                continue
            values.append(memory.add(arrays[name], name, address=at))
            at += -(-arrays[name].nbytes // ALIGNMENT) * ALIGNMENT + _GUARD
        registers, _ = registers_of(needs_of(text, entry, self.gpu), entry)
        sass = kernel_for(text, entry, self.gpu)
        launch = PtxLaunch(
            ptx=text, kernel=entry, grid=task.grid, block=task.block, arguments=values, shared_bytes=task.shared_bytes,
            source=candidate.name, registers=registers,
            parameters={"launch": 0, "order": 0, "compiled_for": target(text)}, name=kernel_name(entry),
            origin=origin_of(candidate),
        )  # fmt: skip
        return with_code(launch, sass), memory

    def _entry(self, text: str, candidate: Path) -> str:
        functions = parsed(text, candidate.name).functions if ".entry" in text else {}
        found = [name for name, one in functions.items() if one.entry]
        kernel = self.task.kernel
        chosen = [name for name in found if kernel in (name, kernel_name(name))] if kernel else found
        if len(chosen) != 1:
            there = ", ".join(kernel_name(name) for name in found) or "none"
            what = f"has no kernel {kernel}" if kernel and not chosen else "must have one kernel"
            raise CandidateFailure("failed", "kernel", f"{candidate.name} {what}; its kernels: {there}", str(candidate))
        return chosen[0]

    def _run(self, launch: PtxLaunch, memory: DeviceMemory, folder: Path) -> Trace:
        try:
            return trace_launch(launch, memory, folder / "candidate.h5", self.gpu, "all", check=True)
        except MemoryError:  # the trace grows with every access: an endless kernel may end here before its time is up
            words = "it did not end before its accesses filled the memory of its budget"
            raise CandidateFailure("endless", "memory", words) from None
        except KernelFailure as failure:
            fault = failure.fault
            if fault is None:
                raise CandidateFailure("failed", "kernel", failure) from None
            position = fault.position
            kind = _STOPS.get(fault.stop, fault.stop.name)
            words = fault.problem
            if fault.stop == Stop.outside:
                words += _nearest(memory, fault.address)
            verdict = _VERDICTS.get(kind, "failed")
            raise CandidateFailure(verdict, kind, words, position.file, position.line) from None

    def _predict(self, result: RunResult, trace: Trace, document: dict[str, Any]) -> None:
        time, fastest = result.kernel_time, speed_of_light(result)
        interval = result.kernel_time_interval
        microseconds = 1e3 * time.mean
        bound, busy = LaunchGroup(trace.kernel, 1, result, None).bound_by
        best_us = None if fastest is None else 1e3 * fastest.milliseconds
        document["time_us"] = {
            "mean": microseconds,
            "interval": None if interval is None else [1e3 * interval.low, 1e3 * interval.high],
        }
        document["best_us"] = best_us
        document["of_best"] = None if best_us is None else best_us / microseconds
        document["bound_by"] = {"part": bound, "busy": busy}
        limit = self.task.time_limit_us
        if limit is not None and document["verdict"] == "right" and microseconds > limit:
            document["verdict"] = "slow"
        document["findings"] = self._findings(result, trace, 1 - (document["of_best"] or 0.0))

    def _findings(self, result: RunResult, trace: Trace, most: float) -> list[dict[str, Any]]:
        """The first findings; those that are not replayed save `most` of the time at most."""
        found = []
        for one in explain(result, trace, quick=not self.gains).bottlenecks[:_SHOWN]:
            finding = one.findings[0] if one.findings else None
            op = result.trials.ops[finding.ops[0]] if finding is not None and finding.ops else None
            file, line = (op["file"], op["line"]) if op else kernel_definition(result)
            found.append(
                {
                    "cause": str(one.cause),
                    "file": file,
                    "line": line,
                    "array": finding.array if finding else "",
                    "evidence": finding.evidence if finding else "",
                    "hint": finding.advice if finding else "",
                    "gain": None if one.gain is None else float(one.gain.share.mean),
                    "upper_bound": float(min(one.upper_bound, most) if one.gain is None else one.upper_bound),
                }
            )
        return found


def empty_document(candidate: Path, task: JudgeTask, gpu: GPU) -> dict[str, Any]:
    """All keys of a document, with nothing found yet."""
    return {
        "schema": SCHEMA, "version": VERSION, "file": str(candidate), "task": str(task.path), "gpu": gpu.name,
        "verdict": "failed", "ran": False, "correct": None, "outputs": {}, "time_us": None, "best_us": None,
        "of_best": None, "bound_by": None, "findings": [], "warnings": [], "error": None, "budget": None,
        "sandbox": None,
    }  # fmt: skip


def failed(verdict: str, kind: str, words: str, file: str = "", line: int = 0) -> dict[str, Any]:
    """The keys of a document that say why there is no result."""
    return {"verdict": verdict, "error": {"kind": kind, "file": file, "line": line, "text": " ".join(words.split())}}


def compared(found: np.ndarray, expected: np.ndarray, task: JudgeTask) -> dict[str, Any]:
    """How an output differs from what was expected; NaN equals NaN alone.

    Floating-point numbers may differ by ``tolerance`` times the largest finite one expected; others not at all.
    """
    mine, right = found.reshape(-1), expected.reshape(-1)
    if np.issubdtype(mine.dtype, np.inexact):
        wide = np.complex128 if np.iscomplexobj(mine) or np.iscomplexobj(right) else np.float64
        mine, right = mine.astype(wide), right.astype(wide)
        finite = np.abs(right[np.isfinite(right)])
        allowed = task.tolerance * float(finite.max(initial=0.0))
        same = (mine == right) | (np.isnan(mine) & np.isnan(right))
        with np.errstate(invalid="ignore"):
            error = np.where(same, 0.0, np.abs(mine - right))
        wrong = ~(error <= allowed)
    else:
        wrong = mine != right
        error = np.abs(mine.astype(np.float64) - right.astype(np.float64))
    finite_errors = error[np.isfinite(error)]
    return {
        "equal": not wrong.any(),
        "wrong": int(wrong.sum()),
        "elements": int(wrong.size),
        "first_wrong": int(wrong.argmax()) if wrong.any() else None,
        "largest_error": float(finite_errors.max(initial=0.0)),
    }


def warnings_of(trace: Trace) -> list[dict[str, Any]]:
    """What is suspicious in a run that came to its end."""
    races, note = shared_races(trace)
    found = []
    for race in races:
        first, second = trace.ops[race.first], trace.ops[race.second]
        what = f"{first.kind.name} at line {first.line} and {second.kind.name} at line {second.line}"
        text = f"two warps access the same shared memory without a barrier between them: {what}"
        line = second.line if second.kind == first.kind else (first if first.kind != 0 else second).line
        found.append({"kind": "race", "file": first.file, "line": line, "text": text})
    if note:
        found.append({"kind": "not checked", "file": "", "line": 0, "text": note})
    return found


def _nearest(memory: DeviceMemory, address: int) -> str:
    """The array before an address, if one is near."""
    for region in reversed(memory.regions):
        if region.address <= address < region.address + region.bytes + _GUARD:
            return f": {address - region.address - region.bytes} bytes after {region.name}"
    return ""
