"""What makes a GPU's numbers fit together: the rules that involve more than one field of the configuration.

Ranges of single fields stand next to the fields in :mod:`memsim.gpu.config`, which applies these rules to every GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsim.gpu.architecture import AMD_ARCHITECTURES, Coalescing, is_known
from memsim.gpu.choices import OF_BITS, DramPolicy, WriteMiss, WriteTurns
from memsim.gpu.components import COMPONENTS
from memsim.gpu.geometry import Problem, interleave_problems, power_of_two

if TYPE_CHECKING:
    from memsim.gpu.config import GPU
    from memsim.gpu.cores import L1
    from memsim.gpu.memory import L2, Dram

CLOCKS = 64  # times the SMs' clock, up or down, that another clock may be: rates of a window of SM cycles are bounded


def problems(gpu: GPU) -> Iterator[Problem]:
    """Yield (field, problem) for every rule the configuration breaks, in the order of the file."""
    yield from _capability(gpu)
    yield from _clocks(gpu)
    yield from _residency(gpu)
    yield from _schedulers(gpu)
    yield from _cache("l1", gpu.l1, gpu.l1.size_bytes)
    if gpu.l2.size_bytes % gpu.l2.slices:
        yield "l2.slices", f"is {gpu.l2.slices}; give a divisor of size_bytes = {gpu.l2.size_bytes}"
    yield from _cache("l2", gpu.l2, gpu.l2.size_bytes // gpu.l2.slices)
    yield from _no_l2(gpu.l2)
    yield from _partial(gpu)
    yield from _reserved(gpu.l1)
    yield from _banks(gpu.l1)
    yield from _partitions(gpu)
    yield from _fermi_hash(gpu)
    yield from _levels(gpu)
    for component in COMPONENTS:
        yield from component.problems(gpu)
    yield from _dram(gpu.dram, gpu.l1.line_bytes)
    if not power_of_two(gpu.stochastic.page_bytes):
        yield "stochastic.page_bytes", f"is {gpu.stochastic.page_bytes}; give a power of two"


def _capability(gpu: GPU) -> Iterator[Problem]:
    if not is_known(gpu.compute_capability):
        right = f"give 1.0 to 1.3, 2.x, 3.x, 5.0 and later, or {', '.join(AMD_ARCHITECTURES)}"
        yield "compute_capability", f"is {gpu.compute_capability}; {right}"
    if gpu.l1.enabled and not gpu.architecture.has_l1:
        yield "l1.enabled", "is true; compute capability 1.x has no L1 for global memory, give false"
    if gpu.architecture.coalescing is not Coalescing.lines and gpu.l1.line_bytes < 128:
        yield "l1.line_bytes", f"is {gpu.l1.line_bytes}; compute capability 1.x has 128-byte segments, give 128 or 256"


def _clocks(gpu: GPU) -> Iterator[Problem]:
    """L2 and memory advance by windows of SM cycles: what one window takes is as large as the ratio of the clocks."""
    own = gpu.sm.clock_mhz
    for field, clock in (("l2.clock_mhz", gpu.l2.clock_mhz or own), ("dram.clock_mhz", gpu.dram.clock_mhz)):
        if not own / CLOCKS <= clock <= own * CLOCKS:
            yield field, f"is {clock:g}; give 1/{CLOCKS} to {CLOCKS} times sm.clock_mhz = {own:g}"


def _residency(gpu: GPU) -> Iterator[Problem]:
    sm = gpu.sm
    if sm.max_threads > sm.max_warps * sm.warp_size:
        most = sm.max_warps * sm.warp_size
        yield "sm.max_threads", f"is {sm.max_threads}; {sm.max_warps} warps of {sm.warp_size} hold at most {most}"


def _schedulers(gpu: GPU) -> Iterator[Problem]:
    schedulers = gpu.sm.schedulers or 1
    if gpu.sm.issue_per_cycle % schedulers:
        right = f"give a multiple of schedulers = {schedulers}"
        yield "sm.issue_per_cycle", f"is {gpu.sm.issue_per_cycle}; {right}"


def _cache(name: str, cache: L1 | L2, bank_bytes: int) -> Iterator[Problem]:
    """Rules of one cache; `bank_bytes` is what one set-indexed memory of it holds (an L1, an L2 slice)."""
    missed = "fetch_bytes" if name == "l2" else "sector_bytes"  # what a miss fetches
    for field in ("line_bytes", missed):
        size = getattr(cache, field)
        if not power_of_two(size):
            yield f"{name}.{field}", f"is {size}; give a power of two from 32 to 256"
    if getattr(cache, missed) > cache.line_bytes:
        yield f"{name}.{missed}", f"is {getattr(cache, missed)}; give at most the line's {cache.line_bytes} bytes"
    set_bytes = cache.ways * cache.line_bytes
    if bank_bytes < set_bytes or bank_bytes % set_bytes:
        of = "size_bytes / slices" if name == "l2" else "size_bytes"
        yield f"{name}.size_bytes", f"gives {of} = {bank_bytes}; give a multiple of ways x line_bytes = {set_bytes}"
    elif cache.set_hash in OF_BITS and not power_of_two(bank_bytes // set_bytes):
        sets = bank_bytes // set_bytes
        yield f"{name}.set_hash", f"is {cache.set_hash} over {sets} sets; give a power-of-two number of sets"
    if cache.replacement == "tree_plru" and (not power_of_two(cache.ways) or cache.ways > 64):
        yield f"{name}.ways", f"is {cache.ways}; tree_plru needs a power of two up to 64"


def _no_l2(l2: L2) -> Iterator[Problem]:
    if l2.enabled:
        return
    if l2.inclusion != "non_inclusive":
        yield "l2.inclusion", "is inclusive; without an L2 give non_inclusive"
    if l2.partitions != 1:
        yield "l2.partitions", f"is {l2.partitions}; without an L2 give 1"


def _partial(gpu: GPU) -> Iterator[Problem]:
    """L2 knows the words of four sectors of a line, and stores that wait there for the rest of their sectors."""
    if gpu.l2.max_partial_ways is None:
        return
    if not gpu.l2.enabled:
        yield "l2.max_partial_ways", "needs an L2; leave it out"
    if gpu.l2.write_miss is not WriteMiss.validate:
        yield "l2.max_partial_ways", f'needs l2.write_miss = "validate", not "{gpu.l2.write_miss}"; leave it out'
    if gpu.l1.line_bytes > 128:
        yield "l2.max_partial_ways", f"needs l1.line_bytes of at most 128, not {gpu.l1.line_bytes}; leave it out"


def _reserved(l1: L1) -> Iterator[Problem]:
    """What is taken from an L1 leaves every set a way."""
    if l1.size_bytes < l1.ways * l1.line_bytes:
        return  # said already
    if l1.reserved_bytes % l1.line_bytes or l1.reserved_bytes > l1.most_reserved:
        most = f"give a multiple of line_bytes up to {l1.most_reserved}, which leaves every set a way"
        yield "l1.reserved_bytes", f"is {l1.reserved_bytes}; {most}"
    for taken in l1.carve_outs:
        if taken < 0 or taken % l1.line_bytes or taken >= l1.size_bytes:
            yield "l1.carve_outs", f"has {taken}; give multiples of line_bytes below size_bytes = {l1.size_bytes}"


def _banks(l1: L1) -> Iterator[Problem]:
    """Banks are selected by bits of an address, and so are a line's parts that the texture units fetch."""
    for field, right in (("tags_per_cycle", "32"), ("banks", "128")):
        value = getattr(l1, field)
        if value is not None and not power_of_two(value):
            yield f"l1.{field}", f"is {value}; give a power of two up to {right}"
    fetched = l1.texture_bytes
    if fetched is not None and not (power_of_two(fetched) and fetched <= l1.line_bytes):
        yield "l1.texture_bytes", f"is {fetched}; give a power of two from 32 to line_bytes = {l1.line_bytes}"


