"""The Python interface: describe or load a trace, simulate it, ask the result.

The command line is a thin layer on these functions. What they need is imported when they are called, so that
``import memsim`` and ``memsim --help`` are quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch

if TYPE_CHECKING:
    from memsim.exploration import Exploration
    from memsim.gpu.config import GPU
    from memsim.interactive import Comparison, Result
    from memsim.models.estimate import Estimate
    from memsim.montecarlo.trials import Trials
    from memsim.sources.capture import Captured, Wanted
    from memsim.sources.describe.workload import Workload
    from memsim.sources.ptx.launchers.capturing import Capturing
    from memsim.sources.ptx.launchers.script import TunedScript
    from memsim.studies.capacity import Capacity
    from memsim.studies.sources import BySource
    from memsim.studies.uncertain import ModelError
    from memsim.trace.reader import Trace


_SCRIPT_CHILD = (sys.executable, "-m", "memsim.cli.script_child")  # runs a Python program with its launches caught
TUNING_TRIALS = 4  # of each configuration that a program's own tuner times


def trace(
    workload: Workload | str | Path,
    *,
    out: str | Path | None = None,
    gpu: GPU | str | Path = DEFAULT_GPU,
    blocks: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **parameters: Any,
) -> Trace:
    """Run a kernel description and record its memory trace.

    Args:
        workload: one made by ``@memsim.workload``, a name of the library (``"spmv"``), or a path to a kernel file.
        out: the trace file; None: a temporary file, removed when Python ends.
        gpu: whose occupancy and L2 size choose the blocks to trace; the trace fits any GPU.
        blocks: ``"FIRST:LAST"``, ``"4x"`` (times the resident threads) or ``"all"``; None: the workload's default.
        progress: told the blocks done, and all, after every batch.
        parameters: of the workload.

    Raises:
        InputError: an unknown workload or parameter, a kernel that fails, a file that cannot be written.

    >>> trace("spmv", rows=512, nnz_per_row=8).kernel
    'csr'
    """
    from memsim.sources.record import record

    return record(workload, parameters, _gpu(gpu), blocks, _out(out), progress)


def capture(
    files: str | Path | Sequence[str | Path],
    *,
    arguments: Sequence[str] = (),
    out: str | Path | None = None,
    kernel: str | Sequence[str] | None = None,
    launch: int | str | Sequence[int] | None = None,
    blocks: str | None = None,
    gpu: GPU | str | Path = DEFAULT_GPU,
    registers: int | None = None,
    includes: Sequence[str | Path] = (),
    definitions: Sequence[str] = (),
    libraries: Sequence[str] = (),
    standard: str = "c++17",
    target: str = "cpu",
    by: str = "auto",
    snapshot_only: bool = False,
    stop: bool = False,
    gaps: bool = False,
    unroll: int = 1,
    keep: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Captured:
    """Run a program without a GPU, and record the memory trace of a kernel; see docs/capture.md.

    A CUDA C++ program is built with probes. A Python program runs as it is: see docs/python_kernels.md.

    Args:
        files: the program's CUDA C++ files; or one Python file.
        arguments: of the program.
        out: the trace file, or a folder for a trace of every kernel; None: a temporary file, removed when Python ends.
        kernel: which, one or several (``"a,b"``); None: any.
        launch: which launches of a kernel, from 0: one, several (``"0,3,7"``) or ``"all"``; several go to a folder.
            None: the launch with the most accesses, with a folder that of each kernel; the first with `stop`,
            `snapshot_only`, `by` PTX, on a GPU, and of a Python program.
        blocks: ``"FIRST:LAST"``, ``"4x"`` (times the resident threads) or ``"all"``; None: by occupancy and L2 size.
        gpu: whose occupancy and L2 size choose the blocks to trace, and for which kernels are compiled; the trace fits
            any GPU.
        registers: of a thread; None: what nvcc reports for the GPU, where there is nvcc, else 32; the notes tell.
        includes, definitions, libraries, standard: the compiler's ``-I``, ``-D``, ``-l`` and ``-std``.
        target: ``"cpu"``, or ``"gpu"``: run on the GPU at hand.
        by: what of a CUDA C++ kernel is traced: its ``"source"``; the ``"ptx"`` that nvcc makes of it; or, ``"auto"``,
            PTX where it can be had and run, else the source: a note tells.
        snapshot_only: run only the traced blocks of the launch; what is launched later sees wrong data.
        stop: end the program as soon as the trace is complete, that of the last kernel with a folder.
        gaps: estimate the instructions between accesses.
        unroll: iterations of a counted loop whose loads are issued together; nvcc 13 often makes it 4.
        keep: a folder for the instrumented source and the build's log.
        progress: told the blocks done, and all.

    Raises:
        InputError: source that is not understood, a program that fails, a kernel that is not launched; one that is
            launched nowhere in the source is refused before the program runs.

    ::

        captured = memsim.capture("app.cu", arguments=["1024"], out="app.h5")
        memsim.simulate(captured.trace, gpu="tesla-v100")
    """
    from memsim.sources.capture import Sources, Wanted
    from memsim.sources.capture import capture as run_captured
    from memsim.sources.capture.wanted import chosen_kernels, chosen_launches

    names = [files] if isinstance(files, str | Path) else files
    which = chosen_kernels(kernel), chosen_launches(launch)
    wanted = Wanted(*which, blocks, snapshot_only, registers, gaps, unroll, stop)
    if len(names) == 1 and Path(names[0]).suffix == ".py":
        return _capture_script(Path(names[0]), arguments, Path(_out(out)), gpu, wanted, progress)
    sources = Sources(
        tuple(Path(one) for one in names),
        tuple(Path(one) for one in includes),
        tuple(definitions),
        standard,
        tuple(libraries),
        gpu=target == "gpu",
    )
    place = Path(keep) if keep is not None else None
    if by != "source":
        from memsim.sources.ptx.cpp import capture_best, capture_by_ptx

        run, machine = capture_best if by == "auto" else capture_by_ptx, _gpu(gpu)
        return run(sources, arguments, Path(_out(out)), machine, wanted, keep=place, progress=progress)
    return run_captured(sources, arguments, _out(out), _gpu(gpu), wanted, keep=place, progress=progress)


def _capture_script(
    script: Path, arguments: Sequence[str], out: Path, gpu: GPU | str | Path, wanted: Wanted,
    progress: Callable[[int, int], None] | None,
) -> Captured:  # fmt: skip
    from memsim.sources.ptx.launchers.script import capture_script

    return capture_script(_SCRIPT_CHILD, script, arguments, out, _gpu(gpu), wanted, progress)


def capture_ptx(
    ptx: str | Path,
    launch: str | Path,
    *,
    out: str | Path | None = None,
    kernel: str | None = None,
    blocks: str | None = None,
    gpu: GPU | str | Path = DEFAULT_GPU,
    registers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Captured:
    """Run a kernel of a PTX file and record its memory trace; see docs/python_kernels.md.

    Args:
        ptx: the file.
        launch: a Python file that sets ``grid``, ``block`` and ``arguments``, and may set ``kernel``,
            ``shared_bytes`` and ``cluster``.
        out: the trace file; None: a temporary file, removed when Python ends.
        kernel: which one of the file's.
        blocks, gpu, registers, progress: as for :func:`capture`.

    Raises:
        InputError: PTX that is not understood, a Python file that fails, an access outside all arrays.
    """
    from memsim.sources.capture import Captured, Wanted
    from memsim.sources.ptx.launchers.capturing import Capturing, Enough
    from memsim.sources.ptx.launchers.ptx_file import launch_file

    wanted = Wanted(blocks=blocks, registers=registers, stop=True)
    capturing = Capturing(_gpu(gpu), Path(_out(out)), wanted, progress)
    with suppress(Enough):  # nobody asks for the results of the blocks that are not traced
        launch_file(capturing, Path(ptx), Path(launch), kernel)
    return Captured(capturing.traces, {capturing.launches[0].kernel: 1}, capturing.notes)


@contextmanager
def capturing(
    gpu: GPU | str | Path = DEFAULT_GPU,
    *,
    out: str | Path | None = None,
    kernel: str | Sequence[str] | None = None,
    launch: int | str | Sequence[int] | None = None,
    blocks: str | None = None,
    registers: int | None = None,
    snapshot_only: bool = False,
    stop: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Capturing]:
    """Catch what a Python program launches: Triton, Numba-CUDA, Warp, CuPy, cuda.core; see docs/python_kernels.md.

    Inside the block no GPU is asked for: kernels are compiled for `gpu`, run on the CPU on numpy's arrays (and torch's
    CPU tensors) as they are, and the wanted launch is traced.

    Args:
        gpu: that the kernels are compiled for, and whose occupancy and L2 size choose the blocks to trace.
        out: the trace file, or a folder for a trace of every kernel; None: a temporary file, removed when Python ends.
        kernel: which, one or several (``"a,b"``); None: any.
        launch: which launches of a kernel, from 0: one, several (``"0,3,7"``) or ``"all"``; several go to a folder.
            None: the first.
        blocks: ``"FIRST:LAST"``, ``"4x"`` (times the resident threads) or ``"all"``; None: by occupancy and L2 size.
        registers: of a thread; None: as the assembler reports, where there is one.
        snapshot_only: run only the traced blocks of the launch; what is launched later sees wrong data.
        stop: leave the block as soon as the trace is complete.
        progress: told the blocks done, and all.

    Raises:
        InputError: a kernel that is not understood, an access outside all arrays, a package that is not installed.

    ::

        with memsim.capturing(gpu="h100") as captured:
            kernel[grid](x, y, n)
        memsim.simulate(captured.trace, gpu="h100")
    """
    from memsim.sources.capture import Wanted
    from memsim.sources.capture.wanted import chosen_kernels, chosen_launches
    from memsim.sources.ptx.launchers.capturing import Capturing, Enough
    from memsim.sources.ptx.launchers.installed import caught
    from memsim.sources.ptx.launchers.timing import Timing

    which, machine = (chosen_kernels(kernel), chosen_launches(launch)), _gpu(gpu)
    wanted = Wanted(*which, blocks, snapshot_only, registers, stop=stop)

    def clock(trace: Trace) -> float:
        return simulate(trace, machine, trials=TUNING_TRIALS).kernel_time.mean

    with suppress(Enough), caught(Capturing(machine, Path(_out(out)), wanted, progress, Timing(clock))) as captured:
        yield captured


def open_trace(
    path: str | Path, kernel: str | None = None, progress: Callable[[int, int], None] | None = None
) -> Trace:
    """Open a trace file; Accel-Sim's, ``kernelslist.g``, ``.traceg`` or ``.tracez``, are imported to a temporary one.

    Args:
        path: a file of memsim's, or of Accel-Sim's, plain or packed.
        kernel: which one of a list: its id, the name of its file, or a part of its name; None: there is one.
        progress: told the bytes of the file that are read, and all, when it is imported.

    Raises:
        InputError: a bad file, or several kernels.

    ::

        trace = memsim.open_trace("traces/kernelslist.g", kernel="spmv")
    """
    from memsim.trace.reader import Trace

    path = Path(path)
    if path.suffix == ".g" or {".traceg", ".tracez"} & set(path.suffixes):
        from memsim.sources.imported.accelsim import import_only_kernel

        return import_only_kernel(path, _out(None), kernel, progress)
    if kernel is not None:
        raise InputError(path, "kernel", "was chosen, of a trace file, which has one; leave out --kernel")
    return Trace.open(path)


def simulate(
    trace: Trace | str | Path,
    gpu: GPU | str | Path | None = None,
    *,
    trials: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    until: float | None = None,
    min_trials: int | None = None,
    max_trials: int | None = None,
    warm: bool = False,
    whole: bool = False,
    settings: Mapping[str, object] | None = None,
    convention: str = "model",
    progress: Callable[[Trials], None] | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
) -> Result:
    """Replay a trace on a GPU's memory hierarchy, many times with the order of warps redrawn.

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: a GPU, the name of a preset, or the path of a TOML file; None: that which the trace was made for, or the
            default, ``"rtx4090"``.
        trials: how many. Without it (and `until`), as many as make the 95 % interval of the mean of every hit ratio
            narrower than 0.2 points: 8 at least, 64 at most.
        seed: of all random draws. A trial's draws depend on the seed and the trial's number alone.
        jobs: processes.
        until: stop when those intervals are narrower than this.
        min_trials, max_trials: bounds without `trials`; 20 and 1000 with `until`.
        warm: every trial starts with the caches that one replay leaves, instead of empty ones.
        whole: replay a launch as it begins, from its first block on and without random phases; the trace must hold all
            of its blocks.
        settings: fields of the GPU to change, ``{"l1.ways": 4}``.
        convention: of the result's hit ratios, see :mod:`memsim.analysis.conventions`.
        progress: told each trial as it finishes, those that `resume` finds first.
        out: the results file to write. Until it is whole, finished trials are kept beside it, and outlive this process
            however it ends.
        resume: go on with the trials of `out`, and with those that a killed run left: of the same trace, GPU and seed.
        force: write over `out`.

    Ctrl-C returns the trials that are finished, if there are any; ``result.interrupted`` tells.

    Raises:
        InputError: a bad trace, GPU, setting or number, a part of a launch with `whole`, or an `out` that exists
            without `resume` or `force`.

    ::

        result = memsim.simulate("spmv.h5", gpu="tesla-c2050", seed=1, jobs=2)
        print(result.l2_read.mean, result.l2_read.interval())
    """
    from memsim.analysis.stopping import Plan, narrower_than
    from memsim.gpu.presets import override
    from memsim.interactive import Result
    from memsim.montecarlo.run import run
    from memsim.trace.made_for import meant
    from memsim.trace.reader import Trace

    plan = Plan.of(trials, until, min_trials, max_trials)
    rule = {"width": plan.width, "convention": str(convention), "asked": plan.asked}
    recorded = trace if isinstance(trace, Trace) else open_trace(trace)
    named = meant(recorded, gpu)
    if whole:
        settings = dict(settings or {}) | _begun_together(recorded)
    done = run(
        recorded,
        override(_gpu(named), settings) if settings else _gpu(named),
        trials=plan.most,
        seed=seed,
        jobs=jobs,
        enough=None if plan.width is None else narrower_than(plan.width, convention),
        at_least=plan.least,
        warm=warm,
        progress=progress,
        provenance=_origins(named, settings),
        rule=None if plan.width is None else rule,
        out=out,
        resume=resume,
        force=force,
    )
    return Result(done, convention)


def simulate_program(
    traces: Sequence[Trace | str | Path],
    gpu: GPU | str | Path | None = None,
    *,
    trials: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    settings: Mapping[str, object] | None = None,
    convention: str = "model",
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Replay the launches of a program one after the other, each with L2 as the one before left it.

    Args:
        traces: of one run of the program, in the order of their launches.
        gpu: as for :func:`simulate`; None: that which the traces were made for.
        trials: how many of the whole program; 8 without it.
        seed, jobs, settings, convention: as for :func:`simulate`.
        progress: told the trials done, and all.

    Returns:
        A result for each launch.

    Raises:
        InputError: a bad trace, GPU, setting or number; traces made for several GPUs where none is named.
    """
    from memsim.analysis.stopping import Plan
    from memsim.interactive import Result
    from memsim.montecarlo.program import run_program
    from memsim.trace.made_for import meant
    from memsim.trace.reader import Trace

    recorded = [one if isinstance(one, Trace) else open_trace(one) for one in traces]
    if not recorded:
        raise InputError("simulate_program", "traces", "are none; give those of a program's launches")
    if gpu is None:
        _check_made_for_one(recorded)
    _, machine = _opened(recorded[0], gpu, settings)
    count = Plan.of(trials, None, None, None).least if trials is None else trials
    origins = _origins(meant(recorded[0], gpu), settings)
    done = run_program(
        recorded, machine, trials=count, seed=seed, jobs=jobs, progress=progress, provenance=origins
    )  # fmt: skip
    return [Result(one, convention) for one in done]


