"""Which accesses of a warp share a transaction, by architecture: every rule as numbers for the compiled loop.

Sources: NVIDIA CUDA C Programming Guide, version 2.3 (section 5.1.2), versions 3.0 to 4.2 (appendix "Compute
Capabilities": 1.x and 2.x, global, shared and constant memory) and 5.0 and later (the same appendix: 3.x and after).
A warp's accesses are looked at in groups of lanes:

=========  ==========================  ===============================================================================
capability lanes of a group            global and local memory
=========  ==========================  ===============================================================================
1.0, 1.1   16                          lane k on word k of an aligned segment of 16 words (of 4, 8 or 16 bytes): one
                                       64-byte, one 128-byte or two 128-byte transactions; else one per active lane
1.2, 1.3   16                          one a touched segment of 32 (1-byte words), 64 (2-byte) or 128 bytes, halved to
                                       64 and 32 bytes while only one half is used
2.x, 3.x   32; 16 of 8 bytes; 8 of 16  loads with L1: one per touched line; without: one per touched 32-byte sector
5.x on     32                          loads with L1: one per touched line, its touched sectors; without: one per sector
7.0 on     32                          loads without L1, too: one per touched line, its touched sectors
2.x on     the same as loads           stores: one per touched line, with the touched 32-byte sectors
=========  ==========================  ===============================================================================

A load that bypasses L1 (``bypass_l1``), or that L1 does not serve (``l1.serves``), is looked at as without L1. A load's
transaction asks for whole L1 sectors (``l1.sector_bytes``). Texture loads are global loads that L1 always serves: from
5.x on the texture cache is the L1 (the same appendix), Kepler's is what ``l1`` describes when it serves nothing else.
Those that the texture units make have transactions of ``l1.texture_bytes``, or of a sector if that is more, a
lookup and a request to L2 each.
Atomics and reductions are done at L2, 32 bytes wide: one transaction a touched sector, and one more for every further
lane on the same address, because such accesses are serialized (CUDA C Programming Guide 4.2,
section 4.1). From 7.0 on, what passes L1 by goes through its unit all the same, which counts it by line and sector
(Nsight Compute, l1tex__t_requests and l1tex__t_sectors of ``-dlcm=cg``). From 2.x on, where there is an L2, a store's
transaction also says which sectors it covers in part, as its active lanes do not write all of their bytes. Shared
memory has 16 banks (1.x) or 32, each a 4-byte word wide: a pass serves one word of each bank to
any number of lanes (1.x: one word to any number, one lane of each other bank), and atomics one lane of each bank. The
8-byte banks that 3.x can be switched to are not modelled. From 7.0 on, a shared load of 8 or 16 bytes whose lanes have
the same address in pairs (n and n ^ 1, or n and n ^ 2) is looked at in groups of twice as many lanes (NVIDIA Developer
Forums, "Unexpected shared memory bank conflict", topic 77228). A constant access takes one pass a distinct address.

How long the load-store unit is busy with the transactions of an instruction, in wavefronts as the profiler calls them:

- tag stage: ``l1.tags_per_cycle`` banks look a transaction's line up each; the line's number, folded, says in which;
- data stage: passes over ``l1.banks`` banks of 4 bytes, as in shared memory but for the pairs;
- way out, loads only: ``l1.bytes_per_cycle`` of the active lanes' bytes.

The longest counts. RRZE-HPC's gpu-benches (gpu-strides, A100 and A40) has the first two and the cycles of 144 patterns:
experiments/bandwidth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memsim.gpu.architecture import Coalescing
from memsim.gpu.choices import L1Serves
from memsim.gpu.config import GPU
from memsim.trace.schema import ArrayInfo, OpKind, Space, StaticInstruction
from memsim.trace.transactions import BYPASS_FLAG, CONSTANT_FLAG, NO_ANSWER

SECTOR_BYTES = 32  # the unit of a transaction's mask

SEGMENTS, IN_ORDER, ATOMIC, BANKS, BANKS_1X, BANKS_ATOMIC, DISTINCT = range(7)  # `rule`

RULE = np.dtype(
    [
        ("rule", "u1"),
        ("kind", "u1"),
        ("flags", "u1"),  # of every instruction of the op: BYPASS_FLAG, CONSTANT_FLAG
        ("answers", "u1"),  # class of loads, or NOTHING
        ("lanes", "u1"),  # log2 of the lanes of a group
        ("pairs", "u1"),  # whether a group has twice as many lanes when they share addresses in pairs
        ("partial", "u1"),  # whether transactions say which sectors they cover in part
        ("width", "u1"),  # bytes of one lane's access
        ("data_lanes", "u1"),  # log2 of the lanes whose words L1's data stage reads together
        ("data_banks", "u1"),  # of that stage; 0: it has no conflicts
        ("out_bytes", "u2"),  # that leave L1 in a cycle; 0: any number
        ("shift", "u1"),  # log2 of the segment's 32-byte sectors (SEGMENTS), of the number of banks (BANKS*)
        ("requested", "u1", 256),  # sectors touched in a segment -> sectors asked for
    ]
)


def make_rules(ops: Sequence[StaticInstruction], gpu: GPU, arrays: Sequence[ArrayInfo] = ()) -> np.ndarray:
    """RULE records, one per static instruction; `arrays` say what is read through the texture units (see `sampled`)."""
    rules = np.zeros(len(ops), RULE)
    for rule, op in zip(rules, ops, strict=True):
        rule["kind"], rule["width"], rule["flags"] = op.kind, op.width, 0 if l1_serves(op, gpu) else BYPASS_FLAG
        rule["answers"] = NO_ANSWER if op.load_class is None else op.load_class
        if op.space == Space.shared:
            _shared(rule, op, gpu)
        elif op.space == Space.constant:
            rule["rule"], rule["lanes"] = DISTINCT, _log2(gpu.architecture.group_lanes)
            rule["flags"] |= 0 if gpu.sm.constant_cycles is None else CONSTANT_FLAG
        else:
            _global(rule, op, gpu, gpu.l1.texture_bytes if sampled(op, arrays) else None)
    return rules


def local_stores(ops: Sequence[StaticInstruction], gpu: GPU) -> np.ndarray:
    """Which static instructions are stores to local memory that have a write policy of their own; u1, empty if none."""
    if gpu.l1.local_write_policy is None or not gpu.l1.enabled:
        return np.zeros(0, np.uint8)
    kept = [op.kind is OpKind.store and op.space is Space.local and l1_serves(op, gpu) for op in ops]
    return np.array(kept if any(kept) else [], np.uint8)


def sampled(op: StaticInstruction, arrays: Sequence[ArrayInfo]) -> bool:
    """Whether a load goes through the texture units, as those of a texture's array do and ``ld.global.nc`` does not."""
    return op.space is Space.texture and op.array < len(arrays) and arrays[op.array].space is Space.texture