def _partitions(gpu: GPU) -> Iterator[Problem]:
    """Two partitions of L2 hold lines of L1's size, sector by sector, and know no L1."""
    l1, l2 = gpu.l1, gpu.l2
    if l2.slices % (l2.instances or 1):
        yield "l2.instances", f"is {l2.instances}; give a divisor of slices = {l2.slices}"
    if l2.instances and (l2.partitions > 1 or not l2.enabled):
        yield "l2.instances", f"is {l2.instances}; without an L2, or with two partitions, leave it out"
    if l2.partitions == 1:
        if l2.partition_cycles:
            yield "l2.partition_cycles", f"is {l2.partition_cycles}; there is one partition, give 0"
        return
    if l2.partition_cycles < 2:
        yield "l2.partition_cycles", f"is {l2.partition_cycles}; give at least 2, one each way between the partitions"
    if l2.slices % 2:
        yield "l2.slices", f"is {l2.slices}; give an even number, half for each partition"
    if l2.inclusion != "non_inclusive":
        yield "l2.inclusion", "is inclusive; give non_inclusive with two partitions"
    if l2.line_bytes != l1.line_bytes:
        yield "l2.line_bytes", f"is {l2.line_bytes}; give l1.line_bytes = {l1.line_bytes} with two partitions"


