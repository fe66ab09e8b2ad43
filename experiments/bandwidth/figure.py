"""The study's figures: cycles per load against the stride, and bandwidth against what is read, measured and ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memsim.report.figure_style import SERIES, panels, styled, write

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
        all_axes[0].set_ylabel("cycles per load")
        all_axes[0].legend()
        write(figure, path)


def draw_sizes(curves: Mapping[tuple[str, str], Curve], path: Path) -> None:
    """A panel for each program of `curves`: GB/s against KB, a colour a GPU."""
    programs = list(dict.fromkeys(program for _, program in curves))
    colours = dict(zip(dict.fromkeys(gpu for gpu, _ in curves), SERIES, strict=False))
    with styled():
        figure, all_axes = panels(1, len(programs), 4.4 * len(programs) + 0.6, 3.4)
        for axes, program in zip(all_axes, programs, strict=True):
            of = {gpu: curve for (gpu, name), curve in curves.items() if name == program}
            for gpu, curve in of.items():
                sizes, measured, ours = zip(*curve, strict=True)
                axes.plot(sizes, measured, "o", ms=3.5, color=colours[gpu])
                axes.plot(sizes, ours, color=colours[gpu], label=gpu)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_title(program)
            axes.set_xlabel("KB")
            axes.legend(title="dots measured, lines memsim", title_fontsize=8)
        all_axes[0].set_ylabel("GB/s")
        write(figure, path)
