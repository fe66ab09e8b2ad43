"""The policies of a GPU by name, with the paper that defines them."""

from __future__ import annotations

from enum import StrEnum


class WarpScheduler(StrEnum):
    weighted_round_robin = "weighted_round_robin"
    loose_round_robin = "loose_round_robin"
    greedy_then_oldest = "greedy_then_oldest"
    greedy_then_youngest = "greedy_then_youngest"  # Huerta et al., MICRO 2025, section 5.1.2: as found on Ampere
    random = "random"


class Dependence(StrEnum):
    """What a warp's instruction waits for."""

    sequence = "sequence"  # all loads of the sequence before it (bulk scheduling: Baghsorkhi 2012, section 2)
    scoreboard = "scoreboard"  # the loads whose values it uses: issue in order, a stall at the first use


class Divergence(StrEnum):
    """How a warp issues divergent paths."""

    in_turn = "in_turn"  # one to its end, then the other: as measured on Ampere and later (arXiv 2607.23402)
    interleaved = "interleaved"  # each with a program counter of its own (NVIDIA Tesla V100 whitepaper WP-08608-001)


class Replacement(StrEnum):
    lru = "lru"
    fifo = "fifo"
    random = "random"
    tree_plru = "tree_plru"
    srrip = "srrip"  # static re-reference interval prediction, two bits, hit priority (Jaleel et al., ISCA 2010)
    brrip = "brrip"  # bimodal: most new lines are the next to go (the same)


class IndexHash(StrEnum):
    """How a line's number becomes a set (or slice, or channel) number."""

    modulo = "modulo"
    xor_fold = "xor_fold"
    rotated = "rotated"  # the remainder, moved on by a fold of the quotient: any count, and no stride camps
    fermi_l1 = "fermi_l1"
    polynomial = "polynomial"  # remainder of the number's bits by an irreducible polynomial (Rau, ISCA 1991)


OF_BITS = (IndexHash.xor_fold, IndexHash.polynomial)  # to as many places as a number of bits tells apart


class L1Serves(StrEnum):
    """Which loads L1 serves."""

    all = "all"
    texture = "texture"  # those of read-only data alone, as the cache of Kepler's texture units


class ReservedFrom(StrEnum):
    """What an L1 gives up for the bytes that shared memory takes of it."""

    ways = "ways"  # ways, of the last sets first
    sets = "sets"  # half of the sets, as long as what is left fits the ways of the other half; the rest from ways


class L1WritePolicy(StrEnum):
    """What a store does in L1; it is always sent to L2 as well, except under ``write_back``."""

    write_through = "write_through"  # updates a line that is present, allocates nothing
    write_allocate = "write_allocate"  # the same, and allocates a line that is absent, without fetching
    write_evict = "write_evict"  # invalidates a line that is present, allocates nothing
    write_back = "write_back"  # allocates without fetching (sector mask), writes dirty sectors back on eviction


class FullSet(StrEnum):
    """What a miss does in an L1 set whose ways all wait for data."""

    wait = "wait"  # until data arrive, and the load-store unit with it
    bypass = "bypass"  # goes to L2 without a way, and leaves no line

    @classmethod
    def _missing_(cls, value: object) -> FullSet | None:
        return cls.bypass if value == "pass_by" else None  # an older name


class WriteHit(StrEnum):
    """Which valid L2 sectors count a store as a hit."""

    any = "any"
    write_activated = "write_activated"  # only sectors that a store brought in or wrote before (Baghsorkhi 2012, 2.1)


class WriteMiss(StrEnum):
    """What a store that misses in L2 does."""

    fetch = "fetch"  # allocates, reads the sector from memory, leaves it dirty
    validate = "validate"  # allocates without reading; the sector is valid and dirty at once
    update_memory = "update_memory"  # writes memory, reads the sector in, leaves it clean (Baghsorkhi 2012, 2.1)
    no_allocate = "no_allocate"  # goes to memory


class Inclusion(StrEnum):
    inclusive = "inclusive"  # an L2 eviction invalidates the copies in every L1
    non_inclusive = "non_inclusive"


class DramPolicy(StrEnum):
    fcfs = "fcfs"
    fr_fcfs = "fr_fcfs"


class WriteTurns(StrEnum):
    """When a DRAM channel serves writes relative to reads."""

    alone = "alone"  # in turns: without a turn, no row is opened and no data moves
    # by turns, but a bank serves the request it has opened a row for, whoever has the turn (GPGPU-Sim's dram.cc; Luo et
    # al., CAL 2023: Ramulator 2); and writes that find no read waiting begin a drain, which lasts until write_low when
    # reads come (Ramulator 2's generic controller alone)
    finish_opened = "finish_opened"
    # in batches: all that are held join the reads, and are scheduled with them (Li et al., CAL 2020: DRAMsim3)
    with_reads = "with_reads"


class RowPolicy(StrEnum):
    """How long a DRAM bank keeps a row open."""

    open_page = "open_page"  # until another row of the bank is wanted, or a refresh
    closed_page = "closed_page"  # until no request that the scheduler sees goes to it (auto-precharge)