def _fermi_hash(gpu: GPU) -> Iterator[Problem]:
    """The published hash is of Fermi's L1: 32 sets (16 KB) or 64 (48 KB) of 128-byte lines."""
    others = {"l2.set_hash": gpu.l2.set_hash, "l2.slice_hash": gpu.l2.slice_hash,
              "dram.channel_hash": gpu.dram.channel_hash, "dram.bank_hash": gpu.dram.bank_hash}  # fmt: skip
    for field, chosen in others.items():
        if chosen == "fermi_l1":
            yield field, "is fermi_l1, which is a hash of the L1 alone; give modulo or xor_fold"
    l1 = gpu.l1
    if l1.set_hash == "fermi_l1" and (l1.line_bytes != 128 or l1.size_bytes // (l1.ways * 128) not in (32, 64)):
        yield "l1.set_hash", "is fermi_l1, which needs 128-byte lines and 32 or 64 sets"


def _levels(gpu: GPU) -> Iterator[Problem]:
    """Rules between L1 and L2: a transaction is (part of) an L1 line, and must lie in one slice."""
    l1, l2 = gpu.l1, gpu.l2
    if l2.line_bytes > l1.line_bytes:
        yield "l2.line_bytes", f"is {l2.line_bytes}; give at most l1.line_bytes = {l1.line_bytes}"
    yield from interleave_problems("l2.slice_interleave_bytes", l2.slice_interleave_bytes, l1.line_bytes)
    slices = l2.one_instance.slices
    if l2.slice_hash in OF_BITS and not power_of_two(slices):
        problem = f"is {l2.slice_hash} over {slices} slices; give modulo or a power-of-two number of slices"
        yield "l2.slice_hash", problem
    for name in ("write_policy", "local_write_policy"):
        if getattr(l1, name) == "write_allocate" and l2.inclusion == "inclusive":
            yield f"l1.{name}", "is write_allocate; an inclusive L2 knows only lines that it sent, give write_through"
    if l1.enabled and l2.hit_latency_cycles <= l1.hit_latency_cycles:
        yield "l2.hit_latency_cycles", f"is {l2.hit_latency_cycles}; give more than L1's {l1.hit_latency_cycles}"


def _dram(dram: Dram, line_bytes: int) -> Iterator[Problem]:
    yield from interleave_problems("dram.interleave_bytes", dram.interleave_bytes, line_bytes)
    yield from interleave_problems("dram.row_bytes", dram.row_bytes, line_bytes)
    for field, count, hash_ in (
        ("dram.channel_hash", dram.channels, dram.channel_hash),
        ("dram.bank_hash", dram.banks, dram.bank_hash),
    ):
        if hash_ in OF_BITS and not power_of_two(count):
            yield field, f"is {hash_} over {count}; give modulo or a power-of-two number"
    yield from _dram_timing(dram)
    if dram.write_high > dram.write_queue:
        yield "dram.write_high", f"is {dram.write_high}; give at most write_queue = {dram.write_queue}"
    if dram.write_turns != WriteTurns.alone and dram.policy != DramPolicy.fr_fcfs:
        yield "dram.write_turns", f"is {dram.write_turns} with policy = {dram.policy}; give alone, or policy fr_fcfs"
    if dram.write_low >= dram.write_high:
        yield "dram.write_low", f"is {dram.write_low}; give less than write_high = {dram.write_high}"


def _dram_timing(dram: Dram) -> Iterator[Problem]:
    groups, timing = dram.bank_groups, dram.timing
    if groups is not None and dram.banks % groups:
        yield "dram.bank_groups", f"is {groups}; give a divisor of banks = {dram.banks}"
    for name in ("ccd_l", "rrd_l", "wtr_l") if groups is None else ():
        if getattr(timing, name) is not None:
            yield f"dram.timing.{name}", "is given without bank groups; leave it out, or give dram.bank_groups"
    if (timing.refi is None) != (timing.rfc is None):
        given, missing = ("rfc", "refi") if timing.refi is None else ("refi", "rfc")
        yield f"dram.timing.{given}", f"is given without {missing}; give both, or neither for memory without refresh"
    elif timing.refi is not None and timing.rfc is not None:
        opening = timing.rp + timing.faw + timing.rcd  # else no row could be opened and used before the next refresh
        if timing.rfc + opening >= timing.refi:
            yield "dram.timing.rfc", f"is {timing.rfc}; give less than refi - rp - faw - rcd = {timing.refi - opening}"
