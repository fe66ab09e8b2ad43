"""Finds the launch with the most accesses, of the program or of each kernel, while the program runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from memsim.sources.capture.lane_log import Launch

STEADY = 2  # launches of one shape and one count in a row, after which the next is taken to be such a one


@dataclass(frozen=True)
class Counted:
    """A launch that has run.

    Attributes:
        launch: as the program told it.
        index: which of its kernel's, from 0.
        accesses: of lanes, to memory outside of the block's own.
    """

    launch: Launch
    index: int
    accesses: int

    def __str__(self) -> str:
        """One line: ``scale: grid 512, block 256, 1,024 accesses in launch 3``."""
        shape = f"grid {_extents(self.launch.grid)}, block {_extents(self.launch.block)}"
        return f"{self.launch.kernel}: {shape}, {self.accesses:,} accesses in launch {self.index}"


@dataclass
class Heaviest:
    """The launches that have run, and which of them would be captured if there came no more.

    The first launch of a group (a kernel, or the whole program) is logged at once; of those that access more, copies of
    the program are kept (``checkpoints.h``), each in the place of the one before.

    Attributes:
        every: whether each kernel has one, not the program.
        best: of a group, the launch with the most accesses.
        of_kernel: of each kernel, that launch.
    """

    every: bool
    best: dict[str, Counted] = field(default_factory=dict)
    of_kernel: dict[str, Counted] = field(default_factory=dict)
    _steady: dict[tuple[object, ...], tuple[int, int]] = field(default_factory=dict)  # accesses, times in a row

    def group(self, launch: Launch) -> str:
        return launch.kernel if self.every else ""

    def may_win(self, launch: Launch) -> bool:
        """Whether a launch may access more than the best of its group: unless those like it never did."""
        accesses, times = self._steady.get(_shape(launch), (0, 0))
        return times < STEADY or accesses > self.best[self.group(launch)].accesses

    def add(self, launch: Launch, index: int, accesses: int, can_come_back: bool) -> bool:
        """Know what a launch accessed; whether it is its group's best, the first of several that are equal.

        Args:
            can_come_back: it is logged, or there is a copy of the program from before it.
        """
        counted = Counted(launch, index, accesses)
        before, times = self._steady.get(_shape(launch), (accesses, 0))
        self._steady[_shape(launch)] = (accesses, times + 1 if before == accesses else 1)
        if launch.kernel not in self.of_kernel or accesses > self.of_kernel[launch.kernel].accesses:
            self.of_kernel[launch.kernel] = counted
        group = self.group(launch)
        if not can_come_back or (group in self.best and accesses <= self.best[group].accesses):
            return False
        self.best[group] = counted
        return True

    def missed(self) -> list[Counted]:
        """Launches with more accesses than what is captured, of a shape whose launches accessed less before."""
        found = self.of_kernel.values()
        return [one for one in found if one.accesses > self.best[self.group(one.launch)].accesses]

    def place(self, launch: Launch) -> int:
        """Number of a group's copy."""
        return list(self.best).index(self.group(launch))


def _extents(extents: tuple[int, int, int]) -> str:
    x, y, z = extents
    return f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}" if y > 1 else str(x)


def _shape(launch: Launch) -> tuple[object, ...]:
    return launch.written, launch.grid, launch.block, launch.dynamic_shared
