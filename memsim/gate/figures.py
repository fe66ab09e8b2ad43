"""The figures of a kernel that a baseline holds: of the kernel as a whole, and of each access to memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memsim.analysis.launch_time import LaunchPart
from memsim.analysis.loads import array_name
from memsim.analysis.program import ProgramResult
from memsim.analysis.result import RunResult
from memsim.gpu.occupancy import Occupancy, occupancy
from memsim.hierarchy.counters import CountUnit, Level
from memsim.profile.op_profile import OpProfile
from memsim.why import find_bottlenecks
from memsim.why.bottlenecks import gpu_of
from memsim.why.source_access import kernel_definition
from memsim.why.work import ResultWork

SECTOR_BYTES = 32
_DIGITS = 4  # that a baseline keeps of a number


@dataclass(frozen=True)
class AccessFigures:
    """The accesses of one kind to one array on one source line, in one launch.

    Attributes:
        file: as the trace names it.
        line: from 1; 0 is unknown.
        code: the source line, without its indentation; empty where it is unknown.
        kind: load, store, atomic or reduction.
        space: global, shared, local, constant or texture.
        array: that is accessed.
        requests: warp instructions.
        sectors: of 32 bytes, requested of L1.
        passes: of the load-store unit, of shared and constant memory.
        conflicts: of `passes`, those that bank conflicts cause.
        dram_bytes: that these accesses move.
        waiting: share of the kernel's waiting, 0 to 1.
    """

    file: str
    line: int
    code: str
    kind: str
    space: str
    array: str
    requests: float
    sectors: float
    passes: float
    conflicts: float
    dram_bytes: float
    waiting: float


@dataclass(frozen=True)
class KernelFigures:
    """One kernel on one GPU; kernels of several shapes are distinguished by their grids.

    Attributes:
        kernel: its label in the program's profile.
        gpu: name.
        launches: of it.
        time_us: microseconds per launch.
        sectors_per_request: of 32 bytes, per warp instruction to global, local and texture memory.
        bank_conflicts: further passes per warp instruction to shared memory.
        dram_bytes: per launch.
        occupancy: resident warps of an SM over the most that it holds, as registers, shared memory and blocks allow.
        instructions: of warps, per launch.
        registers: per thread.
        shared_bytes: per block.
        code: what was run: machine code or PTX, and for which architecture.
        accesses: the source lines that access memory.
    """

    kernel: str
    gpu: str
    launches: int
    time_us: float
    sectors_per_request: float
    bank_conflicts: float
    dram_bytes: float
    occupancy: float
    instructions: float
    registers: int
    shared_bytes: int
    code: str
    accesses: tuple[AccessFigures, ...]

    @property
    def time(self) -> float:
        """Microseconds per launch."""
        return self.time_us


@dataclass(frozen=True)
class MeasuredKernel:
    """Figures, and what explains them.

    Attributes:
        figures: of the kernel.
        file, line: where the kernel is defined; the line of its first access where that is not found.
        held: what an SM holds of it.
        causes: by (file, line), what is wrong there and what to try, the most important first.
    """

    figures: KernelFigures
    file: str
    line: int
    held: Occupancy
    causes: dict[tuple[str, int], tuple[str, str]]


def measured(program: ProgramResult) -> list[MeasuredKernel]:
    """Every kernel of a profile, in the order of their labels."""
    pairs = zip(program.labels(), program.groups, strict=True)
    found = [
        _kernel(label, group.typical, group.launches, 1e3 * group.time.mean / group.launches) for label, group in pairs
    ]
    return sorted(found, key=lambda one: one.figures.kernel)


def rounded(value: float) -> float:
    """A number to four digits, so that a baseline is short and the same on any machine.

    >>> rounded(1234.56), rounded(0.000123456), rounded(0)
    (1235.0, 0.0001235, 0.0)
    """
    return float(f"{value:.{_DIGITS}g}")


def _kernel(label: str, result: RunResult, launches: int, time_us: float) -> MeasuredKernel:
    trials, gpu = result.trials, gpu_of(result)
    trace, executed, part = trials.about["trace"], trials.about["executed"], LaunchPart.of(trials)
    times = part.launched / part.replayed
    block = trace["block"][0] * trace["block"][1] * trace["block"][2]
    held = occupancy(gpu, block, executed["registers"], executed["shared_bytes"])
    accesses = _accesses(result, times)
    memory = [one for one in accesses if one.space not in ("shared", "constant")]
    shared = [one for one in accesses if one.space == "shared"]
    instructions = sum(one.requests for one in accesses) + times * (
        executed["compute_instructions"] + executed["masked"]
    )
    figures = KernelFigures(
        kernel=label,
        gpu=result.gpu,
        launches=launches,
        time_us=rounded(time_us),
        sectors_per_request=_ratio([one.sectors for one in memory], memory),
        bank_conflicts=_ratio([one.conflicts for one in shared], shared),
        dram_bytes=rounded(times * SECTOR_BYTES * sum(result.counters["dram"]["sectors"].values())),
        occupancy=rounded(held.fraction),
        instructions=rounded(instructions),
        registers=executed["registers"],
        shared_bytes=executed["shared_bytes"],
        code=str(trace["parameters"].get("code", "")),
        accesses=accesses,
    )
    file, line = kernel_definition(result)
    first = min((one.line for one in accesses if one.file == file), default=0)
    return MeasuredKernel(figures, file, line or first, held, _causes(result))


def _ratio(amounts: list[float], of: Sequence[AccessFigures]) -> float:
    return rounded(sum(amounts) / max(1.0, sum(one.requests for one in of)))


def _accesses(result: RunResult, times: float) -> tuple[AccessFigures, ...]:
    """Those of each line, kind and array, in the order of lines; constants of the driver have no line and no part."""
    trials, work = result.trials, ResultWork.of(result)
    groups: dict[tuple[str, int, str, str, str], list[int]] = {}
    for number, op in enumerate(trials.ops):
        key = op["file"], op["line"], op["kind"], op["space"].rstrip("_"), array_name(trials, op)
        groups.setdefault(key, []).append(number)
    found = []
    for (file, line, kind, space, array), ops in sorted(groups.items()):
        total: OpProfile = sum((work.profiles[op] for op in ops[1:]), start=work.profiles[ops[0]])
        moved = float(work.counters[ops, Level.dram, :, CountUnit.sectors].sum())
        found.append(
            AccessFigures(
                file, line, _code(result, file, line), kind, space, array,
                requests=rounded(times * total.instructions),
                sectors=rounded(times * total.sectors),
                passes=rounded(times * total.passes),
                conflicts=rounded(times * max(0, total.passes - total.least_passes)),
                dram_bytes=rounded(times * SECTOR_BYTES * moved),
                waiting=rounded(float(work.waited[ops].sum())),
            )
        )  # fmt: skip
    return tuple(found)


def _code(result: RunResult, file: str, line: int) -> str:
    lines = result.trials.sources.get(file) or ()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _causes(result: RunResult) -> dict[tuple[str, int], tuple[str, str]]:
    found: dict[tuple[str, int], tuple[str, str]] = {}
    for one in find_bottlenecks(result):
        for finding in one.findings:
            for op in finding.ops:
                location = result.trials.ops[op]["file"], result.trials.ops[op]["line"]
                found.setdefault(location, (str(one.cause), finding.advice))
    return found
