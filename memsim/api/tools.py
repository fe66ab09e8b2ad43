"""What agents ask through the MCP server: functions from paths and words to values that JSON can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError
from memsim.support.scratch import Scratch

if TYPE_CHECKING:
    from memsim.why import Bottleneck

_MOST_KERNELS = 20
_ARGUMENTS = {"--set": "settings"}  # which other words an option's argument has here

Tool = Callable[..., dict[str, Any]]


def _naming_arguments(tool: Tool) -> Tool:
    """The tool, whose refusals name its arguments: an agent has no command line's options."""

    @wraps(tool)
    def call(*arguments: Any, **named: Any) -> dict[str, Any]:
        try:
            return tool(*arguments, **named)
        except InputError as error:
            if not error.where.startswith("--"):
                raise
            name = _ARGUMENTS.get(error.where, error.where.removeprefix("--"))
            raise InputError(name, error.field, error.problem) from None

    return call


@_naming_arguments
def profile(program: str, gpu: str = DEFAULT_GPU, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """Predict the time of a whole GPU program, kernel by kernel, without a GPU.

    Args:
        program: path of a CUDA C++ file, an executable, a Python file (Triton, CuPy, Numba, Warp), or a folder of
            traces.
        gpu: a preset, such as a100, h100 or rtx4090.
        arguments: of the program.
    """
    from memsim.api.profile import profile_program

    with Scratch() as scratch:
        found = profile_program(_traces(program, gpu, arguments, Path(scratch), None), gpu, program=Path(program).name)
    findings = {one["kernel"]: one for one in found.about["findings"]}
    pairs = list(zip(found.labels(), found.groups, strict=True))[:_MOST_KERNELS]
    kernels = []
    for label, group in pairs:
        part, busy = group.bound_by
        kernels.append(
            {
                "kernel": label,
                "launches": group.launches,
                "time_us": 1e3 * group.time.mean,
                "share": group.time.mean / found.time.mean,
                "bound_by": part,
                "busy": busy,
                "best_us": 1e3 * group.best_possible,
                "finding": findings.get(label),
            }
        )
    return _plain({"gpu": found.gpu, "time_us": 1e3 * found.time.mean, "kernels": kernels})


@_naming_arguments
def judge(candidate: str, task: str, gpu: str = DEFAULT_GPU, seconds: float = 20.0) -> dict[str, Any]:
    """Compile and run a CUDA kernel in a sandbox: is it right, how fast is it, what is slow, does it race?

    Args:
        candidate: path of a CUDA C++ file with the kernel.
        task: path of a Python file that sets grid, block, arguments and expected.
        gpu: a preset.
        seconds: budget of processor time.
    """
    from memsim.api.judge import judge as judge_candidates

    (found,) = judge_candidates(candidate, task, gpu, seconds=seconds, jobs=1)
    return found


@_naming_arguments
def explain(
    program: str, gpu: str = DEFAULT_GPU, kernel: str | None = None, arguments: Sequence[str] = ()
) -> dict[str, Any]:
    """Find what makes a kernel slow: causes with source lines, predicted gain of each repair, and what to try.

    Args:
        program: as for profile; or a trace file.
        gpu: a preset.
        kernel: its name; without it, the program's first kernel.
        arguments: of the program.
    """
    from memsim.api.replay import simulate
    from memsim.support.cores import chosen_jobs
    from memsim.why import explain as explain_result

    with Scratch() as scratch:
        trace = _traces(program, gpu, arguments, Path(scratch), kernel)[0]
        result = simulate(trace, gpu)
        bottlenecks = explain_result(result, trace, jobs=chosen_jobs(None)).bottlenecks
        return _plain(
            {
                "kernel": trace.kernel,
                "gpu": result.gpu,
                "time_us": 1e3 * result.kernel_time.mean,
                "findings": [_cause(one) for one in bottlenecks],
            }
        )


@_naming_arguments
def what_if(
    program: str, settings: dict[str, Any], gpu: str = DEFAULT_GPU, kernel: str | None = None,
    arguments: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Predict a kernel's time on a GPU that is changed, such as one with a larger L2.

    Args:
        program: as for explain.
        settings: fields of the GPU and their new values, such as {"l2.size_bytes": 83886080, "sm.count": 64}.
        gpu: a preset.
        kernel: its name; without it, the program's first kernel.
        arguments: of the program.
    """
    from memsim.api.replay import simulate

    if not settings:
        raise InputError("what_if", "settings", 'is empty; give fields of the GPU, such as {"l2.size_bytes": 83886080}')
    with Scratch() as scratch:
        trace = _traces(program, gpu, arguments, Path(scratch), kernel)[0]
        before, after = (simulate(trace, gpu, settings=changed) for changed in (None, settings))
        times = [1e3 * one.kernel_time.mean for one in (before, after)]
        return _plain(
            {
                "kernel": trace.kernel,
                "gpu": before.gpu,
                "settings": settings,
                "before_us": times[0],
                "after_us": times[1],
                "speed_up": times[0] / times[1],
                "ratios": {
                    name: {"before": ratio.mean, "after": after.ratios[name].mean}
                    for name, ratio in before.ratios.items()
                },
            }
        )


TOOLS = (profile, judge, explain, what_if)


def _traces(program: str, gpu: str, arguments: Sequence[str], scratch: Path, kernel: str | None) -> list[Any]:
    from memsim.api.record import capture
    from memsim.trace.reader import Trace

    path = Path(program)
    if path.is_dir() or path.suffix == ".h5":
        files = sorted(path.glob("*.h5")) if path.is_dir() else [path]
        found = sorted(map(Trace.open, files), key=lambda one: int(one.parameters.get("order", 0)))
        found = [one for one in found if kernel in (None, one.kernel)]
        if not found:
            raise InputError(program, "kernel", f"{kernel or ''} is in none of the traces".strip())
        return found
    return capture(
        program, arguments=[str(one) for one in arguments], out=scratch / "traces", launch="all", gpu=gpu, kernel=kernel
    ).traces


def _cause(one: Bottleneck) -> dict[str, Any]:
    return {
        "cause": str(one.cause),
        "locations": [
            {"location": each.location, "array": each.array, "evidence": each.evidence} for each in one.findings
        ],
        "hint": one.findings[0].advice if one.findings else "",
        "gain": None if one.gain is None else one.gain.share.mean,
        "upper_bound": one.upper_bound,
    }


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """The same with plain numbers, and None for those that are not finite."""
    import json

    def number(one: Any) -> Any:
        return one.item() if hasattr(one, "item") else str(one)

    found: dict[str, Any] = json.loads(json.dumps(value, default=number), parse_constant=lambda _: None)
    return found