def _origins(gpu: GPU | str | Path, settings: Mapping[str, object] | None) -> dict[str, object]:
    """Where the numbers of a named GPU come from, by field, as a result keeps it."""
    from memsim.gpu.presets import provenance

    found = provenance(gpu, settings) if isinstance(gpu, str | Path) else {}
    return {field: asdict(entry) for field, entry in found.items()}


def _check_made_for_one(traces: Sequence[Trace]) -> None:
    first = traces[0]
    for one in traces:
        if one.gpu != first.gpu:
            problem = f"is {one.gpu or 'not told'}, that of {first.path.name} {first.gpu or 'not told'}"
            raise InputError(one.path, "gpu", f"{problem}; name one, as --gpu does")


def _begun_together(trace: Trace) -> dict[str, object]:
    """The settings of a whole launch's replay."""
    if trace.n_blocks < trace.launch.n_blocks:
        counts = f"{trace.n_blocks:,} of {trace.launch.n_blocks:,} blocks"
        raise InputError(trace.path, "blocks", f"are {counts}, not the whole launch; trace or capture it with --whole")
    return {"stochastic.start_alignment": False}


def estimate(
    trace: Trace | str | Path, gpu: GPU | str | Path | None = None, *, settings: Mapping[str, object] | None = None
) -> Estimate:
    """Estimate a kernel's time by closed-form models, without replaying it; see docs/models.

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: a GPU, the name of a preset, or the path of a TOML file; None: that which the trace was made for, or the
            default, ``"rtx4090"``.
        settings: fields of the GPU to change, ``{"mwp_cwp.mem_ld_cycles": 500}``.

    Raises:
        InputError: a bad trace, GPU or setting; a block that fits no SM.

    ::

        done = memsim.estimate("spmv.h5", gpu="quadro-fx5600")
        print(done.occupancy.limiters, done.prediction.case, done.prediction.cycles)
    """
    from memsim.models.estimate import estimate as apply

    return apply(*_opened(trace, gpu, settings))


