"""The memory partition of a GPU without an L2 (NVIDIA's compute capability 1.x): each request reads or writes DRAM.

Hong and Kim (ISCA 2009) model these GPUs; CUDA C Programming Guide, compute capability 1.x, says what is not cached.
"""

from __future__ import annotations

from memsim.reference.l2_slice import L2Slice
from memsim.reference.packets import Fetch, Packet, Request, sectors


class MemoryPort(L2Slice):
    """The queue of a slice and its limits, without its lines."""

    def serve(self, packet: Packet) -> bool:
        """Send a packet on to DRAM; an atomic reads first."""
        event = f"{packet.access}_miss"
        self.model.statistics.count(packet.op, "l2", event, {event: len(sectors(packet.mask))})
        if packet.request is Request.store:
            self.write_packet(packet)
            return True
        self.reads += 1
        read = Fetch(
            self.clock.now, packet.line, packet.mask, packet.op, packet.location, self.number, targets=[packet]
        )
        self.model.send_to_memory(read)
        return True

    def write_packet(self, packet: Packet) -> None:
        """Write the sectors of a packet to DRAM."""
        self.send_write(
            Fetch(self.clock.now, packet.line, packet.mask, packet.op, packet.location, self.number, write=True)
        )

    def complete(self, packet: Packet) -> None:
        """A store is answered at once."""
        self.occupy(self.service_cycles(packet))
        if packet.request is Request.store:
            self.model.interconnect.reply(packet, self.number)

    def take_answer(self, answer: Fetch) -> None:
        """Answer the request that a read belongs to; an atomic writes its result."""
        self.unblock()
        if answer.write:
            self.writes -= 1
            return
        self.reads -= 1
        (packet,) = answer.targets
        self.model.interconnect.reply(packet, self.number)
        if packet.request in (Request.atomic, Request.reduction):
            self.write_packet(packet)
