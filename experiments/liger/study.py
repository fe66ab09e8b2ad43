"""Run the study: times of Liger-Kernel's forward kernels under Triton's benchmark, compared with three GPUs'."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from experiments.gv100_launches.programs import downloads
from experiments.harness.readme import markdown
from experiments.harness.study import AtMost, Claim, Outcome, Setting
from experiments.liger.rows import Row, measured
from memsim.gpu.presets import load_gpu, override
from memsim.report.figure_style import GREY, SERIES, panels, styled, write
from memsim.support.errors import InputError
from memsim.support.progress import bar

SOURCE = "linkedin/Liger-Kernel ead96b6, benchmark/data"
PROGRAM = Path(__file__).with_name("launches.py")
VERSIONS = {"a100": "0.3.0", "h100": "0.6.0", "rtx3090": "0.6.0"}  # of Liger-Kernel, see README.md
SETTINGS: dict[str, dict[str, object]] = {
    "a100": {"dram.clock_mhz": 1593}
}  # SXM: 2039 GB/s; the preset's is a PCIe one
QUICK = {("h100", "layer_norm"): (1024, 2048)}
AIM = 12.0  # percent
Errors = Mapping[str, tuple[float, float, int]]  # family -> mean errors of memsim and of the null model, rows


def run(setting: Setting) -> Outcome:
    """All kernels on all GPUs; quick: two sizes of a row normalization of ours."""
    folder = None if setting.quick else downloads("Liger-Kernel-0.3.0 and Liger-Kernel-0.6.0")
    if not setting.quick and folder is None:
        raise InputError(
            "MEMSIM_PROGRAMS", "liger", "is not set; name the folder that contains the two versions of Liger-Kernel"
        )
    rows = [row for row in measured() if not setting.quick or row.size in QUICK.get((row.gpu, row.kernel), ())]
    ladders = dict.fromkeys((row.gpu, row.kernel) for row in rows)
    ours: dict[Row, float] = {}
    with bar("kernels") as advance:
        for done, (gpu, kernel) in enumerate(ladders):
            advance(done, len(ladders), f"{kernel} on {gpu}")
            ladder = [row for row in rows if (row.gpu, row.kernel) == (gpu, kernel)]
            times = microseconds(gpu, kernel, [row.size for row in ladder], folder)
            ours |= {row: times[row.size] for row in ladder}
    _draw(ours, setting.figures / "times.png")
    families = errors(ours)
    return Outcome(list(claims(families)), {"times": table(ours), "errors": error_table(families)})


def microseconds(gpu: str, kernel: str, sizes: Sequence[int], folder: Path | None) -> dict[int, float]:
    """What ``do_bench`` reports for each size.

    Args:
        folder: that contains the versions of Liger-Kernel; None: a kernel of ours.

    Raises:
        InputError: a version is missing there.
    """
    source = folder / f"Liger-Kernel-{VERSIONS[gpu]}" / "src" if folder else None
    if source and not source.is_dir():
        raise InputError(source, "src", "is missing; README.md of the study has the commands that make it")
    machine = override(load_gpu(gpu), SETTINGS.get(gpu, {}))
    with TemporaryDirectory() as made:
        times = Path(made, "times")
        arguments = [str(source or "-"), kernel, str(times), *map(str, sizes)]
        memsim.capture(PROGRAM, arguments=arguments, gpu=machine, out=Path(made, "t.h5"))
        lines = (line.split() for line in times.read_text(encoding="utf-8").splitlines())
        return {int(size): 1000 * float(milliseconds) for size, milliseconds in lines}


def errors(ours: Mapping[Row, float]) -> dict[str, tuple[float, float, int]]:
    """Mean absolute errors in percent by family of rows: all, those of a GPU, short and long ones."""
    families = {
        "all": lambda row: True,
        **{gpu: lambda row, gpu=gpu: row.gpu == gpu for gpu in dict.fromkeys(row.gpu for row in ours)},
        "up to 100 µs": lambda row: row.microseconds <= 100,
        "over 100 µs": lambda row: row.microseconds > 100,
    }
    found = {}
    for family, belongs in families.items():
        of = [(one, row.null, row.microseconds) for row, one in ours.items() if belongs(row)]
        if of:
            memsims, nulls = (100 * float(np.mean([abs(pair[k] / pair[2] - 1) for pair in of])) for k in (0, 1))
            found[family] = memsims, nulls, len(of)
    return found


def claims(families: Errors) -> Iterator[Claim]:
    """Mean errors, absolute and over those of the null model."""
    for family, (ours, null, rows) in families.items():
        yield Claim(f"{family}: time, mean absolute relative error of {rows} rows", math.nan, ours,
                    unit="% of hardware's", source=SOURCE, aim=AtMost(AIM))  # fmt: skip
        yield Claim(f"{family}: this error over that of the null model", math.nan, ours / null, unit="x", source=SOURCE,
                    aim=AtMost(1))  # fmt: skip


def table(ours: Mapping[Row, float]) -> str:
    """A row per size."""
    rows = [
        [row.kernel, row.gpu, f"{row.size:,}", f"{row.microseconds:.1f}", f"{one:.1f}",
         *(f"{100 * (time / row.microseconds - 1):+.0f}" for time in (one, row.null))]
        for row, one in ours.items()
    ]  # fmt: skip
    return markdown(["kernel", "GPU", "size", "µs, measured", "memsim", "%", "null model, %"], rows, left=2)


def error_table(families: Errors) -> str:
    """A row per family."""
    rows = [[family, str(rows), f"{ours:.1f}", f"{null:.1f}"] for family, (ours, null, rows) in families.items()]
    return markdown(["rows", "number", "memsim, mean error %", "null model, mean error %"], rows)


def _draw(ours: Mapping[Row, float], path: Path) -> None:
    with styled():
        figure, (axis,) = panels(1, 1, 6.0, 3.2)
        axis.axhline(1, color=GREY, linewidth=0.8)
        for gpu, color in zip(dict.fromkeys(row.gpu for row in ours), SERIES, strict=False):
            of = [(row.microseconds, one / row.microseconds) for row, one in ours.items() if row.gpu == gpu]
            axis.plot(*zip(*of, strict=True), "o", color=color, markersize=4, label=gpu)
        axis.set_xscale("log")
        axis.set(xlabel="µs, measured", ylabel="memsim / measured")
        axis.legend()
        write(figure, path)
