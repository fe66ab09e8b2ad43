"""The kernels whose best possible and predicted times are compared: the library's, and those of three studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import memsim
from experiments.gv100_launches import programs as launches
from experiments.gv100_launches import rows as launch_rows
from experiments.reduction_ladder import programs as reductions
from experiments.sgemm_ladder import programs as products
from experiments.volta_counters.predict import SETTINGS
from memsim.support import library

LIBRARY = "library"
GPU = "tesla-v100"
WAVE = "1x"
INNER = 64  # length of the products
QUICK = ("saxpy", "transpose")
# A walk by one warp, and kernels whose waves take a hundred times as long to replay as the others'.
_SKIPPED = ("pointer_chase", "conv3d", "gemv", "histogram", "histogram64", "kmeans", "merge_sort", "mri_q")


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
    """All of them; quickly two of the library.

    Args:
        downloaded: where the public programs are; None: the kernels that the library describes in their place.
    """
    names = QUICK if quick else [name for name in library.names("traces", ".py") if name not in _SKIPPED]
    found = [StudiedKernel(LIBRARY, name, GPU, partial(memsim.trace, name, gpu=GPU, blocks=WAVE)) for name in names]
    return found if quick else [*found, *_launches(downloaded), *_reductions(downloaded), *_products(downloaded)]


def _launches(downloaded: Path | None) -> Iterator[StudiedKernel]:
    gpu = "quadro-gv100"
    for row in launch_rows.ROWS:
        described = partial(memsim.trace, row.workload, gpu=gpu, blocks="all", **row.parameters)
        trace = partial(launches.captured, row.kernel, downloaded) if downloaded else described
        yield StudiedKernel("gv100_launches", row.kernel, gpu, trace, dict(SETTINGS))


def _reductions(downloaded: Path | None) -> Iterator[StudiedKernel]:
    for step in range(8) if downloaded else reductions.DESCRIBED:
        described = partial(reductions.described, step, reductions.NUMBERS)
        trace = partial(reductions.captured, step, downloaded) if downloaded else described
        yield StudiedKernel("reduction_ladder", f"v{step}", reductions.GPU, trace)


def _products(downloaded: Path | None) -> Iterator[StudiedKernel]:
    for kernel in range(1, 11) if downloaded else products.DESCRIBED:
        described = partial(products.described, kernel, INNER)
        trace = partial(products.captured, kernel, INNER, downloaded) if downloaded else described
        yield StudiedKernel("sgemm_ladder", f"kernel {kernel}", products.GPU, trace)
