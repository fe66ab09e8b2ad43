"""Small random machines and traces (hypothesis strategies), and one by hand for tests that change a few fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np
from hypothesis import strategies as st

from memsim.gpu.choices import (
    Dependence,
    Divergence,
    DramPolicy,
    FullSet,
    Inclusion,
    IndexHash,
    L1WritePolicy,
    Replacement,
    ReservedFrom,
    RowPolicy,
    WarpScheduler,
    WriteHit,
    WriteMiss,
    WriteTurns,
)
from memsim.gpu.component import Component
from memsim.gpu.config import GPU, gpu_from_dict
from memsim.gpu.cores import Pipes
from memsim.gpu.translation import TRANSLATION
from memsim.hierarchy.sm.blocks import work_items
from memsim.trace.schema import (
    MIX,
    NO_OP,
    NO_SCOREBOARD,
    NO_WAIT,
    PRODUCT,
    PRODUCT_GROUPS,
    RESULT_CLASSES,
    SCOREBOARDS,
    WAIT_COLUMNS,
    Flag,
    LoadClass,
    OpKind,
)
from memsim.trace.transactions import (
    BYPASS_FLAG,
    CONSTANT_FLAG,
    CONTROL,
    DIVERGENCE,
    INSTRUCTION,
    NO_ANSWER,
    Transactions,
)

N_OPS = 4
NO_CONTROL = (NO_SCOREBOARD, 0, 0, 0, NO_WAIT)
Drawn = Callable[[dict[str, Any]], st.SearchStrategy]
TIMING = dict(cl=5, cwl=4, burst=2, ccd=2, rcd=5, rp=5, ras=11, rrd=3, faw=14, rtp=3, wr=5, wtr=3, rtw=4)
BASE: dict[str, dict[str, Any]] = {
    "sm": dict(
        count=1, clock_mhz=1000.0, warp_size=32, max_threads=2048, max_warps=64, max_blocks=32, registers=65536,
        shared_bytes=65536, warp_scheduler="loose_round_robin", issue_per_cycle=1, instruction_cycles=4,
        lookup_cycles=1, shared_latency_cycles=20, launch_cycles=100, barrier_cycles=1, max_stores=64,
        reply_bytes_per_cycle=32, divergence="interleaved",
    ),
    "l1": dict(size_bytes=2048, line_bytes=128, sector_bytes=32, ways=4, mshrs=64, hit_latency_cycles=10),
    "l2": dict(
        size_bytes=16384, line_bytes=128, fetch_bytes=32, ways=4, slices=1, slice_interleave_bytes=256, mshrs=64,
        hit_latency_cycles=60,
    ),
    "dram": dict(
        kind="test", channels=1, banks=4, row_bytes=1024, interleave_bytes=256, clock_mhz=1000.0, queue=32,
        write_queue=32, write_high=16, write_low=4, latency_cycles=30, timing=TIMING,
    ),
    "stochastic": dict(start_alignment=False, warp_weights=False, arbitration=False),
}  # fmt: skip


def gpu(**changes: Any) -> GPU:
    """The machine of BASE with some fields changed: ``gpu(l1__ways=2, dram__timing__cl=9)``."""
    data: dict[str, Any] = {"name": "test", "compute_capability": "7.0"}
    data |= {section: dict(values) for section, values in BASE.items()}
    data["dram"]["timing"] = dict(TIMING)
    for field, value in changes.items():
        *sections, name = field.split("__")
        table = data
        for section in sections:
            table = table.setdefault(section, {})
        table[name] = value
    return gpu_from_dict(data, "test")


def instruction(
    transactions: Sequence[tuple[int, ...]] = (),
    kind: OpKind = OpKind.load,
    op: int = 0,
    sequence: bool = True,
    compute_run: int = 0,
    slots: int = 0,
    wavefronts: int = 0,
    barrier: bool = False,
    bypass: bool = False,
    off_path: int = 0,
    waits: Sequence[int] | None = None,
    copy: bool = False,
    instruction_mix: int = 0,
    constant: bool = False,
    masked: bool = False,
    arrives: int = 0,
    awaits: int = 0,
    data: bool = False,
    divergence: tuple[int, int] = (0, 0),
    control: tuple[int, ...] = NO_CONTROL,
) -> dict[str, Any]:
    """One warp instruction; `transactions` are (line, mask), or (line, mask, sectors that a store covers in part).

    Args:
        waits: of each class of loads, how many may be unanswered; None: as the flags have it.
        copy: it answers among the copies.
        instruction_mix: of its compute run.
        wavefronts: of L1 that its transactions take at least.
        constant: the constants' unit takes its slots.
        masked: an access of no lane.
        arrives, awaits: at which phase of an mbarrier, 0 for none.
        data: a store of what the loads of its sequence bring.
        divergence: rows from it to the second path, and to where both reconverge.
        control: CONTROL of machine code, its first fields at least, as far as the instruction can have it.
    """
    flags = Flag.sequence * sequence | Flag.barrier * barrier | Flag.masked * masked
    flags |= Flag.arrives * (arrives > 0) | Flag.awaits * (awaits > 0)
    flags |= Flag.data * data | BYPASS_FLAG * bypass | CONSTANT_FLAG * constant
    op = NO_OP if barrier or not (transactions or slots) else op
    waits = waits or [0 if sequence or barrier or data else NO_WAIT] * 3
    answers = NO_ANSWER
    if kind in (OpKind.load, OpKind.atomic) and (transactions or slots):
        answers = LoadClass.copies if copy else LoadClass.long if transactions else LoadClass.short
    sets, waits_for, stall, result, products = (*control, *NO_CONTROL[len(control) :])
    if answers == NO_ANSWER and (
        not result or not compute_run or barrier or masked or arrives or awaits or transactions or slots
    ):
        sets, result = NO_SCOREBOARD, 0
    if answers == NO_ANSWER and result >= PRODUCT:
        sets = NO_SCOREBOARD
    elif answers != NO_ANSWER or sets == NO_SCOREBOARD:
        result = 0
    control = sets, waits_for, stall, result, products
    return dict(
        control=control,
        transactions=list(transactions), kind=kind, op=op, flags=flags, compute_run=compute_run,
        critical_path=max(compute_run - off_path, 0),
        slots=slots, wavefronts=wavefronts, answers=answers, instruction_mix=instruction_mix, phase=arrives or awaits,
        divergence=divergence,
        **dict(zip(WAIT_COLUMNS, waits, strict=True)),
    )  # fmt: skip


def trace(
    blocks: Sequence[Sequence[Sequence[dict[str, Any]]]],
    addresses: Sequence[int] | None = None,
    n_ops: int = N_OPS,
    mixes: np.ndarray | None = None,
) -> Transactions:
    """Transactions of blocks of warps of :func:`instruction`.

    Args:
        addresses: line address (byte address / line bytes) of every line number; None: the number itself.
        mixes: MIX; None: the one that is not known.
    """
    warps = [warp for block in blocks for warp in block]
    flat = [i for warp in warps for i in warp]
    records = np.zeros(len(flat), INSTRUCTION)
    for name in (
        "kind",
        "op",
        "flags",
        "compute_run",
        "critical_path",
        "slots",
        "wavefronts",
        *WAIT_COLUMNS,
        "answers",
        "instruction_mix",
    ):
        records[name] = [i[name] for i in flat]
    records["count"] = [len(i["transactions"]) for i in flat]
    records["first"] = np.cumsum(records["count"], dtype=np.int64) - records["count"]
    divergences = np.array([tuple(i["divergence"]) for i in flat], DIVERGENCE)
    controls = np.array([i["control"] for i in flat], CONTROL)
    phases = np.array([i["phase"] for i in flat], "<u4")
    arriving = phases[records["flags"] & Flag.arrives != 0]
    asked = [transaction for i in flat for transaction in i["transactions"]]
    lines = np.array([line for line, *_ in asked], "<u4")
    if addresses is None:
        addresses = range(int(lines.max(initial=0)) + 1)
    return Transactions(
        instructions=records,
        lines=lines,
        masks=np.array([mask for _, mask, *_ in asked], "u1"),
        partial=np.array([sum(partial) for _, _, *partial in asked], "u1"),
        words=np.array([_words(k, sum(partial)) for k, (_, _, *partial) in enumerate(asked)], "<u4"),
        line_address=np.array(addresses, "<u8"),
        first_instruction=np.cumsum([0, *(len(warp) for warp in warps)], dtype="<i8"),
        first_warp=np.cumsum([0, *(len(block) for block in blocks)], dtype="<i8"),
        n_ops=n_ops,
        mixes=np.zeros(1, MIX) if mixes is None else mixes,
        divergences=divergences if divergences["reconvergence"].any() else divergences[:0],
        controls=controls if (controls != np.array(NO_CONTROL, CONTROL)).any() else controls[:0],
        phase=phases if phases.any() else phases[:0],
        arrivals=np.bincount(arriving, minlength=int(phases.max()) + 1).astype("<u4") if phases.any() else phases[:0],
    )


def _words(k: int, partial: int) -> int:
    """Words that transaction `k` writes of the sectors it covers in part: one half or the other of each, by turns."""
    return sum((0x0F, 0xF0)[(k + s) % 2] << 8 * s for s in range(4) if partial >> s & 1)


def without_mbarriers(tx: Transactions) -> Transactions:
    """The same, but nobody arrives or waits at an mbarrier."""
    instructions = tx.instructions.copy()
    instructions["flags"] &= ~np.uint8(Flag.arrives | Flag.awaits)
    return replace(tx, instructions=instructions, phase=tx.phase[:0], arrivals=tx.arrivals[:0])


def without_control_codes(tx: Transactions) -> Transactions:
    """The same, but not of machine code."""
    return replace(tx, controls=tx.controls[:0])


def in_turn(tx: Transactions) -> Transactions:
    """The same, but the sides of a branch are issued one after the other."""
    return replace(tx, divergences=tx.divergences[:0])


def one_warp(*instructions: dict[str, Any], addresses: Sequence[int] | None = None) -> Transactions:
    return trace([[instructions]], addresses)


def drawn(tx: Transactions, machine: GPU, resident: int, seed: int) -> tuple[int, np.ndarray, np.ndarray]:
    """(trial key, first, end) as the draws of a trial without page placement give them."""
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    key = int(rng.integers(1 << 31))
    started = min(len(tx.first_warp) - 1, resident * machine.sm.count)
    phases = rng.random(started) if machine.stochastic.start_alignment else None
    first, end, _ = work_items(tx, started, phases)
    return key, first, end


def _section(draw, **fields: st.SearchStrategy) -> dict[str, Any]:
    return {name: draw(strategy) for name, strategy in fields.items()}


def _of(kind) -> st.SearchStrategy:
    return st.sampled_from([member.value for member in kind])


@st.composite
def component(draw, declaration: Component, most: int = 8) -> dict[str, Any]:
    """Any kind and small parameters, up to `most`, of a component, from its declaration: bytes are powers of two.

    Fields that are lists, with an entry per level, are left to the tests of that component.
    """
    own: dict[str, Any] = {}
    for name, field in GPU.model_fields[declaration.section].annotation.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, StrEnum):
            own[name] = draw(_of(field.annotation))
            continue
        if field.annotation is bool:
            own[name] = draw(st.booleans())
            continue
        low, high = (next(getattr(one, of) for one in field.metadata if hasattr(one, of)) for of in ("ge", "le"))
        powers = [1 << k for k in range(13) if low <= 1 << k <= high]
        number = st.integers(low, min(high, 40 if name.endswith("_cycles") else most))
        own[name] = draw(st.sampled_from(powers) if name.endswith("_bytes") else number)
    return own


@st.composite
def machines(draw, **components: dict[str, Any] | Drawn) -> GPU:
    """A tiny GPU: few sets, ways, MSHRs and queue entries, so that everything runs out and everything collides.

    Args:
        components: further sections, if it has an L2, or strategies for them, from the sections so far.
    """
    cycles = st.integers(1, 12)
    line = draw(st.sampled_from([32, 64, 128, 256]))
    sizes = [size for size in (32, 64, 128, 256) if size <= line]
    l2_line = draw(st.sampled_from(sizes))
    two = draw(st.sampled_from([False, False, True]))
    hashes = st.sampled_from([one.value for one in IndexHash if one is not IndexHash.fermi_l1])
    l1 = _section(
        draw, enabled=st.sampled_from([True, True, True, False]), line_bytes=st.just(line),
        sector_bytes=st.sampled_from(sizes), ways=st.sampled_from([1, 2, 4]), set_hash=hashes,
        replacement=_of(Replacement), write_policy=_of(L1WritePolicy), full_set=_of(FullSet), mshrs=st.integers(1, 6),
        reserved_from=_of(ReservedFrom), tags_per_cycle=st.sampled_from([1, 1, 2, 4]),
        hit_latency_cycles=st.integers(1, 20), merges_stores=st.booleans(),
        local_write_policy=st.one_of(st.none(), _of(L1WritePolicy), st.just("write_back")),
    )  # fmt: skip
    n_sets = draw(st.sampled_from([1, 2, 4]))
    l1["size_bytes"] = l1["ways"] * line * n_sets
    l1["reserved_bytes"] = draw(st.integers(0, (l1["ways"] - 1) * n_sets)) * line if draw(st.booleans()) else 0
    l2 = _section(
        draw, line_bytes=st.just(l2_line), fetch_bytes=st.sampled_from([s for s in sizes if s <= l2_line]),
        ways=st.sampled_from([1, 2, 4]), slices=st.sampled_from([1, 2, 3]), set_hash=hashes,
        slice_hash=st.sampled_from(["modulo", "rotated"]),
        replacement=_of(Replacement), write_hit=_of(WriteHit), write_miss=_of(WriteMiss), inclusion=_of(Inclusion),
        mshrs=st.integers(1, 8), hit_latency_cycles=st.integers(2, 40), sector_cycles=st.integers(1, 3),
        clock_mhz=st.sampled_from([None, None, 300.0, 777.0, 1000.0, 1700.0]),
        max_dirty_ways=st.sampled_from([None, None, 1, 2]), partial_store_cycles=st.sampled_from([None, 1, 2, 4, 9]),
        repeated_store_cycles=st.sampled_from([None, None, 1, 2, 7]),
        read_sectors=st.sampled_from([None, None, 2, 3]),
    )  # fmt: skip
    if two:  # partitions of L2
        l2_line = line
        l2 |= _section(
            draw,
            slices=st.sampled_from([2, 4]),
            partition_cycles=st.integers(2, 40),
            merges_copies=st.booleans(),
        )
        l2 |= dict(partitions=2, line_bytes=line, inclusion="non_inclusive")
    elif draw(st.sampled_from([False, False, False, True])):
        l2 |= dict(enabled=False, inclusion="non_inclusive")
    if l2.get("enabled", True) and l2["write_miss"] == WriteMiss.validate and line <= 128:
        l2["max_partial_ways"] = draw(st.sampled_from([None, 1, 2, 4]))
    if L1WritePolicy.write_allocate in (l1["write_policy"], l1["local_write_policy"]):
        l2["inclusion"] = Inclusion.non_inclusive.value
    l2["size_bytes"] = l2["ways"] * l2_line * l2["slices"] * draw(st.sampled_from([1, 2, 4]))
    l2["slice_interleave_bytes"] = line * draw(st.sampled_from([1, 2]))
    l2["hit_latency_cycles"] += l1["hit_latency_cycles"]
    sm = BASE["sm"] | _section(
        draw, count=st.integers(1, 3), warp_scheduler=_of(WarpScheduler), issue_per_cycle=st.integers(1, 2),
        issue_cycles=st.sampled_from([1, 1, 4]), memory_issue=st.booleans(), masked_issue=st.booleans(),
        queued_barriers=st.booleans(),
        instruction_cycles=st.integers(0, 5), lookup_cycles=st.integers(1, 3),
        pass_cycles=st.integers(1, 2), shared_latency_cycles=cycles,
        launch_cycles=st.integers(1, 40), barrier_cycles=st.integers(1, 5), max_stores=st.integers(1, 4),
        constant_cycles=st.sampled_from([1, 3]), load_store_lanes=st.sampled_from([None, None, 4, 16]),
        address_cycles=st.sampled_from([None, None, 1, 4]), arrival_cycles=st.sampled_from([None, None, 1, 3]),
        reply_bytes_per_cycle=st.sampled_from([8, 24, 32, 64]), dependence=_of(Dependence), divergence=_of(Divergence),
        loads_per_warp=st.sampled_from([None, 1, 2, 5]), schedulers=st.sampled_from([None, 1, 2, 3]),
    )  # fmt: skip
    sm["issue_per_cycle"] *= sm["schedulers"] or 1
    lanes, links = st.sampled_from([None, 1, 16, 24, 64]), st.sampled_from([None, 0, 3, 9])
    sm["pipes"] = {name: draw(links if name.endswith("_cycles") else lanes) for name in Pipes.model_fields}
    clocks = st.sampled_from([333.0, 924.5, 1000.0, 1700.0])
    dram = _section(
        draw, channels=st.integers(1, 3), banks=st.integers(1, 4), clock_mhz=clocks, policy=_of(DramPolicy),
        row_policy=_of(RowPolicy),
        entry_sectors=st.integers(1, 8), queue=st.integers(1, 6), write_queue=st.integers(1, 6),
        latency_cycles=st.integers(0, 30),
    )  # fmt: skip
    dram |= dict(kind="test", row_bytes=line * draw(st.sampled_from([1, 4])), interleave_bytes=line)
    if dram["policy"] == DramPolicy.fr_fcfs:
        dram["write_turns"] = draw(_of(WriteTurns))
    dram["write_high"] = draw(st.integers(1, dram["write_queue"]))
    dram["write_low"] = draw(st.integers(0, dram["write_high"] - 1))
    dram["timing"] = _section(draw, **{name: cycles for name in TIMING})
    dram["bank_groups"] = draw(st.sampled_from([None, None, *(g for g in (2, 4) if dram["banks"] % g == 0)]))
    if dram["bank_groups"]:
        dram["timing"] |= _section(draw, **{name: st.integers(1, 15) for name in ("ccd_l", "rrd_l", "wtr_l")})
    if draw(st.booleans()):
        dram["timing"] |= dict(refi=draw(st.integers(100, 400)), rfc=draw(st.integers(1, 60)))
    launch = dict(block_cycles=draw(st.sampled_from([None, None, 0.5, 1.19, 7.0])))
    chance = _section(draw, **{name: st.booleans() for name in BASE["stochastic"]}, max_weight=st.integers(1, 4))
    data = dict(name="test", compute_capability="7.0", sm=sm, l1=l1, l2=l2, dram=dram, launch=launch, stochastic=chance)
    if l2.get("enabled", True):
        data |= {name: draw(of(data)) if callable(of) else of for name, of in components.items()}
    tlbs = draw(component(TRANSLATION, most=4))
    tlbs |= {f"{level}_entries": tlbs[f"{level}_ways"] * draw(st.integers(1, 2)) for level in ("sm", "shared")}
    tlbs["shared_page_bytes"] *= draw(st.sampled_from([1, 2]))
    return gpu_from_dict(data | dict(translation=tlbs), "test")


def _controls() -> st.SearchStrategy:
    """Control codes that set few scoreboards and often wait for them, or for groups of products."""
    number, mask = (
        st.sampled_from([NO_SCOREBOARD, 0, 1, 1, SCOREBOARDS - 1]),
        st.sampled_from([0, 0, 1, 2, 3, 1 << SCOREBOARDS - 1]),
    )
    products = st.sampled_from([NO_WAIT, NO_WAIT, 0, 1, PRODUCT_GROUPS - 1])
    return st.tuples(number, mask, st.sampled_from([0, 1, 4, 15]), st.integers(0, len(RESULT_CLASSES)), products)


@st.composite
def traces(draw, machine: GPU) -> Transactions:
    """A few blocks of warps over few lines: loads of whole L1 sectors, stores and atomics of any sectors."""
    per_line = machine.l1.line_bytes // 32
    unit = machine.l1.sector_bytes // 32 if machine.l1.enabled else 1
    groups = [((1 << unit) - 1) << first for first in range(0, per_line, unit)]
    n_lines = draw(st.integers(1, 20))
    load_mask = st.integers(1, (1 << len(groups)) - 1).map(lambda m: sum(g for i, g in enumerate(groups) if m >> i & 1))
    line = st.integers(0, n_lines - 1)
    loads = st.lists(st.tuples(line, load_mask), min_size=1, max_size=5)
    mask = st.integers(1, (1 << per_line) - 1)
    others = st.lists(st.tuples(line, mask), min_size=1, max_size=3)
    stored = st.tuples(line, mask, st.integers(0, 255)).map(lambda drawn: (*drawn[:2], drawn[1] & drawn[2]))
    stores = st.lists(stored, min_size=1, max_size=3)
    op, compute_run = st.integers(0, N_OPS - 1), st.sampled_from([0, 0, 0, 1, 7])
    flag = st.booleans()
    wait = st.sampled_from([NO_WAIT, NO_WAIT, 0, 1, 2, 4])
    mixes = draw(_mixes())
    more = dict(
        waits=st.one_of(st.none(), st.lists(wait, min_size=3, max_size=3)),
        instruction_mix=st.integers(0, len(mixes) - 1),
        off_path=st.sampled_from([0, 0, 3, 7]),
        control=_controls() if draw(st.booleans()) else st.just(NO_CONTROL),
    )
    written = st.sampled_from([OpKind.atomic, OpKind.reduction])
    late = dict(wavefronts=st.sampled_from([0, 1, 3, 12]))
    access = st.one_of(
        st.builds(instruction, loads, st.just(OpKind.load), op, flag, compute_run, copy=st.booleans(), **more, **late),
        st.builds(instruction, loads, st.just(OpKind.load), op, flag, compute_run),
        st.builds(instruction, stores, st.just(OpKind.store), op, flag, compute_run, data=flag, **more, **late),
        st.builds(instruction, others, written, op, flag, compute_run, **more, **late),
        st.builds(instruction, others, st.just(OpKind.load), op, flag, compute_run, bypass=st.just(True), **more),
        st.builds(instruction, st.just(()), st.sampled_from(OpKind), op, flag, compute_run, st.integers(0, 4), **more),
        st.builds(
            instruction,
            st.just(()),
            st.just(OpKind.load),
            op,
            flag,
            compute_run,
            st.integers(1, 4),
            constant=flag,
            **more,
        ),
        st.builds(instruction, sequence=flag, compute_run=compute_run, masked=st.just(True), **more),
    )
    width = draw(st.integers(1, 3))
    blocks, phase = [], 0
    for _ in range(draw(st.integers(1, 5))):
        warps = [[] for _ in range(draw(st.integers(1, width)))]
        for epoch in range(draw(st.integers(1, 3))):
            for warp in warps:
                warp += [draw(st.builds(instruction, barrier=st.just(True), **more))] if epoch else []
            for warp in warps:
                rows = draw(st.lists(access, max_size=6))
                if len(rows) > 1 and draw(st.booleans()):
                    _part(draw, rows)
                warp += rows
            if draw(st.sampled_from([False, False, True])):
                phase += 1
                _mbarrier(draw, warps, phase, more, loads)
        blocks.append(warps)
    addresses = draw(st.lists(st.integers(0, 400), min_size=n_lines, max_size=n_lines, unique=True))
    tx = trace(blocks, addresses, mixes=mixes)
    if machine.l1.enabled and machine.l1.local_write_policy:
        tx = replace(tx, local=np.array(draw(st.lists(st.booleans(), min_size=N_OPS, max_size=N_OPS)), "u1"))
    return _merged(draw, tx) if machine.l1.merges_stores else tx


def _merged(draw, tx: Transactions) -> Transactions:
    """Have some sectors of stores leave with a later store."""
    rows = tx.instructions
    stored = np.repeat(rows["kind"] == OpKind.store, rows["count"])
    chosen = draw(st.lists(st.integers(0, 255), min_size=len(stored), max_size=len(stored)))
    merged = np.where(stored, np.array(chosen, "u1"), np.uint8(0)) & tx.masks
    return replace(tx, merged=merged, partial=tx.partial & ~merged)


def _part(draw, rows: list[dict[str, Any]]) -> None:
    """Let lanes part somewhere in rows without barriers."""
    first, second, join = sorted(draw(st.lists(st.integers(0, len(rows)), min_size=3, max_size=3, unique=True)))
    rows[first] |= dict(divergence=(second - first, join - first))


def _mbarrier(draw, warps: list[list], phase: int, more: dict[str, Any], loads: st.SearchStrategy) -> None:
    """Let some warps of a block arrive at a phase, by themselves or by copies, and then some wait for it."""
    sent = dict(copy=st.just(True), bypass=st.booleans(), arrives=st.just(phase), sequence=st.booleans())
    arrival = st.one_of(
        st.builds(instruction, sequence=st.booleans(), arrives=st.just(phase), **more),
        st.builds(instruction, loads, **sent, **more),
    )
    for warp in warps:
        warp += draw(st.lists(arrival, max_size=2))
    for warp in warps:
        awaited = st.builds(instruction, sequence=st.booleans(), awaits=st.just(phase), **more)
        warp += draw(st.lists(awaited, max_size=1))


@st.composite
def _mixes(draw) -> np.ndarray:
    """The mix that is not known, and a few of few instructions."""
    mixes = np.zeros(draw(st.integers(1, 4)), MIX)
    for mix in mixes[1:]:
        for name in draw(st.lists(st.sampled_from(MIX.names or ()), max_size=4)):
            mix[name] = draw(st.sampled_from([1, 5, 40]))
    return mixes
