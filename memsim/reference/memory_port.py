"""The memory partition of a GPU without an L2 (NVIDIA's compute capability 1.x): each request reads or writes DRAM.

Hong and Kim (ISCA 2009) model these GPUs; CUDA C Programming Guide, compute capability 1.x, says what is not cached.
"""

from __future__ import annotations

from memsim.reference.l2 import L2Slice
from memsim.reference.packets import Fetch, Packet, Request


class MemoryPort(L2Slice):
    """The queue of a slice and its limits, without its lines."""

    def look_up_all(self, packet: Packet) -> bool:
        """Send a packet on to memory; an atomic reads first."""
        self.model.statistics.count(packet.op, "l2", packet.access, "miss", {"miss": packet.mask.bit_count()})
        kind = {"write": True} if packet.request is Request.store else {"targets": [packet]}
        self.send(self.memory_request(packet.line, packet.mask, packet.op, **kind))
        return True

    def complete(self, packet: Packet) -> None:
        """A store is answered at once."""
        self.occupy(self.service_cycles(packet))
        if packet.request is Request.store:
            self.model.interconnect.reply(packet, self.number)

    def take_answer(self, answer: Fetch) -> None:
        """Answer the request that a read belongs to; an atomic writes its result."""
        super().take_answer(answer)
        for packet in answer.targets:
            if packet.request in (Request.atomic, Request.reduction):
                self.send(self.memory_request(packet.line, packet.mask, packet.op, write=True))
