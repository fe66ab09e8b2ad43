"""Questions about a kernel: its time by models, its best version, the caches and numbers that matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.api.arguments import named_gpu, open_trace, opened
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from memsim.exploration import Exploration
    from memsim.gpu.config import GPU
    from memsim.models.estimate import Estimate
    from memsim.sources.describe.workload import Workload
    from memsim.studies.capacity import Capacity
    from memsim.studies.sources import BySource
    from memsim.studies.uncertain import ModelError
    from memsim.trace.reader import Trace


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

    return apply(*opened(trace, gpu, settings))


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
    """Try the choices that a kernel declares: all by closed-form models, the best few by simulation.

    See docs/how_to/explore.md.

    Args:
        workload: one made by ``@memsim.workload``, a name of the library, a path to a kernel file, or to a program
            that launches a kernel of Triton with ``@triton.autotune``: its configurations are the versions.
        gpu: a GPU, the name of a preset, or the path of a TOML file.
        vary: by parameter, the values to try, instead of those that the kernel declares.
        keep: how many versions to simulate, the best by model.
        trials, seed: of each simulation, as for :func:`simulate`.
        blocks: what is simulated of each, as for :func:`trace`.
        jobs: processes, which share out the versions.
        settings: fields of the GPU to change.
        progress: called with the versions done, all, and the stage: "modelled" or "simulated".
        arguments: of a program's command line.
        kernel: which of a program's tuned kernels; None: the first.
        parameters: of the workload, that are no choices.

    Raises:
        InputError: no choices, an unknown parameter, a bad value or number, or no version that can be.

    >>> found = explore("transpose", "tesla-c1060", n=1024, keep=0)
    >>> found.best.chosen, found.decisions[0].choice
    ({'variant': 'diagonal'}, 'variant')
    """
    from memsim.exploration import Effort, explore_tuned, is_program
    from memsim.exploration import explore as search

    machine = named_gpu(gpu, settings)
    effort = Effort(keep, blocks, trials, seed, jobs)
    if not isinstance(workload, str | Path) or not is_program(workload):
        if arguments or kernel is not None:
            raise InputError("explore", "arguments", "and kernels apply only to a program; leave them out")
        return search(workload, machine, parameters, vary or {}, effort, progress)
    if parameters or vary:
        wrong = ", ".join([*parameters, *(vary or ())])
        raise InputError(workload, wrong, "is not a choice of the program; add it to its triton.Configs")
    return explore_tuned(Path(workload), arguments, kernel, machine, effort, progress)


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
    """Find the hit ratio at every capacity of L1 and L2 in one pass, and replay three of them.

    See docs/how_to/capacity.md.

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: a GPU, the name of a preset, or the path of a TOML file; None: that which the trace was made for, or the
            default, ``"rtx4090"``.
        trials: of each replay, in addition to the curves; 0 for the curves alone.
        seed, jobs: of the replays, as for :func:`simulate`.
        settings: fields of the GPU to change.
        progress: called with the trials done, and all.

    Raises:
        InputError: a bad trace, GPU, setting or number; no cache that serves the trace's loads.

    ::

        found = memsim.capacity("spmv.h5", gpu="a100")
        found.caches["l2"].needed(0.9), float(found.caches["l1"].hit_ratio(48 << 10))
    """
    from memsim.studies.capacity import capacity as curves

    recorded, machine = opened(trace, gpu, settings)
    return curves(recorded, machine, trials=trials, seed=seed, jobs=jobs, progress=progress)


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
    """Split the spread of a kernel's runs by source of randomness (docs/how_to/sensitivity.md).

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: a GPU, the name of a preset, or the path of a TOML file; None: that which the trace was made for, or the
            default, ``"rtx4090"``.
        points: a power of two; it takes `points` x (sources + 2) replays.
        seed, jobs: as for :func:`simulate`.
        settings: fields of the GPU to change.
        convention: of the hit ratios.
        progress: called with the replays done, and all.

    Raises:
        InputError: a bad trace, GPU, setting or number; a GPU on which nothing is random.

    ::

        found = memsim.sensitivity("spmv.h5", gpu="tesla-c2050")
        [(one.name, one.total) for one in found.outputs["cycles"].ranked]
    """
    from memsim.studies.sources import by_source

    recorded, machine = opened(trace, gpu, settings)
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
    """Vary the numbers of a preset that are fitted or assumed: the model's own error bar (docs/how_to/sensitivity.md).

    Args:
        trace: a trace, or the path of its file, or of Accel-Sim's (see :func:`open_trace`).
        gpu: the name of a preset, or the path of a TOML file, which says what is uncertain; None: as for
            :func:`simulate`.
        uncertainty: share by which a number varies that states none.
        points: at which all vary together.
        effects: whether each is also varied alone, which shows the measurement that would help most.
        trials, seed, jobs: of each point, as for :func:`simulate`.
        settings: fields of the GPU to change; what is given is not varied.
        convention: of the hit ratios.
        progress: called with the trials done, and all.

    Raises:
        InputError: a bad trace, GPU, setting or number; a GPU of whose numbers none is uncertain.

    ::

        found = memsim.uncertainty("spmv.h5", gpu="h100")
        found.interval("time_ms"), found.effects[0].factor.name
    """
    from memsim.gpu.presets import load_gpu, override, provenance
    from memsim.studies.uncertain import uncertain
    from memsim.trace.reader import Trace
    from memsim.trace.target_gpu import resolve_gpu

    recorded = trace if isinstance(trace, Trace) else open_trace(trace)
    named = resolve_gpu(recorded, gpu)
    machine = override(load_gpu(named), settings) if settings else load_gpu(named)
    return uncertain(
        recorded, machine, provenance(named, settings),
        uncertainty=uncertainty, points=points, effects=effects, trials=trials, seed=seed, jobs=jobs,
        convention=convention, progress=progress,
    )  # fmt: skip