def explore(
    workload: Workload | str | Path,
    gpu: GPU | str | Path = DEFAULT_GPU,
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    keep: int = 5,
    trials: int = 8,
    seed: int = 0,
    blocks: str = "2x",
    jobs: int = 1,
    settings: Mapping[str, object] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    arguments: Sequence[str] = (),
    kernel: str | None = None,
    **parameters: Any,
) -> Exploration:
    """Try the choices that a kernel declares: all by closed-form models, the best few by simulation (docs/explore.md).

    Args:
        workload: one made by ``@memsim.workload``, a name of the library, a path to a kernel file, or to a program
            that launches a kernel of Triton with ``@triton.autotune``: its configurations are the versions.
        gpu: a GPU, the name of a preset, or the path of a TOML file.
        vary: by parameter, the values to try, in the place of those that the kernel declares.
        keep: how many versions to simulate, the best by model.
        trials, seed: of each simulation, as for :func:`simulate`.
        blocks: what is simulated of each, as for :func:`trace`.
        jobs: processes, which share out the versions.
        settings: fields of the GPU to change.
        progress: told the versions done, all, and the stage: "modelled" or "simulated".
        arguments: of a program's command line.
        kernel: which of a program's tuned kernels; None: the first.
        parameters: of the workload, that are no choices.

    Raises:
        InputError: no choices, an unknown parameter, a bad value or number, or no version that can be.

    >>> found = explore("transpose", "tesla-c1060", n=1024, keep=0)
    >>> found.best.chosen, found.decisions[0].choice
    ({'variant': 'diagonal'}, 'variant')
    """
    from memsim.exploration import explore as search
    from memsim.exploration import explore_tuned, is_program
    from memsim.gpu.presets import override

    machine = override(_gpu(gpu), settings) if settings else _gpu(gpu)
    how: dict[str, Any] = {"keep": keep, "blocks": blocks, "trials": trials, "seed": seed, "jobs": jobs}
    if not isinstance(workload, str | Path) or not is_program(workload):
        if arguments or kernel is not None:
            raise InputError("explore", "arguments", "and kernels are a program's; leave them out")
        return search(workload, machine, parameters, vary or {}, progress=progress, **how)
    if parameters or vary:
        wrong = ", ".join([*parameters, *(vary or ())])
        raise InputError(workload, wrong, "is no choice of a program; write it into its triton.Configs")

    def tune(folder: Path, waves: Sequence[str]) -> TunedScript:
        from memsim.sources.ptx.launchers.script import tune_script

        return tune_script(_SCRIPT_CHILD, Path(workload), arguments, folder, machine, waves, kernel)

    return explore_tuned(tune, str(workload), machine, progress=progress, **how)


