"""What the figures of results share: names, colours, captions, intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes

from memsim.analysis.loads import Load
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Ratio
from memsim.analysis.table import shortened
from memsim.report.figure_style import BLUE, GREEN, GREY, INK, ORANGE

TITLES = {"l1_read": "L1 read", "l2_read": "L2 read", "l2_write": "L2 write"}
COLORS = dict(zip(TITLES, (BLUE, ORANGE, GREEN), strict=True))


def caption(result: RunResult) -> str:
    """Kernel, GPU, trials and seed."""
    trials = len(result.trials.trial)
    kernel = shortened(result.trials.about["trace"]["kernel"], 40)
    return f"{kernel} on {shortened(result.gpu, 40)}, {trials} trial{'s' * (trials != 1)}, seed {result.seed}"


def accessed(result: RunResult) -> dict[str, Ratio]:
    """The hit ratios that exist, by name."""
    return {name: ratio for name, ratio in result.ratios.items() if ratio.finite.size}


def labels(result: RunResult, loads: Sequence[Load]) -> list[str]:
    """A short name of each load, unlike the others: its text and line; of compiled code the text of its source line.

    Where several loads of a line would be called alike, their arrays tell them apart.
    """
    texts = [source_of(result, load) for load in loads]
    repeated = {text for text, times in Counter(texts).items() if times > 1}
    return [
        f"{shortened(text, 20)} [{shortened(load.array, 12)}]  :{load.line}"
        if text in repeated and load.array
        else f"{shortened(text, 32)}  :{load.line}"
        for text, load in zip(texts, loads, strict=True)
    ]


def source_of(result: RunResult, load: Load) -> str:
    """A load's text where it stands so in the source; of an instruction of compiled code, its source line."""
    lines = result.trials.sources.get(load.file) or []
    line = lines[load.line - 1] if load.line and load.line <= len(lines) else ""
    line = line.partition("#" if load.file.endswith(".py") else "//")[0].strip()  # without a comment
    return load.text if not line or load.text in line else line


def intervals(axis: Axes, ratio: Ratio, height: float) -> None:
    """The mean, the interval that holds it (thick) and where one run falls (thin), as one bracket at `height`."""
    spread, interval = ratio.spread(), ratio.interval()
    if spread is not None and interval is not None:
        axis.plot(spread, [height] * 2, color=GREY, linewidth=1.2, label="one run: mean ± 2 sd")
        axis.plot(
            interval, [height] * 2, color=INK, linewidth=4, solid_capstyle="butt", label="95 % interval of the mean"
        )
    axis.plot(ratio.mean, height, "o", color="white", markeredgecolor=INK, markersize=5, label="mean")


def draw_empty(axis: Axes, why: str, color: str = GREY) -> None:
    """An empty panel that says why it is empty."""
    axis.text(0.5, 0.5, why, transform=axis.transAxes, ha="center", va="center", color=color)
    axis.set(xticks=[], yticks=[])
