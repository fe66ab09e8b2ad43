"""DRAM: every constraint of the timing table at its edge, bandwidth and row conflicts as the table gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from machines import instruction

from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.codes import FETCH, WRITE_BACK
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.dram.state import ACTIVATE, READ
from memsim.hierarchy.draws import draws
from memsim.hierarchy.machine import build
from memsim.hierarchy.main_memory import ISOLATED_REQUEST, IsolatedDram
from memsim.hierarchy.system import System
from memsim.montecarlo.load_loops import one_load
from memsim.reference.dram import distances
from memsim.trace.schema import OpKind

NAMES = dict(enumerate(("precharge", "activate", "read", "write", "refresh")))
# Far apart, so that whichever constraint a test makes long is the one that binds.
LOOSE = dict(cl=1, cwl=1, burst=1, ccd=1, rcd=1, rp=1, ras=1, rrd=1, faw=1, rtp=1, wr=1, wtr=1, rtw=1)
ROW = 1024  # bytes; one channel, four banks: line 8 r + i of 128 bytes lies in bank r % 4, row r // 4


def commands(gpu: GPU, accesses: Sequence[tuple[OpKind, int, int]], mask: int = 1) -> list[tuple[int, str, int, int]]:
    """(clock, name, bank, row) of what (kind, bank, row) accesses of one instruction each make DRAM do.

    `mask`: the sectors of a line that each of them wants.
    """
    seen: dict[tuple[int, int], int] = {}
    flow, addresses = [], []
    for kind, bank, row in accesses:
        at = seen[bank, row] = seen.get((bank, row), -1) + 1  # every access is to a line of its own
        addresses.append((row * gpu.dram.banks + bank) * (ROW // 128) + at)
        flow.append(instruction([(len(addresses) - 1, mask)], kind, sequence=False))
    system = System(machines.one_warp(*flow, addresses=addresses), gpu, 1, np.random.SeedSequence(0), commands=10_000)
    system.run()
    channels = system.machine.channels
    return [(clock, NAMES[n], bank, r) for clock, n, bank, _, r in channels.commands[: channels.logged[0]].tolist()]


def one_channel(groups: int | None = None, **timing: int) -> GPU:
    """A machine whose stores go to memory one by one and whose requests wait for nothing but DRAM."""
    fields = {f"dram__timing__{name}": value for name, value in (LOOSE | timing).items()}
    return machines.gpu(
        l1__size_bytes=1 << 16, l2__size_bytes=1 << 20, l2__write_miss="no_allocate", l1__write_policy="write_evict",
        dram__interleave_bytes=ROW, dram__write_high=1, dram__write_low=0, dram__policy="fcfs",
        dram__bank_groups=groups, **fields,
    )  # fmt: skip


LOAD, STORE = OpKind.load, OpKind.store
# constraint, accesses, (which command, of which it is the bound), least distance given the constraint's value of 50
EDGES = [
    ("rcd", [(LOAD, 0, 0)], ("activate", 0), ("read", 0), 50),
    ("rcd", [(STORE, 0, 0)], ("activate", 0), ("write", 0), 50),
    ("ras", [(LOAD, 0, 0), (LOAD, 0, 1)], ("activate", 0), ("precharge", 0), 50),
    ("rp", [(LOAD, 0, 0), (LOAD, 0, 1)], ("precharge", 0), ("activate", 1), 50),
    ("rtp", [(LOAD, 0, 0), (LOAD, 0, 1)], ("read", 0), ("precharge", 0), 50),
    ("wr", [(STORE, 0, 0), (STORE, 0, 1)], ("write", 0), ("precharge", 0), 52),
    ("rrd", [(LOAD, 0, 0), (LOAD, 1, 0)], ("activate", 0), ("activate", 1), 50),
    ("ccd", [(LOAD, 0, 0), (LOAD, 0, 0)], ("read", 0), ("read", 1), 50),
    ("ccd", [(STORE, 0, 0), (STORE, 0, 0)], ("write", 0), ("write", 1), 50),
    ("burst", [(LOAD, 0, 0), (LOAD, 0, 0)], ("read", 0), ("read", 1), 50),
    ("burst", [(STORE, 0, 0), (STORE, 0, 0)], ("write", 0), ("write", 1), 50),
    ("wtr", [(STORE, 0, 0), (LOAD, 0, 0)], ("write", 0), ("read", 0), 52),
    ("cwl", [(STORE, 0, 0), (LOAD, 0, 0)], ("write", 0), ("read", 0), 52),
    ("rtw", [(LOAD, 0, 0), (STORE, 0, 0)], ("read", 0), ("write", 0), 50),
    ("cl", [(LOAD, 0, 0), (STORE, 0, 0)], ("read", 0), ("write", 0), 50),
    ("faw", [(LOAD, b, 0) for b in range(4)] + [(LOAD, 0, 1)], ("activate", 0), ("activate", 4), 50),
]


@pytest.mark.parametrize(("constraint", "accesses", "before", "after", "distance"), EDGES)
def test_a_command_comes_exactly_when_its_constraint_allows(constraint, accesses, before, after, distance):
    gpu = one_channel(**{constraint: 50})
    if accesses[0][0] is LOAD:
        gpu = override(gpu, {"dram.write_high": 32})  # else a store would not wait for the load before it
    log = commands(gpu, accesses)
    clocks = {name: [c for c, n, _, _ in log if n == name] for name in NAMES.values()}
    assert clocks[after[0]][after[1]] - clocks[before[0]][before[1]] == distance


# What binds within a bank group alone: banks 0 and 2 share one of two, 0 and 1 do not.
GROUP_EDGES = [
    ("ccd_l", [(LOAD, 0, 0), (LOAD, 2, 0)], "read", "read", 50, 1),
    ("ccd_l", [(STORE, 0, 0), (STORE, 2, 0)], "write", "write", 50, 1),
    ("rrd_l", [(LOAD, 0, 0), (LOAD, 2, 0)], "activate", "activate", 50, 1),
    ("wtr_l", [(STORE, 0, 0), (LOAD, 2, 0)], "write", "read", 52, 3),
]


@pytest.mark.parametrize(("constraint", "accesses", "before", "after", "distance", "other"), GROUP_EDGES)
def test_bank_group_keeps_only_its_own_distance(constraint, accesses, before, after, distance, other):
    def least(second_bank: int) -> int:
        (kind, bank, row), (kind_2, _, row_2) = accesses
        log = commands(one_channel(2, **{constraint: 50}), [(kind, bank, row), (kind_2, second_bank, row_2)])
        clocks = {(name, bank): clock for clock, name, bank, _ in log}
        return clocks[after, second_bank] - clocks[before, bank]

    assert least(accesses[1][1]) == distance
    assert least(1) == other


@pytest.mark.parametrize("constraint", ["ras", "rtp"])
def test_closed_page_is_precharged_once_nobody_waits(constraint):
    gpu = override(one_channel(**{constraint: 50}), {"dram.row_policy": "closed_page", "dram.write_high": 32})
    log = commands(gpu, [(LOAD, 0, 0), (LOAD, 0, 0), (LOAD, 0, 1)])
    assert [name for _, name, _, _ in log] == ["activate", "read", "read", "precharge", "activate", "read", "precharge"]
    clocks = [clock for clock, _, _, _ in log]
    since = {"ras": clocks[0], "rtp": clocks[2]}[constraint]
    assert clocks[3] - since == 50 and clocks[4] - clocks[3] == LOOSE["rp"]


@pytest.mark.parametrize(("policy", "waits_for_precharge"), [("open_page", True), ("closed_page", False)])
def test_row_conflict_after_pause_finds_bank_closed(policy, waits_for_precharge):
    """The second load waits for the first, so the bank is idle long enough to close its row."""
    gpu = override(one_channel(rp=50), {"dram.row_policy": policy})
    near, far = 0, gpu.dram.banks * ROW // 128  # lines of bank 0, rows 0 and 1
    flow = [instruction([(0, 1)]), instruction([(1, 1)], op=1)]
    trial = System(machines.one_warp(*flow, addresses=[near, far]), gpu, 1, np.random.SeedSequence(0)).run()
    slower = round(50 * gpu.sm.clock_mhz / gpu.dram.clock_mhz) if waits_for_precharge else 0
    assert abs(int(trial.latency_sum[1] - trial.latency_sum[0]) - slower) <= 2


def test_alternating_bank_groups_exceed_bandwidth_of_one():
    """Four sectors of two banks, ccd 2 and ccd_l 4: 8 every 2 clocks where the banks are of two groups."""

    def clocks(bank: int) -> int:
        gpu = override(one_channel(2, burst=2, ccd=2, ccd_l=4, cl=50, rcd=20), {"dram.policy": "fr_fcfs"})
        lines = [(0, 15), (8 * bank, 15)]
        system = System(machines.one_warp(instruction(lines)), gpu, 1, np.random.SeedSequence(0), commands=100)
        system.run()
        channels = system.machine.channels
        log = channels.commands.view(np.ndarray)
        reads = np.sort(log["time"][log["name"] == READ])
        assert len(reads) == 8
        return int(reads[-1] - reads[0])

    assert clocks(2) == 7 * 4
    assert clocks(1) == 4 + 7 * 2  # L2 asks for the second line four cycles after the first


REFI, RFC = 1000, 200


def test_refresh_closes_all_rows_and_occupies_channel():
    gpu = override(one_channel(refi=REFI, rfc=RFC, rp=10), {"l1.mshrs": 2})
    log = commands(gpu, [(LOAD, k % 4, k // 4) for k in range(200)])
    refreshes = [clock for clock, name, _, _ in log if name == "refresh"]
    assert len(refreshes) >= 2
    for number, clock in enumerate(refreshes):
        due = (number + 1) * REFI
        assert due <= clock <= due + 60  # a row that was just opened closes first
        after = min(c for c, name, _, _ in log if name == "activate" and c > clock)
        assert after >= clock + RFC
    assert min(c - r for r in refreshes for c, name, _, _ in log if name == "activate" and c > r) == RFC
    assert not illegal(gpu.dram, log)


def test_refresh_of_idle_channel_happens_on_time():
    """A load that comes long after a refresh waits for none; one that comes within one waits for its end."""
    gpu = one_channel(refi=REFI, rfc=RFC)

    def activate(gap: int) -> int:
        tx = machines.one_warp(instruction([(0, 1)], compute_run=gap))
        system = System(tx, override(gpu, {"sm.instruction_cycles": 1}), 1, np.random.SeedSequence(0), commands=100)
        system.run()
        log = system.machine.channels.commands.view(np.ndarray)
        return int(log["time"][log["name"] == ACTIVATE][0])

    came = activate(0)
    assert activate(REFI - 100) == came + REFI - 100
    assert activate(REFI + 50) == REFI + RFC
    assert activate(5 * REFI + 700) == came + 5 * REFI + 700


def illegal(dram, log: list[tuple[int, str, int, int]]) -> list[str]:
    """Every breach of the table in the log of one channel, and every command to a row that is not open."""
    found, timing, groups = [], dram.timing, dram.bank_groups or 1
    for (t0, a, bank_a, _), (t1, b, bank_b, _) in combinations(log, 2):
        together = groups > 1 and bank_a % groups == bank_b % groups
        least = max(distances(timing, a, b, bank_a == bank_b, together), default=None)
        found += [] if least is None or t1 - t0 >= least else [f"{a} {t0} {b} {t1}"]
    activates = sorted(clock for clock, name, _, _ in log if name == "activate")
    found += [f"activates {a} {b}" for a, b in zip(activates, activates[4:], strict=False) if b - a < timing.faw]
    rows: dict[int, int | None] = {}
    for _, name, bank, row in log:
        if name == "refresh":
            found += [f"refresh with open rows {rows}"] * any(row is not None for row in rows.values())
        elif name == "activate":
            found += [f"activate of open bank {bank}"] * (rows.get(bank) is not None)
            rows[bank] = row
        else:
            found += [f"{name} of row {row} in bank {bank}, open: {rows.get(bank)}"] * (rows.get(bank) != row)
            rows[bank] = None if name == "precharge" else row
    bursts = sorted(
        c + (timing.cl if name == "read" else timing.cwl) for c, name, _, _ in log if name in ("read", "write")
    )
    return found + [f"data at {a} and {b}" for a, b in zip(bursts, bursts[1:], strict=False) if b - a < timing.burst]


@pytest.mark.slow
@drawn(60)
@given(st.data())
def test_no_schedule_breaks_the_table(data):
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    system = System(tx, gpu, 2, np.random.SeedSequence(0), commands=10_000)
    system.run()
    channels = system.machine.channels
    log = channels.commands[: channels.logged[0]]
    for channel in range(gpu.dram.channels):
        mine = [(int(c), NAMES[n], b, r) for c, n, b, _, r in log[log["channel"] == channel].tolist()]
        assert not illegal(gpu.dram, mine)


def test_first_ready_serves_row_hits_first_unlike_fcfs():
    """Behind an access to another bank that keeps the channel busy until all have come."""
    rows = [0, 1, 0, 1, 0]
    accesses = [(LOAD, 1, 0)] + [(LOAD, 0, row) for row in rows]
    gpu = one_channel(burst=60)

    def served(policy: str) -> list[int]:
        log = commands(override(gpu, {"dram.policy": policy}), accesses)
        return [row for _, name, bank, row in log if name == "read" and bank == 0]

    assert served("fcfs") == rows
    assert served("fr_fcfs") == [0, 0, 0, 1, 1]


def test_writes_are_held_until_a_drain():
    gpu = override(one_channel(), {"dram.write_high": 3, "dram.write_low": 1, "dram.write_queue": 4})
    stores, loads = [(STORE, 0, 0)] * 3, [(LOAD, 1, 0)] * 4
    names = [n for _, n, _, _ in commands(gpu, [loads[0], *stores, *loads[1:]]) if n in ("read", "write")]
    first = names.index("write")
    assert names[first : first + 2] == ["write", "write"]  # from three held down to one
    assert names.count("read") == 4 and names.count("write") == 3


def alone(gpu: GPU, requests: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, str, int, int]]:
    """(clock, name, bank, row) of what requests (clock, writes, bank, row) make an idle channel do."""
    tx = one_load()
    machine = build(tx, gpu, draws(tx, gpu, 1, np.random.SeedSequence(0)), 1, commands=100)
    listed = np.zeros(len(requests), ISOLATED_REQUEST)
    for k, (clock, writes, bank, row) in enumerate(requests):
        listed[k] = (clock, row, 0, bank, WRITE_BACK if writes else FETCH, 1)
    IsolatedDram(machine, gpu).answer_times(listed)
    log = machine.channels.commands[: machine.channels.logged[0]]
    return [(clock, NAMES[n], bank, row) for clock, n, bank, _, row in log.tolist()]


def by_turns(turns: str, **timing: int) -> GPU:
    """A channel of which SMs and DRAM have one clock, whose writes go as `turns` says."""
    return override(one_channel(**timing), {
        "dram.policy": "fr_fcfs", "dram.write_turns": turns, "dram.write_queue": 4, "dram.write_high": 4,
        "dram.clock_mhz": 1000, "sm.clock_mhz": 1000,
    })  # fmt: skip


@pytest.mark.parametrize(("turns", "rows"), [("alone", [5, 0, 5]), ("finish_opened", [5, 0]), ("with_reads", [5, 0])])
def test_row_opened_for_write_is_used_before_read(turns, rows):
    """A write finds the channel idle; before its row is open, a read of another row of the bank comes."""
    log = alone(by_turns(turns, rcd=50), [(0, 1, 2, 5), (10, 0, 2, 0)])
    assert [row for _, name, _, row in log if name == "activate"] == rows


def test_batch_of_writes_is_scheduled_with_reads():
    """Four writes of one bank become a batch while reads of another keep the channel: they go as they come."""
    reads, writes = [(k, 0, 0, 0) for k in range(8)], [(k, 1, 1, 0) for k in range(4)]
    requests = sorted(reads + writes)

    def order(turns: str) -> str:
        log = alone(by_turns(turns, burst=20), requests)
        return "".join(name[0] for _, name, _, _ in log if name in ("read", "write"))

    assert order("alone") == "rwwwwrrrrrrr"  # a drain, to its end
    assert order("with_reads") == "rrrrwwwwrrrr"


def test_row_opened_for_read_serves_writes_of_batch():
    """A write to another bank keeps reads off the channel; a read and then four writes go to one row."""
    requests = [(0, 1, 1, 0), (1, 0, 0, 5)] + [(1, 1, 0, 5)] * 4
    log = alone(by_turns("with_reads", wtr=200), requests)
    assert "".join(name[0] for _, name, _, _ in log if name in ("read", "write")) == "wwwwwr"


@pytest.mark.parametrize(("turns", "order"), [("alone", "wrww"), ("finish_opened", "wwwr")])
def test_drain_without_reads_continues_when_one_comes(turns, order):
    """Three writes, fewer than the high mark, find the channel idle; a read of another bank comes behind the first."""
    log = alone(by_turns(turns, burst=20), [(0, 1, 1, 0), (0, 1, 1, 0), (0, 1, 1, 0), (10, 0, 0, 0)])
    assert "".join(name[0] for _, name, _, _ in log if name in ("read", "write")) == order


@pytest.mark.parametrize("turns", ["alone", "finish_opened"])
def test_refresh_waits_for_opened_rows_where_configured(turns):
    log = alone(by_turns(turns, rcd=50, refi=REFI, rfc=RFC), [(REFI - 30, 0, 0, 0)])
    names = [name for _, name, _, _ in log if name != "precharge"]
    used_first = ["activate", "read", "refresh"]
    assert names[:3] == (used_first if turns == "finish_opened" else ["activate", "refresh", "activate"])


def test_no_row_is_opened_shortly_before_refresh():
    """The precharge would still come before the refresh, its activate not."""
    gpu = by_turns("alone", rp=50, refi=REFI, rfc=RFC)
    log = alone(gpu, [(REFI - 100, 0, 0, 0), (REFI - 40, 0, 0, 1)])
    (refresh,) = (clock for clock, name, _, _ in log if name == "refresh")
    assert refresh == REFI + 50  # behind the precharge of all banks, which comes when it is due
    assert [clock for clock, name, _, _ in log if name == "activate"] == [REFI - 100, refresh + RFC]


def test_closed_bank_opens_until_refresh_is_due():
    """A bank that has to precharge gives way to it, however much older its request is."""
    gpu = by_turns("alone", rp=50, refi=REFI, rfc=RFC)
    log = alone(gpu, [(REFI - 100, 0, 0, 0), (REFI - 40, 0, 0, 1), (REFI - 20, 0, 1, 0)])
    (refresh,) = (clock for clock, name, _, _ in log if name == "refresh")
    opened = [(clock, bank) for clock, name, bank, _ in log if name == "activate"]
    assert opened == [(REFI - 100, 0), (REFI - 20, 1), (refresh + RFC, 0)]


def test_refreshes_that_are_late_come_one_behind_other():
    """Four banks have opened rows whose bursts outlast two refreshes; a fifth request has waited since the start, as
    its bank could precharge, but not activate, before the first was due."""
    gpu = by_turns("finish_opened", burst=300, ras=390, rp=20, refi=400, rfc=50)
    log = alone(gpu, [(0, 0, bank, 0) for bank in range(4)] + [(0, 0, 0, 1)])
    late = [clock for clock, name, _, _ in log if name == "refresh"][:2]
    times = {(name, bank, row): clock for clock, name, bank, row in log}
    assert late[0] >= times["read", 3, 0] > 800 and late[1] == late[0] + 50
    assert times["activate", 0, 1] == late[1] + 50 < times["read", 0, 1]


@pytest.mark.parametrize(("sectors", "drained"), [(8, False), (4, False), (2, False), (1, True)])
def test_entry_of_write_queue_holds_so_many_sectors(sectors, drained):
    """One store of four sectors reaches a mark of four entries only if it takes four; else it waits for all loads."""
    slow = one_channel(burst=60)  # all have come before the first is done
    gpu = override(slow, {"dram.write_high": 4, "dram.write_queue": 8, "dram.entry_sectors": sectors})
    names = [n for _, n, _, _ in commands(gpu, [(LOAD, 1, 0), (STORE, 0, 0), *[(LOAD, 1, 0)] * 4], mask=15)]
    order = [name for name in names if name in ("read", "write")]
    assert order.count("read") == 20 and order.count("write") == 4
    assert (order[-4:] != ["write"] * 4) == drained


def stream(gpu: GPU, lines: int, addresses: Sequence[int] | None = None, per: int = 8) -> tuple[System, int]:
    """One warp an SM loads whole lines, `per` an instruction, all in one sequence: (finished system, cycles)."""
    whole = (1 << gpu.l1.line_bytes // 32) - 1
    n = gpu.sm.count
    blocks = []
    for sm in range(n):
        mine = range(sm, lines, n)
        groups = [mine[k : k + per] for k in range(0, len(mine), per)]
        blocks.append([[instruction([(line, whole) for line in group], sequence=False) for group in groups]])
    system = System(machines.trace(blocks, addresses or range(lines)), gpu, 1, np.random.SeedSequence(0))
    return system, system.run().cycles


def fast(gpu: GPU) -> GPU:
    """The same DRAM behind SMs, TLBs and an L2 that never limit it."""
    return override(gpu, {
        "stochastic.start_alignment": False, "sm.lookup_cycles": 1, "sm.reply_bytes_per_cycle": 4096,
        "l1.mshrs": 60000, "l2.mshrs": 60000, "sm.max_stores": 60000,
        "translation.enabled": False,
    })  # fmt: skip


@pytest.mark.parametrize("name", ["tesla-c2050", "gtx480", "tesla-v100"])
def test_a_stream_reaches_the_peak_bandwidth(name):
    # Far more under way would leave SMs rows apart: a row that nobody wants closes, and opens again for stragglers.
    gpu = override(fast(load_gpu(name)), {"l1.mshrs": load_gpu(name).l1.mshrs})
    t = gpu.dram.timing
    peak = gpu.dram.channels * 32 / max(t.burst, t.ccd) * gpu.dram.clock_mhz / gpu.sm.clock_mhz  # bytes per SM cycle

    def cycles(lines: int) -> int:
        return stream(gpu, lines)[1]

    few, many = 20_000, 60_000
    bandwidth = (many - few) * gpu.l1.line_bytes / (cycles(many) - cycles(few))  # without start and end
    assert bandwidth == pytest.approx(peak, rel=0.02)


def test_all_bank_refreshes_cost_bandwidth_and_staggered_none():
    """HBM2 of JESD235: 260 ns every 3.9 microseconds, and less than half as much again until rows are open again; twice
    as long between column commands to one group of four."""
    plain = override(fast(load_gpu("tesla-v100")), {"l1.mshrs": load_gpu("tesla-v100").l1.mshrs})
    clock = plain.dram.clock_mhz / 1e3
    refi, rfc = round(3900 * clock), round(260 * clock)

    def cycles(settings: dict[str, int]) -> int:
        gpu = override(plain, settings)
        return stream(gpu, 60_000)[1] - stream(gpu, 20_000)[1]

    refreshed = cycles({"dram.timing.refi": refi, "dram.timing.rfc": rfc})
    grouped = cycles({"dram.bank_groups": 4, "dram.timing.ccd_l": 2 * plain.dram.timing.ccd})
    usual = cycles({})
    assert rfc / refi <= 1 - usual / refreshed < 1.5 * rfc / refi
    assert usual / grouped == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("name", ["tesla-c2050", "tesla-v100"])
@pytest.mark.parametrize("banks", [1, 2])
def test_row_conflicts_cost_what_the_table_gives(name, banks):
    """Every access opens a row: each bank gives one a row cycle, tRC = max(ras, rcd + last column + rtp) + rp."""
    gpu = override(fast(load_gpu(name)), {
        "dram.channels": 1, "dram.channel_hash": "modulo", "dram.bank_hash": "modulo", "sm.count": 1,
        "l2.slices": 1, "l2.slice_hash": "modulo", "l2.size_bytes": 1 << 20, "l2.ways": 1, "l2.set_hash": "modulo",
        "dram.policy": "fcfs",
    })  # fmt: skip
    per_bank = gpu.dram.row_bytes // gpu.l1.line_bytes
    addresses = [(row * gpu.dram.banks + bank) * per_bank for row in range(400) for bank in range(banks)]

    def cycles(lines: int) -> tuple[int, System]:
        system, cycles = stream(gpu, lines, addresses[:lines])
        return cycles, system

    (less, _), (more, system) = cycles(200 * banks), cycles(400 * banks)
    misses = system.machine.counters[Level.dram, :, Event.read_miss, CountUnit.transactions].sum()
    assert misses == 400 * banks
    t, sectors = gpu.dram.timing, gpu.l1.line_bytes // 32
    row_cycle = max(t.ras, t.rcd + (sectors - 1) * max(t.burst, t.ccd) + t.rtp) + t.rp
    clocks = (more - less) * gpu.dram.clock_mhz / gpu.sm.clock_mhz
    assert clocks / 200 == pytest.approx(row_cycle, abs=0.02)
