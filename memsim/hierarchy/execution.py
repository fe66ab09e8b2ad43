"""How a trace runs on a GPU: worked out once, then handed to the simulation loop, to workers and to the profile."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np

from memsim.gpu.carve_out import carved
from memsim.gpu.config import GPU
from memsim.gpu.occupancy import Occupancy, occupancy
from memsim.hierarchy.draws import with_start_alignment
from memsim.hierarchy.mapping import AddressLayout
from memsim.trace.reader import Trace
from memsim.trace.transactions import Transactions

_LAYOUT = tuple(one.name for one in fields(AddressLayout))


@dataclass(frozen=True)
class Execution:
    """A trace on a GPU; what is large lies in files, which every process that has this value maps.

    Attributes:
        gpu: the GPU, with as much of its L1 as the kernel's shared memory leaves, and with its start of blocks decided.
        occupancy: what one SM holds of the kernel.
        folder: of the coalesced trace; the caller owns it.
        trace: the trace's file, for messages.
        digest: the trace's.
        layout_folder: of its layout; None while it is not made (:mod:`memsim.montecarlo.shared_stages`).
    """

    gpu: GPU
    occupancy: Occupancy
    folder: Path
    trace: Path
    digest: str = ""
    layout_folder: Path | None = None

    @classmethod
    def of(cls, trace: Trace, gpu: GPU, folder: str | Path) -> Execution:
        """All but the files.

        Raises:
            InputError: a block that fits no SM.
        """
        shape = trace.launch
        held = occupancy(gpu, shape.threads_per_block, shape.registers, shape.shared_bytes)
        return cls(with_start_alignment(carved(gpu, held), trace), held, Path(folder), trace.path, trace.digest)

    @property
    def resident(self) -> int:
        """Blocks one SM holds at a time."""
        return self.occupancy.blocks

    @property
    def wave_blocks(self) -> int:
        """Blocks the whole GPU holds at a time."""
        return self.gpu.sm.count * self.resident

    @cached_property
    def transactions(self) -> Transactions:
        """The coalesced trace."""
        return Transactions.load(self.folder)

    @cached_property
    def layout(self) -> AddressLayout:
        """Where its lines live, while pages are not placed at random."""
        assert self.layout_folder is not None
        return load_layout(self.layout_folder)

    def __reduce__(self) -> tuple[type[Execution], tuple[object, ...]]:
        # Another process maps the files itself.
        return Execution, (self.gpu, self.occupancy, self.folder, self.trace, self.digest, self.layout_folder)


def save_layout(folder: Path, where: AddressLayout) -> None:
    """Write a layout, an array a file."""
    for name in _LAYOUT:
        np.save(folder / f"{name}.npy", getattr(where, name))


def load_layout(folder: Path) -> AddressLayout:
    """Map what :func:`save_layout` wrote."""
    return AddressLayout(*(np.load(folder / f"{name}.npy", mmap_mode="r") for name in _LAYOUT))