def l1_serves(op: StaticInstruction, gpu: GPU) -> bool:
    """Whether L1, if it is on, serves a load."""
    return not op.bypass_l1 and (gpu.l1.serves is L1Serves.all or op.space is Space.texture)


def _log2(power: int) -> int:
    return power.bit_length() - 1


def _shared(rule: np.void, op: StaticInstruction, gpu: GPU) -> None:
    chip = gpu.architecture
    rule["lanes"], rule["shift"] = _log2(chip.data_lanes(op.width)), _log2(chip.shared_banks)
    rule["pairs"] = chip.pairs_share_words and op.kind == OpKind.load and op.width > 4
    if op.kind in (OpKind.atomic, OpKind.reduction):
        rule["rule"] = BANKS_ATOMIC
    else:
        rule["rule"] = BANKS_1X if chip.one_broadcast else BANKS


def _global(rule: np.void, op: StaticInstruction, gpu: GPU, texture_bytes: int | None) -> None:
    chip = gpu.architecture
    rule["rule"], rule["lanes"] = SEGMENTS, _log2(chip.global_lanes(op.width))
    if op.kind in (OpKind.atomic, OpKind.reduction):
        rule["rule"], rule["lanes"] = ATOMIC, _log2(chip.group_lanes)
        segment, requested = SECTOR_BYTES, _round_to_sectors(SECTOR_BYTES)
    elif chip.coalescing is Coalescing.in_order:
        rule["rule"] = IN_ORDER
        segment, requested = SECTOR_BYTES, _round_to_sectors(SECTOR_BYTES)
    elif chip.coalescing is Coalescing.segments:
        segment, requested = {1: 32, 2: 64}.get(op.width, 128), _halved()
    elif op.kind == OpKind.store:
        rule["partial"] = True
        segment, requested = gpu.l1.line_bytes, _round_to_sectors(SECTOR_BYTES)
    elif gpu.l1.enabled and l1_serves(op, gpu):
        segment = max(texture_bytes, gpu.l1.sector_bytes) if texture_bytes else gpu.l1.line_bytes
        requested = _round_to_sectors(gpu.l1.sector_bytes)
    elif chip.uncached_by_line:
        segment, requested = gpu.l1.line_bytes, _round_to_sectors(SECTOR_BYTES)
    else:
        segment, requested = SECTOR_BYTES, _round_to_sectors(SECTOR_BYTES)
    rule["shift"], rule["requested"] = _log2(segment // SECTOR_BYTES), requested
    if op.kind in (OpKind.load, OpKind.store):
        rule["data_lanes"], rule["data_banks"] = _log2(chip.data_lanes(op.width)), gpu.l1.banks or 0
        rule["out_bytes"] = gpu.l1.bytes_per_cycle or 0 if op.kind == OpKind.load else 0


def _round_to_sectors(sector_bytes: int) -> np.ndarray:
    """Round touched 32-byte sectors up to whole sectors of `sector_bytes`: u1 [256], by mask."""
    touched = np.arange(256)
    n = sector_bytes // SECTOR_BYTES
    requested = np.zeros(256, np.uint8)
    for first in range(0, 8, n):
        sector = ((1 << n) - 1) << first
        requested |= np.where(touched & sector, sector, 0).astype(np.uint8)
    return requested


def _halved() -> np.ndarray:
    """Smallest aligned run of 1, 2 or 4 sectors that covers the touched ones of a 128-byte segment: u1 [256]."""
    requested = np.full(256, 0b1111, np.uint8)
    for run in (0b0011, 0b1100, 0b0001, 0b0010, 0b0100, 0b1000):
        requested[[mask for mask in range(1, 16) if mask & ~run == 0]] = run
    return requested
