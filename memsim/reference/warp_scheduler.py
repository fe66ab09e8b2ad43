"""Which ready warp the load-store unit serves next.

Baghsorkhi et al. (PPoPP 2012, sections 2 and 3.2.2) describe a weighted round-robin scheduler that keeps picking from
the warp whose sequence of independent loads has begun (bulk scheduling). Greedy-then-oldest is that of Rogers et al.
(MICRO 2012), greedy-then-youngest that of Huerta et al. (MICRO 2025, section 5.1.2).
"""

from __future__ import annotations

from memsim.gpu.choices import WarpScheduler
from memsim.reference.address_map import hash32
from memsim.reference.warp import Warp


class WarpSelector:
    """Picks among the ready warps of an SM.

    Args:
        slots: warp slots, those of second divergent paths included.
        sm, key: of the draws of the random policy.
    """

    def __init__(self, policy: WarpScheduler, slots: int, sm: int, key: int) -> None:
        self.policy, self.slots, self.sm, self.key = policy, slots, sm, key
        self.last_slot = 0
        self.picks_left = 0
        self.draws = 0

    def select(self, ready: dict[int, Warp]) -> Warp:
        last = ready.get(self.last_slot)
        if last:
            if last.in_sequence or self.policy.startswith("greedy"):
                return last
            if self.policy is WarpScheduler.weighted_round_robin and self.picks_left:
                self.picks_left -= 1
                return last
        by_slot = sorted(ready, key=lambda slot: (slot - self.last_slot - 1) % self.slots)
        slot = by_slot[0]
        if self.policy is WarpScheduler.greedy_then_oldest:
            slot = min(ready, key=lambda slot: (ready[slot].age, slot))
        elif self.policy is WarpScheduler.greedy_then_youngest:
            slot = max(ready, key=lambda slot: (ready[slot].age, -slot))
        elif self.policy is WarpScheduler.random:
            slot = by_slot[hash32(self.key ^ hash32(self.draws * 256 + self.sm)) % len(by_slot)]
            self.draws += 1
        self.last_slot, self.picks_left = slot, ready[slot].weight - 1
        return ready[slot]
