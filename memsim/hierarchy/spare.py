"""The machine of a trial that is over, kept for the next trial of the same trace on the same GPU."""

from __future__ import annotations

from memsim.gpu.config import GPU
from memsim.hierarchy.draws import Draws
from memsim.hierarchy.machine import Machine
from memsim.hierarchy.mapping import AddressLayout
from memsim.trace.transactions import Transactions


class Spare:
    """Room for one machine: a large GPU's takes tens of megabytes, which the host maps once instead of once a trial."""

    def __init__(self) -> None:
        self._kept: tuple[Machine, Transactions, AddressLayout] | None = None

    def put(self, machine: Machine, transactions: Transactions, where: AddressLayout) -> None:
        """Keep a machine with nothing under way, in the place of another."""
        self._kept = machine, transactions, where

    def drop(self) -> None:
        """Keep none: its memory, and that of the trace it holds, goes back to the host."""
        self._kept = None

    def take(self, transactions: Transactions, gpu: GPU, resident: int, drawn: Draws) -> Machine | None:
        """A machine as :func:`memsim.hierarchy.machine.build` makes it of the same, or None: it is no longer kept.

        Transactions and places must be the very same values, whose arrays the machine holds.
        """
        kept, self._kept = self._kept, None
        if kept is None:
            return None
        machine, of, where = kept
        if of is not transactions or where is not drawn.where or (machine.gpu, machine.resident) != (gpu, resident):
            return None
        machine.renew(drawn)
        return machine
