"""A memory partition without an L2: what an SM asks for is read or written, each time."""

from __future__ import annotations

from oracles.cache import sectors
from oracles.l2 import Slice
from oracles.messages import Fetch, Packet

from memsim.hierarchy.counters import Event, Level


class Port(Slice):
    """The queue of a slice and its limits, without its lines."""

    def serve(self, packet: Packet, time: int) -> bool:
        asked = len(sectors(packet.mask))
        kind = {"store": "write", "load": "read", "bypass": "read"}.get(packet.kind, "atomic")
        self.world.count(packet.op, Level.l2, Event[f"{kind}_miss"], {Event[f"{kind}_miss"]: asked})
        if packet.kind == "store":
            self.send_write(packet, time)
            return True
        read = Fetch(time, packet.line, packet.mask, packet.op, packet.place, waiting=[packet])
        self.fetches.append(read)
        self.world.to_dram(read, self.number)
        return True

    def send_write(self, packet: Packet, time: int) -> None:
        self.write_memory(Fetch(time, packet.line, packet.mask, packet.op, packet.place, write=True))

    def complete(self, packet: Packet, time: int) -> None:
        self.occupy(time, self.busy(packet))
        if packet.kind == "store":
            self.world.to_sm(packet, self.number, time)

    def take_answer(self, answer: Fetch, time: int) -> None:
        if self.blocked:
            self.unblock(time)
        if answer.write:
            self.write_backs -= 1
            return
        self.fetches.remove(answer)
        (packet,) = answer.waiting
        self.world.to_sm(packet, self.number, time)
        if packet.kind in ("atomic", "reduction"):
            self.send_write(packet, time)
