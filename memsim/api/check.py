"""Kernels against a baseline: what ``memsim check`` does."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.analysis.program import ProgramResult
    from memsim.gate.baseline import Baseline, BaselineProgram
    from memsim.gate.figures import KernelFigures, MeasuredKernel
    from memsim.gate.regressions import Regression
    from memsim.trace.reader import Trace

SEED = 0  # one for all: the same inputs give the same figures


@dataclass
class CheckOutcome:
    """What a check found.

    Attributes:
        kernels: figures now, of the baseline (None: not in it), and a verdict in a word.
        regressions: figures that are worse than allowed.
        missing: kernels of the baseline that the program does not launch any more.
        notes: what may make figures differ without a change of the program.
    """

    kernels: list[tuple[KernelFigures, KernelFigures | None, str]] = field(default_factory=list)
    regressions: list[Regression] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing became worse and nothing is missing."""
        return not self.regressions and not self.missing


def check(
    baseline: str | Path = "memsim-baseline.toml",
    *,
    jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> CheckOutcome:
    """Run the programs of a baseline again, and compare their kernels with it.

    The same programs, compilers and memsim give the same figures on any machine: every random draw has a fixed seed,
    and figures do not depend on the number of processes.

    Args:
        baseline: the file.
        jobs: processes; None: all cores.
        progress: called with what is run.

    Raises:
        InputError: a bad file, or a program that fails.

    ::

        outcome = memsim.check("memsim-baseline.toml")
        assert outcome.passed, outcome.regressions
    """
    from memsim.gate.baseline import Baseline

    path = Path(baseline)
    read = Baseline.read(path)
    if not any(program.kernels for program in read.programs):
        raise InputError(path, "programs", "are missing; add one: memsim check --update app.cu --gpu a100")
    outcome = CheckOutcome()
    for program in read.programs:
        for note in _other_compiler(program):
            outcome.notes.append(note)
        for gpu in program.gpus:
            (progress or (lambda what: None))(f"{program.files[0]} on {gpu}")
            _compare(read, program, measure(program, gpu, path.parent, jobs), gpu, outcome)
    return outcome


def update(
    baseline: str | Path, program: BaselineProgram | None = None, *, jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Baseline:  # fmt: skip
    """Measure anew, and return the baseline with the new figures; nothing is written.

    Args:
        baseline: the file; it need not exist where `program` is given.
        program: one to add, or to replace where the file has it; None: all of the file's.
        jobs, progress: as for :func:`check`.

    Raises:
        InputError: a bad file, or a program that fails.
    """
    from memsim.gate.baseline import Baseline

    path = Path(baseline)
    read = Baseline() if program is not None and not path.exists() else Baseline.read(path)
    others = [one for one in read.programs if program is not None and not one.is_same(program)]
    chosen = [one for one in read.programs if program is None or one.is_same(program)]
    if program is not None:
        known = chosen[0].kernels if chosen else []
        chosen = [program.model_copy(update={"kernels": known})]
    made = [_updated(one, path.parent, jobs, progress) for one in chosen]
    return read.model_copy(update={"programs": [*others, *made]})


def _updated(
    program: BaselineProgram, folder: Path, jobs: int | None, progress: Callable[[str], None] | None
) -> BaselineProgram:
    from memsim.gate.baseline import baseline_kernel

    allowed = {(one.kernel, one.gpu): one.allowed for one in program.kernels}
    kernels = []
    for gpu in program.gpus:
        (progress or (lambda what: None))(f"{program.files[0]} on {gpu}")
        for one in measure(program, gpu, folder, jobs):
            kernels.append(baseline_kernel(one.figures, allowed.get((one.figures.kernel, one.figures.gpu), {})))
    return program.model_copy(update={"kernels": kernels, "compiler": _compiler(program)})


def measure(program: BaselineProgram, gpu: str, folder: Path, jobs: int | None = None) -> list[MeasuredKernel]:
    """The figures of a program's kernels on one GPU.

    Args:
        program: what is run.
        gpu: a preset, or the path of a TOML file relative to the folder.
        folder: that the program's paths are relative to.
        jobs: processes.
    """
    from memsim.gate.figures import measured
    from memsim.support.scratch import Scratch

    with Scratch() as scratch:
        return measured(profiled(program, gpu, folder, Path(scratch), jobs))


def profiled(program: BaselineProgram, gpu: str, folder: Path, scratch: Path, jobs: int | None) -> ProgramResult:
    """The profile of a program, with traces in a scratch folder."""
    from memsim.api.profile import profile_program
    from memsim.gpu.presets import load_gpu

    machine = load_gpu(str(folder / gpu) if gpu.endswith(".toml") else gpu)
    traces = _traces(program, gpu if machine.name == gpu else str(folder / gpu), folder, scratch)
    found = profile_program(traces, machine, program=program.files[0], quick=True, seed=SEED, jobs=jobs)
    if found.about["interrupted"]:
        raise KeyboardInterrupt
    return found


def _traces(program: BaselineProgram, gpu: str, folder: Path, scratch: Path) -> list[Trace]:
    from memsim.api.record import capture
    from memsim.trace.reader import Trace

    files = [str(folder / one) for one in program.files]
    if Path(files[0]).is_dir():
        found = sorted(Path(files[0]).glob("*.h5"))
        if not found:
            raise InputError(files[0], "folder", "has no traces; give one of `memsim capture --launch all -o FOLDER`")
        return sorted(map(Trace.open, found), key=lambda one: int(one.parameters.get("order", 0)))
    captured = capture(
        [os.path.relpath(one) for one in files], arguments=program.arguments, out=scratch / "traces", launch="all",
        gpu=gpu, kernel=program.kernel, blocks=program.blocks, includes=[folder / one for one in program.includes],
        definitions=program.definitions, libraries=program.libraries, standard=program.standard,
    )  # fmt: skip
    return captured.traces


def _compare(
    baseline: Baseline, program: BaselineProgram, now: list[MeasuredKernel], gpu: str, outcome: CheckOutcome
) -> None:
    from memsim.gate.regressions import is_better, regressions

    name = now[0].figures.gpu if now else gpu
    known = {one.kernel: one for one in program.kernels if one.gpu == name}
    for one in now:
        entry = known.pop(one.figures.kernel, None)
        if entry is None:
            outcome.kernels.append((one.figures, None, "new"))
            continue
        before, allowed = entry.figures(), baseline.of(entry)
        if before.code != one.figures.code:
            outcome.notes.append(f"{before.kernel}: the baseline ran {before.code}, now {one.figures.code}")
        worse = regressions(before, one, allowed)
        outcome.regressions += worse
        verdict = "worse" if worse else "better" if is_better(before, one.figures, allowed) else "ok"
        outcome.kernels.append((one.figures, before, verdict))
    outcome.missing += [f"{kernel} on {name}" for kernel in known]


def _other_compiler(program: BaselineProgram) -> list[str]:
    now = _compiler(program)
    if not program.compiler or program.compiler == now:
        return []
    return [f"{program.files[0]}: the baseline was made with {program.compiler}, here is {now}; figures may differ"]


def _compiler(program: BaselineProgram) -> str:
    """What compiles a program's files, with its version; empty where memsim compiles nothing."""
    from memsim.capture.build import CUDA_SUFFIXES
    from memsim.capture.compilers import find_compiler

    if not program.files[0].endswith(CUDA_SUFFIXES):
        return ""
    return "nvcc {}.{}".format(*find_compiler().version)
