"""How a trace runs on a GPU: worked out once, then handed to the simulation loop, to workers and to the profile."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from memsim.gpu.carve_out import carved
from memsim.gpu.config import GPU
from memsim.gpu.occupancy import Occupancy, occupancy
from memsim.hierarchy.draws import with_start_alignment
from memsim.hierarchy.mapping import AddressLayout, layout
from memsim.support.files import writing
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.transactions import Transactions

_LAYOUT = tuple(one.name for one in fields(AddressLayout))


@dataclass(frozen=True)
class Execution:
    """A trace on a GPU; what is large lies in files, which every process that has this value maps.

    Attributes:
        gpu: the GPU, with as much of its L1 as the kernel's shared memory leaves, and with its start of blocks decided.
        occupancy: what one SM holds of the kernel.
        folder: of the files that :meth:`prepare` writes; the caller owns it.
        trace: the trace's file, for messages.
        digest: the trace's.
        layout_folder: of the layout, where it is not that of the other files.
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

    def prepare(self, trace: Trace) -> None:
        """Coalesce the trace for the GPU and lay it out, into the files.

        Raises:
            InputError: a trace that does not fit the GPU, or a folder that cannot be written.
        """
        coalesce(trace, self.gpu, self.folder)
        self.lay_out()

    def lay_out(self) -> None:
        """Lay the coalesced trace out, into files.

        Raises:
            InputError: the folder cannot be written.
        """
        with writing(self.folder):
            save_layout(self._layout_folder, layout(Transactions.load(self.folder), self.gpu))

    def share_layout(self, other: Execution) -> Execution:
        """The same with the layout of another trace of the same line numbers on the same GPU."""
        return replace(self, layout_folder=other._layout_folder)

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
        return load_layout(self._layout_folder)

    @property
    def _layout_folder(self) -> Path:
        return self.layout_folder or self.folder

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