def capacity(
    trace: Trace | str | Path,
    gpu: GPU | str | Path | None = None,
    *,
    trials: int = 4,
    seed: int = 0,
    jobs: int = 1,
    settings: Mapping[str, object] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Capacity:
    """Find the hit ratio at every capacity of L1 and L2 in one pass, and replay three of them (docs/capacity.md).

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: a GPU, the name of a preset, or the path of a TOML file; None: that which the trace was made for, or the
            default, ``"rtx4090"``.
        trials: of each replay, beside the curves; 0 for the curves alone.
        seed, jobs: of the replays, as for :func:`simulate`.
        settings: fields of the GPU to change.
        progress: told the trials done, and all.

    Raises:
        InputError: a bad trace, GPU, setting or number; no cache that serves the trace's loads.

    ::

        found = memsim.capacity("spmv.h5", gpu="a100")
        found.caches["l2"].needed(0.9), float(found.caches["l1"].hit_ratio(48 << 10))
    """
    from memsim.studies.capacity import capacity as curves

    recorded, machine = _opened(trace, gpu, settings)
    return curves(recorded, machine, trials=trials, seed=seed, jobs=jobs, progress=progress)


def compare(first: Result | str | Path, second: Result | str | Path, *, convention: str = "model") -> Comparison:
    """Set two results side by side: speed-up, ratios, loads and arrays, with intervals (docs/compare.md).

    Trials are paired by number where both results drew from one seed, else compared after Welch.

    Args:
        first, second: results, or the paths of their files.
        convention: of the hit ratios of files; a result has its own.

    Raises:
        InputError: a bad file, or results of different conventions.

    ::

        found = memsim.compare("scalar.h5", "vector.h5")
        found.speedup, found.speedup_interval, found.pairing.why_not
        found.ratios["l2_read"].change, [row.latency.change for row in found.loads.matched]
    """
    from memsim.interactive import Result, held
    from memsim.studies.compare import compare as side_by_side

    one, other = (Result.load(each, convention) if isinstance(each, str | Path) else each for each in (first, second))
    return held(side_by_side(one, other))


def sensitivity(
    trace: Trace | str | Path,
    gpu: GPU | str | Path | None = None,
    *,
    points: int = 64,
    seed: int = 0,
    jobs: int = 1,
    settings: Mapping[str, object] | None = None,
    convention: str = "model",
    progress: Callable[[int, int], None] | None = None,
) -> BySource:
    """Split the spread of a kernel's runs by source of randomness (docs/sensitivity.md).

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: a GPU, the name of a preset, or the path of a TOML file; None: that which the trace was made for, or the
            default, ``"rtx4090"``.
        points: a power of two; it takes `points` x (sources + 2) replays.
        seed, jobs: as for :func:`simulate`.
        settings: fields of the GPU to change.
        convention: of the hit ratios.
        progress: told the replays done, and all.

    Raises:
        InputError: a bad trace, GPU, setting or number; a GPU on which nothing is random.

    ::

        found = memsim.sensitivity("spmv.h5", gpu="tesla-c2050")
        [(one.name, one.total) for one in found.outputs["cycles"].ranked]
    """
    from memsim.studies.sources import by_source

    recorded, machine = _opened(trace, gpu, settings)
    return by_source(
        recorded, machine, points=points, seed=seed, jobs=jobs, convention=convention, progress=progress
    )  # fmt: skip


def uncertainty(
    trace: Trace | str | Path,
    gpu: str | Path | None = None,
    *,
    uncertainty: float = 0.2,
    points: int = 32,
    effects: bool = True,
    trials: int = 4,
    seed: int = 0,
    jobs: int = 1,
    settings: Mapping[str, object] | None = None,
    convention: str = "model",
    progress: Callable[[int, int], None] | None = None,
) -> ModelError:
    """Vary the numbers of a preset that are fitted or assumed: the model's own error bar (docs/sensitivity.md).

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: the name of a preset, or the path of a TOML file, which says what is uncertain; None: as for
            :func:`simulate`.
        uncertainty: share by which a number varies that states none.
        points: at which all vary together.
        effects: whether each is also varied alone, which tells the measurement that would help most.
        trials, seed, jobs: of each point, as for :func:`simulate`.
        settings: fields of the GPU to change; what is given is not varied.
        convention: of the hit ratios.
        progress: told the trials done, and all.

    Raises:
        InputError: a bad trace, GPU, setting or number; a GPU of whose numbers none is uncertain.

    ::

        found = memsim.uncertainty("spmv.h5", gpu="h100")
        found.interval("time_ms"), found.effects[0].factor.name
    """
    from memsim.gpu.presets import load_gpu, override, provenance
    from memsim.studies.uncertain import uncertain
    from memsim.trace.made_for import meant
    from memsim.trace.reader import Trace

    recorded = trace if isinstance(trace, Trace) else open_trace(trace)
    named = meant(recorded, gpu)
    machine = override(load_gpu(named), settings) if settings else load_gpu(named)
    return uncertain(
        recorded, machine, provenance(named, settings),
        uncertainty=uncertainty, points=points, effects=effects, trials=trials, seed=seed, jobs=jobs,
        convention=convention, progress=progress,
    )  # fmt: skip


def _opened(
    trace: Trace | str | Path, gpu: GPU | str | Path | None, settings: Mapping[str, object] | None
) -> tuple[Trace, GPU]:
    """A trace, and the GPU that is meant, as it is set."""
    from memsim.gpu.presets import override
    from memsim.trace.made_for import meant
    from memsim.trace.reader import Trace

    recorded = trace if isinstance(trace, Trace) else open_trace(trace)
    machine = _gpu(meant(recorded, gpu))
    return recorded, override(machine, settings) if settings else machine


def _gpu(gpu: GPU | str | Path) -> GPU:
    from memsim.gpu.presets import load_gpu

    return load_gpu(gpu) if isinstance(gpu, str | Path) else gpu


def _out(path: str | Path | None) -> str | Path:
    """Where a trace goes: a temporary file if nobody says."""
    return Path(_scratch().name, f"{os.getpid()}-{next(_numbers)}.h5") if path is None else path


@cache
def _scratch() -> Scratch:
    """One folder for temporary traces; it goes when Python ends. Processes forked later share it."""
    return Scratch()


_numbers = count()
