"""The commands that make a result again."""

from __future__ import annotations

import shlex
from math import prod
from pathlib import Path, PurePath

from memsim.analysis.result import RunResult


def command(result: RunResult) -> str:
    """What to type: how the trace was made, as far as the file tells, and the run of these trials."""
    about = result.trials.about
    trace = about["trace"]
    lines = []
    if trace["source"].endswith(".py"):
        library = Path(trace["source"]).parent == Path("traces")
        name = Path(trace["source"]).stem if library else trace["source"]
        given = " ".join(f"-p {shlex.quote(f'{key}={value}')}" for key, value in trace["parameters"].items())
        blocks = " --blocks all" if trace["blocks"] == prod(trace["grid"]) else f" --gpu {shlex.quote(result.gpu)}"
        lines.append(f"memsim trace {shlex.quote(name)} {given}{blocks} -o trace.h5".replace("  ", " "))
    else:
        source = " ".join(PurePath(word).name for word in trace["source"].split())  # paths are of the author's machine
        lines.append(f"# trace.h5: {source}, digest {trace['digest'][:12]}")
    warm = " --warm" if about.get("warm") else ""
    gpu, trials = shlex.quote(result.gpu), len(result.trials.trial)
    if (before := about.get("launches_before")) is not None:
        traces = "[..., 'trace.h5']" if before else "['trace.h5']"
        call = f"memsim.simulate_program({traces}, {result.gpu!r}, trials={trials}, seed={result.seed})[{len(before)}]"
        lines.append(f"# in Python, with the {len(before)} launches before it: {call}")
        return "\n".join(lines)
    lines.append(f"memsim run trace.h5 --gpu {gpu} --trials {trials} --seed {result.seed}{warm} -o result.h5")
    return "\n".join(lines)
