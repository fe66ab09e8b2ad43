"""The minimum distances between DRAM commands of one channel, as JEDEC's standards give them (JESD212, JESD235)."""

from __future__ import annotations

from memsim.gpu.memory import DramTiming

PRE, ACT, RD, WR, REF = "precharge", "activate", "read", "write", "refresh"


def distances(timing: DramTiming, before: str, after: str, same_bank: bool, same_group: bool = False) -> list[int]:
    """The clocks that must lie between two commands.

    Args:
        timing: constraints; those that are None do not bind.
        same_group: the commands go to one of several bank groups.
    """
    t = timing
    anywhere: dict[tuple[str, str], list[int | None]] = {
        (ACT, ACT): [t.rrd],
        (RD, RD): [t.ccd, t.burst],
        (WR, WR): [t.ccd, t.burst],
        (RD, WR): [t.ccd, t.rtw, t.cl + t.burst - t.cwl],
        (WR, RD): [t.ccd, t.cwl + t.burst + t.wtr, t.cwl + t.burst - t.cl],
        (PRE, REF): [t.rp],
        (REF, ACT): [t.rfc],
        (REF, REF): [t.rfc],
    }
    in_bank: dict[tuple[str, str], list[int | None]] = {
        (PRE, ACT): [t.rp],
        (ACT, PRE): [t.ras],
        (ACT, RD): [t.rcd],
        (ACT, WR): [t.rcd],
        (RD, PRE): [t.rtp],
        (WR, PRE): [t.cwl + t.burst + t.wr],
    }
    in_group: dict[tuple[str, str], list[int | None]] = {
        (ACT, ACT): [t.rrd_l],
        (RD, RD): [t.ccd_l],
        (WR, WR): [t.ccd_l],
        (RD, WR): [t.ccd_l],
        (WR, RD): [t.ccd_l, None if t.wtr_l is None else t.cwl + t.burst + t.wtr_l],
    }
    pair = before, after
    found = list(anywhere.get(pair, []))
    found += in_bank.get(pair, []) if same_bank else []
    found += in_group.get(pair, []) if same_group else []
    return [clocks for clocks in found if clocks is not None]
