"""The kernels whose best possible and predicted times are compared: the library's, and those of three studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import memsim
from experiments.gv100_launches import rows as launch_rows
from experiments.reduction_ladder import programs as reductions
from experiments.reduction_ladder.study import measured
from experiments.sgemm_ladder import programs as products
from experiments.volta_counters.predict import SETTINGS

LIBRARY = "library"
GPU = "tesla-v100"
WAVE = "1x"
INNER = 64  # length of the products
QUICK = ("saxpy", "transpose")
_OF_LIBRARY = (
    *QUICK,
    "stream",
    "reduction",
    "scan",
    "stencil",
    "spmv",
    "sgemm",
    "fft",
    "hotspot",
    "srad",
    "gather_scatter",
)


@dataclass(frozen=True)
class StudiedKernel:
    """A kernel of a study.

    Attributes:
        study: its folder, or LIBRARY.
        name: of the kernel.
        gpu: preset.
        trace: makes its trace.
        settings: as for :func:`memsim.simulate`.
    """

    study: str
    name: str
    gpu: str
    trace: Callable[[], memsim.Trace] = field(repr=False)
    settings: dict[str, object] = field(default_factory=dict)


def kernels(downloaded: Path | None, quick: bool) -> list[StudiedKernel]:
    """All of them; two of the library if the study is to be quick.

    Args:
        downloaded: where the public programs are; None: the kernels that the library describes in their place.
    """
    names = QUICK if quick else _OF_LIBRARY
    found = [StudiedKernel(LIBRARY, name, GPU, partial(memsim.trace, name, gpu=GPU, blocks=WAVE)) for name in names]
    return found if quick else [*found, *_launches(), *_reductions(downloaded), *_products(downloaded)]


def _launches() -> Iterator[StudiedKernel]:
    """Those that take a second or two each."""
    gpu = "quadro-gv100"
    for row in launch_rows.ROWS:
        if row.quick:
            trace = partial(memsim.trace, row.workload, gpu=gpu, blocks="all", **row.parameters)
            yield StudiedKernel("gv100_launches", row.kernel, gpu, trace, dict(SETTINGS))


def _reductions(downloaded: Path | None) -> Iterator[StudiedKernel]:
    for ladder in (reductions.V100, reductions.A100):
        for step in measured(ladder) if downloaded else reductions.DESCRIBED:
            described = partial(reductions.described, ladder, step, reductions.NUMBERS)
            trace = partial(reductions.captured, ladder, step, downloaded) if downloaded else described
            yield StudiedKernel("reduction_ladder", f"v{step}", ladder.gpu, trace)


def _products(downloaded: Path | None) -> Iterator[StudiedKernel]:
    for kernel in range(1, 11) if downloaded else products.DESCRIBED:
        described = partial(products.described, kernel, INNER)
        trace = partial(products.captured, kernel, INNER, downloaded) if downloaded else described
        yield StudiedKernel("sgemm_ladder", f"kernel {kernel}", products.GPU, trace)
