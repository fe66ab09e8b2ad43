"""Run the study: time, coverage, accuracy and lateness of each L2 prefetcher on four kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import memsim
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Setting
from memsim.gpu.prefetcher import PREFETCHER, PrefetcherKind
from memsim.report.figure_style import SERIES, panels, styled, write
from memsim.support.progress import bar

GPU, TRIALS = "tesla-v100", 3
KERNELS: Mapping[str, tuple[str, dict[str, Any], dict[str, Any]]] = {  # name -> workload, parameters, quick ones
    "stream copy": ("stream", {"n": 1 << 18, "variant": "copy"}, {"n": 2048}),
    "strided gather": ("gather_scatter", {"n": 1 << 16, "pattern": "strided", "span": 128}, {"n": 1024}),
    "random gather": ("gather_scatter", {"n": 1 << 16, "pattern": "random"}, {"n": 1024}),
    "SpMV": ("spmv", {"rows": 10240, "nnz_per_row": 16}, {"rows": 128}),
}
OFF = PREFETCHER.off
RATIOS = [ratio.name for ratio in PREFETCHER.ratios]
Found = dict[tuple[str, str], memsim.Result]


def run(setting: Setting) -> Outcome:
    """Every kernel with every prefetcher."""
    found: Found = {}
    kinds = [kind.value for kind in PrefetcherKind]
    with bar("replays") as advance:
        for name, (workload, parameters, quick) in KERNELS.items():
            trace = memsim.trace(workload, gpu=GPU, blocks="all", **parameters | (quick if setting.quick else {}))
            for kind in kinds:
                advance(len(found), len(KERNELS) * len(kinds), f"{name}, {kind}")
                settings = {"prefetcher.kind": kind}
                found[name, kind] = memsim.simulate(trace, GPU, trials=TRIALS, jobs=1, settings=settings)
    draw(found, setting.figures / "saved.png")
    return Outcome(list(claims(found)), {"prefetchers": table(found)})


def saved(found: Found, name: str, kind: str) -> float:
    """The share of the time without a prefetcher that one saves, in percent."""
    return 100 * (1 - float(found[name, kind].cycles.mean / found[name, OFF].cycles.mean))


def claims(found: Found) -> Iterator[Claim]:
    """What prefetching gains where warps wait, and where memory is busy anyway."""
    for kind in (PrefetcherKind.next_line, PrefetcherKind.stream):
        yield Claim(f"SpMV: time saved by {kind}", math.nan, saved(found, "SpMV", kind), unit="%", aim=AtLeast(5))
    for kind in (PrefetcherKind.next_line, PrefetcherKind.stride, PrefetcherKind.stream):
        ours = abs(saved(found, "stream copy", kind))
        yield Claim(f"stream copy: change of the time by {kind}", math.nan, ours, unit="%", aim=AtMost(2))
    lost = -saved(found, "random gather", PrefetcherKind.next_line)
    yield Claim("random gather: time lost by next_line", math.nan, lost, unit="%", aim=AtLeast(0))
    accuracy = 100 * found["SpMV", PrefetcherKind.next_line].components[PREFETCHER.section]["accuracy"]
    yield Claim("SpMV: accuracy of next_line", math.nan, accuracy, unit="%", aim=AtLeast(80))


def table(found: Found) -> str:
    """A row per kernel and prefetcher."""
    rows = []
    for (name, kind), result in found.items():
        if kind != OFF:
            ratios = result.components[PREFETCHER.section]
            cells = ("–" if math.isnan(ratios[one]) else f"{100 * ratios[one]:.0f}" for one in RATIOS)
            rows.append([name, kind, f"{saved(found, name, kind):+.1f}", *cells])
    return markdown(["kernel", "prefetcher", "time saved, %", *(f"{one}, %" for one in RATIOS)], rows)


def draw(found: Found, path: Path) -> None:
    """The time that each prefetcher saves, by kernel."""
    kinds = [kind.value for kind in PrefetcherKind if kind != OFF]
    with styled():
        figure, (axis,) = panels(1, 1, 6.4, 3.0)
        for number, kind in enumerate(kinds):
            at = [place + (number - 1) * 0.25 for place in range(len(KERNELS))]
            axis.bar(at, [saved(found, name, kind) for name in KERNELS], 0.22, color=SERIES[number], label=kind)
        axis.set_xticks(range(len(KERNELS)), list(KERNELS))
        axis.set(ylabel="time saved, %", title="What L2 prefetchers save")
        axis.legend()
        path.parent.mkdir(parents=True, exist_ok=True)
        write(figure, path)
