"""The study's figure: cycles a load against the stride, measured and ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memsim.report.style import SERIES, panels, styled, write

Curve = Sequence[tuple[int, float, float]]  # (stride, measured cycles, ours)


def draw(curves: Mapping[tuple[str, str], Curve], path: Path) -> None:
    """A panel for each (GPU, type) of `curves`."""
    with styled():
        figure, all_axes = panels(1, len(curves), 3.4 * len(curves) + 0.6, 3.2)
        for axes, ((gpu, kind), curve) in zip(all_axes, curves.items(), strict=True):
            strides, measured, ours = zip(*curve, strict=True)
            axes.plot(strides, measured, "o", ms=3.5, color=SERIES[0], label="measured")
            axes.plot(strides, ours, color=SERIES[1], label="memsim")
            axes.set_yscale("log", base=2)
            axes.set_title(f"{gpu}, {kind}")
            axes.set_xlabel("stride in elements")
        all_axes[0].set_ylabel("cycles a load of a warp")
        all_axes[0].legend()
        write(figure, path)
