"""How a trace runs on a GPU: worked out once, then handed to the simulation loop, to workers and to the profile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from memsim.gpu.carve_out import carved
from memsim.gpu.config import GPU
from memsim.gpu.occupancy import Occupancy, occupancy
from memsim.hierarchy.alignment import aligned
from memsim.hierarchy.mapping import AddressLayout, layout
from memsim.support.files import writing
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.transactions import Transactions

_LAYOUT = ("mapping", "sets", "page_of", "pages")


@dataclass(frozen=True)
class Execution:
    """A trace on a GPU; what is large lies in files, which every process that has this value maps.

    Attributes:
        gpu: the GPU, with as much of its L1 as the kernel's shared memory leaves, and with its start of blocks decided.
        occupancy: what one SM holds of the kernel.
        folder: of the files that :meth:`prepare` writes; the caller owns it.
        trace: the trace's file, for messages.
    """

    gpu: GPU
    occupancy: Occupancy
    folder: Path
    trace: Path

    @classmethod
    def of(cls, trace: Trace, gpu: GPU, folder: str | Path) -> Execution:
        """All but the files.

        Raises:
            InputError: a block that fits no SM.
        """
        shape = trace.launch
        held = occupancy(gpu, shape.threads_per_block, shape.registers, shape.shared_bytes)
        return cls(aligned(carved(gpu, held), trace), held, Path(folder), trace.path)

    def prepare(self, trace: Trace) -> None:
        """Coalesce the trace for the GPU and lay it out, into the files.

        Raises:
            InputError: a trace that does not fit the GPU, or a folder that cannot be written.
        """
        coalesce(trace, self.gpu, self.folder)
        self.lay_out()

    def lay_out(self) -> None:
        """Lay the coalesced trace out, into files next to it.

        Raises:
            InputError: the folder cannot be written.
        """
        with writing(self.folder):
            where = layout(Transactions.load(self.folder), self.gpu)
            for name in _LAYOUT:
                np.save(self._layout_file(name), getattr(where, name))

    def share_layout(self, other: Execution) -> None:
        """Take for its own the layout of another trace of the same line numbers on the same GPU; nothing is copied.

        Raises:
            InputError: the folder cannot be written.
        """
        with writing(self.folder):
            for name in _LAYOUT:
                self._layout_file(name).hardlink_to(other._layout_file(name))

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
        return AddressLayout(*(np.load(self._layout_file(name), mmap_mode="r") for name in _LAYOUT))

    def _layout_file(self, name: str) -> Path:
        return self.folder / f"{name}.npy"

    def __reduce__(self) -> tuple[type[Execution], tuple[GPU, Occupancy, Path, Path]]:
        return Execution, (self.gpu, self.occupancy, self.folder, self.trace)  # another process maps the files itself
