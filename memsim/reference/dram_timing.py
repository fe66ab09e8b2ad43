"""The minimum distances between DRAM commands of one channel, as JEDEC's standards give them (JESD212, JESD235)."""

from __future__ import annotations

from memsim.gpu.memory import DramTiming

PRE, ACT, RD, WR, REF = "precharge", "activate", "read", "write", "refresh"


def distances(timing: DramTiming, before: str, after: str, same_bank: bool, same_group: bool = False) -> list[int]:
    """The clocks that must lie between two commands; constraints that are None do not bind.

    Args:
        same_group: the commands go to one of several bank groups.
    """
    t = timing
    write_to_read = None if t.wtr_l is None else t.cwl + t.burst + t.wtr_l
    rules: dict[tuple[str, str], tuple[list[int | None], list[int | None], list[int | None]]] = {
        # before, after: to any bank, to the same bank, to the same bank group
        (ACT, ACT): ([t.rrd], [], [t.rrd_l]),
        (RD, RD): ([t.ccd, t.burst], [], [t.ccd_l]),
        (WR, WR): ([t.ccd, t.burst], [], [t.ccd_l]),
        (RD, WR): ([t.ccd, t.rtw, t.cl + t.burst - t.cwl], [], [t.ccd_l]),
        (WR, RD): ([t.ccd, t.cwl + t.burst + t.wtr, t.cwl + t.burst - t.cl], [], [t.ccd_l, write_to_read]),
        (PRE, REF): ([t.rp], [], []),
        (REF, ACT): ([t.rfc], [], []),
        (REF, REF): ([t.rfc], [], []),
        (PRE, ACT): ([], [t.rp], []),
        (ACT, PRE): ([], [t.ras], []),
        (ACT, RD): ([], [t.rcd], []),
        (ACT, WR): ([], [t.rcd], []),
        (RD, PRE): ([], [t.rtp], []),
        (WR, PRE): ([], [t.cwl + t.burst + t.wr], []),
    }
    anywhere, in_bank, in_group = rules.get((before, after), ([], [], []))
    found = anywhere + (in_bank if same_bank else []) + (in_group if same_group else [])
    return [clocks for clocks in found if clocks is not None]
