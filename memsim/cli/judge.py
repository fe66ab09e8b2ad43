"""``memsim judge``: verdicts on kernels, for programs that write programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from memsim.analysis.percent import percent
from memsim.cli.options import Gpu, Jobs
from memsim.gpu.defaults import DEFAULT_GPU

NOT_RIGHT = 1  # exit code


def judge(
    candidates: Annotated[
        list[str],
        typer.Argument(help="CUDA C++ files with a kernel, folders of them, or - for paths on standard input."),
    ],
    task: Annotated[
        Path, typer.Option("--task", "-t", help="A Python file that sets grid, block, arguments and expected.")
    ],
    gpu: Gpu = DEFAULT_GPU,
    seconds: Annotated[float, typer.Option(help="Each candidate's budget of processor time.")] = 20.0,
    memory: Annotated[float, typer.Option(help="Each candidate's memory budget in GB.")] = 4.0,
    gains: Annotated[bool, typer.Option("--gains", help="Also predict each finding's speed-up; slower.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document per line and candidate.")] = False,
    jobs: Jobs = None,
) -> None:
    """Judge kernels: whether they run and are right, how fast they are, and what slows them down.

    Each candidate is compiled and run in a process of its own, within a budget of time and memory, without network,
    and with a private temporary folder. Device code never runs natively: memsim executes its machine code.

    Exit status: 0, all are right; 1, one is not; 2, bad input.

    \b
    memsim judge candidate.cu --task task.py --json
    memsim judge candidates/ --task task.py --gpu a100 --json
    agent | memsim judge - --task task.py --json
    """
    from memsim import api
    from memsim.judge.batch import PathLines

    given = PathLines(0) if candidates == ["-"] else candidates
    all_right = True
    for one in api.judge(given, task, gpu, seconds=seconds, memory_bytes=memory * 1e9, gains=gains, jobs=jobs):
        all_right = all_right and one["verdict"] == "right"
        typer.echo(json.dumps(one, allow_nan=False) if as_json else _line(one))
    if not all_right:
        raise typer.Exit(NOT_RIGHT)


def _line(one: dict[str, Any]) -> str:
    """A document in a line."""
    from memsim.report.profile import finding_text

    text = f"{one['file']}: {one['verdict']}"
    for name, output in one["outputs"].items():
        if not output["equal"]:
            wrong = f"{output['wrong']:,} of {output['elements']:,} elements"
            text += f" ({wrong} of {name}, the first at {output['first_wrong']:,})"
    if one["time_us"] is not None:
        text += f", {one['time_us']['mean']:.4g} µs, bound by {one['bound_by']['part']}"
        if one["of_best"] is not None:
            text += f", {percent(one['of_best'])} of the best possible speed"
    if one["error"] is not None:
        location = f"{one['error']['file']}:{one['error']['line']}: " if one["error"]["line"] else ""
        text += f": {location}{one['error']['text']}"
    for finding in one["findings"][:1]:
        where = {"location": f"line {finding['line']}"}
        text += f"; {finding_text(finding | where)}: {finding['hint']}"
    for warning in one["warnings"]:
        text += f"; {warning['kind']}: {warning['text']}"
    return text
