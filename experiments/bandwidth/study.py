"""Cycles of a warp load that hits L1, by pattern, and bandwidth by footprint, compared with gpu-benches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from experiments.bandwidth import sizes
from experiments.bandwidth.figure import draw, draw_sizes
from experiments.bandwidth.kernels import BYTES, WARP, cycles_a_load
from experiments.bandwidth.rows import SOURCE, Row, measured_lap, of_laps, of_strides, rows
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, Claim, Outcome, Setting, Within
from memsim.gpu.presets import load_gpu

STRIDES, LAPS, SIZES = "patterns", "laps", "sizes"
NEAR = 0.1  # of the measured cycles
_SHOWN = 1, 2, 3, 4, 8, 16, 17, 24, 32, 33, 40, 48, 53, 64  # strides in the table
_QUICK = 21  # every so manieth row
_QUICK_SIZES = 1


@dataclass(frozen=True)
class Point:
    """One row, measured and ours: cycles per load instruction of a warp, or GB/s of all SMs against size."""

    name: str
    row: Row
    measured: float
    ours: float

    @property
    def near(self) -> bool:
        return abs(self.ours / self.measured - 1) <= NEAR

    @property
    def among_runs(self) -> bool:
        """Whether ours is near the fastest run, which is what is measured, or from there to the mean of the runs."""
        mean = float(self.row["mean_gb_per_s"] or self.measured)
        return self.near or mean <= self.ours <= self.measured


def run(setting: Setting) -> Outcome:
    """All rows; quick: one in 21, and the smallest size."""
    asked = [(name, row) for name in (STRIDES, LAPS) for row in rows(name)[:: _QUICK if setting.quick else 1]]
    asked += [(SIZES, row) for row in rows(SIZES)[: _QUICK_SIZES if setting.quick else None]]
    points = mapped(_point, asked, setting.jobs, "patterns")
    curves: dict[tuple[str, str], list[tuple[int, float, float]]] = {}
    for point in points:
        if point.row.get("shape") == "stride":
            key = point.row["gpu"], point.row["type"]
            curves.setdefault(key, []).append((int(point.row["width"]), point.measured, point.ours))
    draw(curves, setting.figures / "strides.png")
    by_size = [point for point in points if point.name == SIZES]
    draw_sizes({key: [(int(p.row["kb"]), p.measured, p.ours) for p in of] for key, of in _programs(by_size)},
               setting.figures / "sizes.png")  # fmt: skip
    tables = {"patterns": _patterns(points), "laps": _laps(points), "sizes": _sizes(by_size)}
    return Outcome([*_claims(points), *_size_claims(by_size)], tables)


def _point(asked: tuple[str, Row]) -> Point:
    name, row = asked
    gpu = load_gpu(row["gpu"])
    if name == STRIDES:
        return Point(name, row, float(row["cycles"]), cycles_a_load(of_strides(row), gpu))
    if name == SIZES:
        return Point(name, row, float(row["gb_per_s"]), sizes.rate(row, gpu))
    return Point(name, row, measured_lap(row, gpu.sm.count), cycles_a_load(of_laps(row), gpu))


def _claims(points: list[Point]) -> Iterator[Claim]:
    """By board: the share of rows that are near, the correlation of strides, a dense lap's bandwidth."""
    for gpu in dict.fromkeys(point.row["gpu"] for point in points):
        of = [point for point in points if point.row["gpu"] == gpu]
        strides, laps = ([point for point in of if point.name == name] for name in (STRIDES, LAPS))
        if strides:
            share = 100 * float(np.mean([point.near for point in strides]))
            yield Claim(f"{gpu}: strides and blocks within 10 %", 100.0, share, None, "%", SOURCE, aim=AtLeast(90))
            logs = np.log([(point.measured, point.ours) for point in strides])
            together = float(np.corrcoef(logs.T)[0, 1])
            yield Claim(
                f"{gpu}: log-correlation of strides and blocks", 1.0, together, None, "", SOURCE, aim=AtLeast(0.98)
            )
        if laps:
            share = 100 * float(np.mean([point.near for point in laps]))
            yield Claim(f"{gpu}: laps of 16 to 64 KB within 10 %", 100.0, share, None, "%", SOURCE, aim=AtLeast(90))
            measured, ours = (float(np.mean([bytes_a_cycle(cycles) for cycles in column])) for column in (
                [point.measured for point in laps], [point.ours for point in laps]))  # fmt: skip
            yield Claim(f"{gpu}: L1, laps of 16 to 64 KB", measured, ours, None, "B/cycle and SM", SOURCE,
                        aim=Within(NEAR))  # fmt: skip


def _programs(points: list[Point]) -> Iterator[tuple[tuple[str, str], list[Point]]]:
    """The points of each board's run of a program."""
    for key in dict.fromkeys((point.row["gpu"], point.row["program"]) for point in points):
        yield key, [point for point in points if (point.row["gpu"], point.row["program"]) == key]


def _size_claims(points: list[Point]) -> Iterator[Claim]:
    for (gpu, program), of in _programs(points):
        share = 100 * float(np.mean([point.near for point in of]))
        yield Claim(f"{gpu}, {program}: sizes within 10 %", 100.0, share, None, "%", SOURCE, aim=AtLeast(90))
    near = 100 * float(np.mean([point.near for point in points]))
    yield Claim("all boards: bandwidths by size within 10 %", 100.0, near, None, "%", SOURCE, aim=AtLeast(90))
    among = 100 * float(np.mean([point.among_runs for point in points]))
    yield Claim(
        "all boards: the same, or between the fastest run and the mean of runs", 100.0, among, None, "%", SOURCE,
        aim=AtLeast(90),
    )  # fmt: skip


def _sizes(points: list[Point]) -> str:
    cells = [
        [point.row["gpu"], point.row["program"], point.row["kb"], f"{point.measured:.0f}",
         point.row["mean_gb_per_s"], f"{point.ours:.0f}", f"{100 * (point.ours / point.measured - 1):+.0f}"]
        for point in points
    ]  # fmt: skip
    return markdown(["GPU", "program", "KB", "GB/s", "mean", "memsim", "%"], cells)


def bytes_a_cycle(cycles: float) -> float:
    """Of a dense load of floats.

    >>> bytes_a_cycle(2.0)
    64.0
    """
    return WARP * BYTES["float"] / cycles


def _patterns(points: list[Point]) -> str:
    found: dict[tuple[str, str, int], list[str]] = {}
    for point in points:
        row = point.row
        if point.name == STRIDES and (row["shape"] == "block" or int(row["width"]) in _SHOWN):
            cells = found.setdefault((row["type"], row["shape"], int(row["width"])), [])
            cells += [f"{point.measured:.2f}", f"{point.ours:.2f}"]
    boards = list(dict.fromkeys(point.row["gpu"] for point in points if point.name == STRIDES))
    headers = ["type", "pattern", "of", *(header for gpu in boards for header in (gpu, "memsim"))]
    whole = {key: cells for key, cells in found.items() if len(cells) == 2 * len(boards)}  # a quick run lacks some
    return markdown(headers, [[kind, shape, str(width), *cells] for (kind, shape, width), cells in whole.items()])


def _laps(points: list[Point]) -> str:
    laps = [point for point in points if point.name == LAPS]
    cells = [
        [point.row["gpu"], point.row["kb"], f"{bytes_a_cycle(point.measured):.1f}", f"{bytes_a_cycle(point.ours):.1f}"]
        for point in laps
    ]
    return markdown(["GPU", "KB", "bytes per cycle and SM", "memsim"], cells)
