"""The network between the SMs and L2: who enters a slice first, and how long the way back takes.

The inter-core scheduler of Baghsorkhi et al. (PPoPP 2012, section 3.2.2) picks among the requests of the SMs at random.
Here, requests of one cycle enter L2 in an order that is drawn for each cycle and SM (`stochastic.arbitration`), else by
the number of the SM. Only the sum of both ways can be seen from an SM, so the way back takes all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memsim.reference.address_map import hash32
from memsim.reference.clock import CycleStage
from memsim.reference.packets import Packet

if TYPE_CHECKING:
    from memsim.reference.model import ReferenceModel

Rank = tuple[int, int]


class Interconnect:
    """Carries packets between SMs (and page walkers) and L2 slices."""

    def __init__(self, model: ReferenceModel) -> None:
        self.model, self.gpu, self.clock = model, model.gpu, model.clock
        passing = -(-self.gpu.l1.sector_bytes // self.gpu.sm.reply_bytes_per_cycle)  # of the reply port, by one sector
        self.reply_cycles = max(1, self.gpu.l2.hit_latency_cycles - passing)

    def rank(self, sm: int) -> Rank:
        """The place of an SM's requests among those of this cycle."""
        random = self.gpu.stochastic.arbitration
        return hash32(self.model.key ^ hash32(self.clock.now * 256 + sm)) if random else sm, sm

    def send(self, packet: Packet) -> None:
        """Send an SM's packet to L2, through its TLB if addresses are translated."""
        rank, translation = self.rank(packet.sm), self.model.translation
        if translation:
            stage = (CycleStage.translation, 2, *rank)
            self.clock.call(self.clock.now, stage, translation.tlbs[packet.sm].queue.put, (rank, packet))
        else:
            self.enter(rank, packet)

    def enter(self, rank: Rank, packet: Packet) -> None:
        """Let a packet with a physical address enter its slice in this cycle."""
        self.clock.call(self.clock.now, (CycleStage.crossbar, *rank), self._deliver, packet)

    def _deliver(self, packet: Packet) -> None:
        """Queue a packet at the home of its line, or at the counterpart in the SM's partition; SMs alternate."""
        packet.time = self.clock.now
        home = self.model.home(packet.line, packet.sm)
        near = self.gpu.l2.partitions < 2 or packet.sm % 2 == home.partition
        (home if near else home.opposite()).queue.put(packet)

    def reply(self, packet: Packet, slice_number: int) -> None:
        time = self.clock.now + self.reply_cycles
        if packet.sm < len(self.model.sms):
            self.clock.process(self.model.sms[packet.sm].receive(packet, slice_number, time))
        else:
            assert packet.filled is not None
            self.clock.call(time, (CycleStage.translation, 0, slice_number), packet.filled.succeed)
