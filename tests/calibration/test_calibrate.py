"""Calibration finds what a GPU was given: simulated ones, by the CUDA program's protocol, and in its own accesses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import machines
import numpy as np
import pytest
from budget import drawn
from cache_pairs import two_caches
from compilers import needs_nvcc
from hypothesis import Phase, given, reject
from hypothesis import strategies as st
from typer.testing import CliRunner

import memsim
from memsim.calibration import set_index
from memsim.calibration.calibrate import calibrate_gpu
from memsim.calibration.discover import included_cache, nearest_cache
from memsim.calibration.dram_rows import rows
from memsim.calibration.known import Calibration
from memsim.calibration.measure import measure
from memsim.calibration.probed_gpu import SOURCE, ProbedGPU, compiled, segments
from memsim.calibration.simulated import SimulatedDevice
from memsim.calibration.throughput import take_clock, take_rates
from memsim.calibration.walks import WARPS
from memsim.cli import app
from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu, override, provenance
from memsim.hierarchy.mapping import tables
from memsim.support.errors import InputError
from memsim.trace.schema import EXPLICIT, NO_OP, OpKind

no_gpu = pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="this machine has a GPU")
FOUND = (
    "l1.hit_latency_cycles", "l1.line_bytes", "l1.sector_bytes", "l1.size_bytes", "l1.ways", "l2.hit_latency_cycles",
    "l2.line_bytes", "l2.fetch_bytes", "l2.ways", "l2.size_bytes",
)  # fmt: skip


def value(gpu: GPU, name: str):
    section, _, of = name.partition(".")
    return getattr(getattr(gpu, section), of)


def differing(given: GPU, found: GPU) -> dict:
    """Of what walks can find."""
    pairs = {name: (value(given, name), value(found, name)) for name in FOUND}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@pytest.mark.slow
@drawn(8)
@given(two_caches(), st.integers(0, 99))
def test_parameters_of_random_gpus_are_found(tmp_path_factory, gpu, seed):
    """Beginning from a preset that is unlike all of them."""
    unlike = override(gpu, {
        "l1.hit_latency_cycles": 5, "l2.hit_latency_cycles": 900, "dram.latency_cycles": 7, "l1.set_hash": "rotated",
        "l2.slice_hash": "rotated", "l2.set_hash": "rotated", "dram.row_bytes": 4096,
    })  # fmt: skip
    base = tmp_path_factory.mktemp("base") / "base.toml"
    base.write_text(as_toml(unlike))
    known = Calibration(str(base), "test")
    measure(SimulatedDevice(gpu, seed), known, lambda what: None)
    if any(left.startswith("L1: every list tried") for left in known.left):
        reject()  # an inclusive L2 that is small in ways
    assert not known.left and differing(gpu, known.gpu) == {}
    assert known.gpu.dram.row_bytes == gpu.dram.row_bytes
    assert abs(known.gpu.dram.latency_cycles - gpu.dram.latency_cycles) <= 2
    assert [together(gpu, level) for level in (0, 1)] == [together(known.gpu, level) for level in (0, 1)]


def together(gpu: GPU, level: int) -> list[list[int]]:
    """Which of some lines share a set of L1 (level 0) or L2, whatever their numbers are."""
    mapping, of_l2 = tables(np.arange(2048) * gpu.l1.line_bytes, gpu)
    sets = of_l2 if level else mapping["l1_set"]
    return sorted(np.flatnonzero(sets == one).tolist() for one in np.unique(sets))


RATES = ("l2.sector_cycles", "l2.partial_store_cycles", "sm.reply_bytes_per_cycle")


@st.composite
def with_rates(draw) -> GPU:
    """Slices, SMs and a memory that carry what they like, each the limit of one stream."""

    def of(*values):
        return draw(st.sampled_from(values))

    sectors, sms = of(1, 2, 3), of(4, 6)
    fast = (1240.0,) if sms == 6 else ()  # half of four SMs would not fill such a slice
    return machines.gpu(
        sm__count=sms, sm__reply_bytes_per_cycle=of(16, 32), l1__mshrs=512, sm__max_stores=256,
        l1__set_hash=of("modulo", "xor_fold"), l2__slices=of(8, 16), l2__size_bytes=1 << 17,
        l2__clock_mhz=of(None, 870.0, *fast),
        l2__sector_cycles=sectors, l2__partial_store_cycles=sectors + of(0, 1, 4), l2__replacement=of("lru", "random"),
        dram__clock_mhz=of(400.0, 700.0, 1100.0), dram__latency_cycles=of(20, 60), dram__channels=of(1, 2),
    )  # fmt: skip


@pytest.mark.slow
@drawn(10, phases=[Phase.generate])
@given(with_rates(), st.integers(0, 99))
def test_rates_are_found(tmp_path_factory, gpu, seed):
    """Of loads, atomics and memory, from a base that is wrong in all of them."""
    wrong = {"l2.sector_cycles": 7, "l2.partial_store_cycles": None, "sm.reply_bytes_per_cycle": 8}
    base = tmp_path_factory.mktemp("base") / "base.toml"
    base.write_text(as_toml(override(gpu, wrong | {"dram.clock_mhz": 550.0})))
    known = Calibration(str(base), "test")
    device = SimulatedDevice(gpu, seed).without_l1()
    take_rates(known, device)
    take_clock(known)
    assert not known.left
    assert [value(known.gpu, name) for name in RATES] == [value(gpu, name) for name in RATES]
    assert known.gpu.dram.clock_mhz == pytest.approx(gpu.dram.clock_mhz, rel=0.04)


def test_hidden_or_driver_reported_limits_are_left(tmp_path):
    """One slice feeds one SM and no more; and a clock that the driver reported stays."""
    gpu = machines.gpu(sm__count=2, l2__slices=1, l2__sector_cycles=3, l2__size_bytes=1 << 17, dram__clock_mhz=300.0)
    base = tmp_path / "base.toml"
    base.write_text(as_toml(override(gpu, {"sm.reply_bytes_per_cycle": 4})))
    known = Calibration(str(base), "test")
    known.take({"dram.clock_mhz": 600.0}, "what the driver says", "documented")
    take_rates(known, SimulatedDevice(gpu).without_l1())
    known.take({"sm.reply_bytes_per_cycle": 32}, "known otherwise")
    assert not take_clock(known) and known.gpu.dram.clock_mhz == 600.0
    assert [left.split(":")[0] for left in known.left] == ["sm.reply_bytes_per_cycle", "dram.clock_mhz"]
    assert "as if it were 3" in known.left[1], known.left


@pytest.mark.slow
@drawn(10, phases=[Phase.generate])
@given(st.sampled_from([1, 3, 4]), st.sampled_from([256, 512]), st.sampled_from([1, 2, 4, 8]), st.data())
def test_rows_and_what_a_channel_holds_are_found(channels, stretch, stretches, data):
    """Whatever the hashes are; where a row is no longer than what a channel holds, nothing is reported."""
    hashes = data.draw(st.lists(st.sampled_from(["modulo", "rotated"]), min_size=2, max_size=2))
    row = stretch * stretches
    device = SimulatedDevice(machines.gpu(
        dram__channels=channels, dram__interleave_bytes=stretch, dram__row_bytes=row, dram__channel_hash=hashes[0],
        dram__bank_hash=hashes[1], l2__size_bytes=1 << 17,
    )).without_l1()  # fmt: skip
    if channels > 1 and stretches == 1:
        with pytest.raises(RuntimeError, match="which does not show the size of a row"):
            rows(device, 32, channels)
    else:
        held = {} if channels == 1 else {"dram.interleave_bytes": stretch}
        assert rows(device, 32, channels) == {"dram.row_bytes": row} | held


def test_row_size_stays_unknown_without_shorter_access():
    """As where a bank closes its row at once."""
    device = SimulatedDevice(machines.gpu(dram__row_policy="closed_page")).without_l1()
    with pytest.raises(RuntimeError, match="an open row saves .* cycles, too few to detect rows"):
        rows(device, 32, 1)


@pytest.mark.slow
def test_index_is_a_known_one_or_none():
    """Where the base has another number of slices, no function explains which lines of L2 compete."""
    size = {"l1__ways": 4, "l1__size_bytes": 8192, "l2__ways": 8, "l2__size_bytes": 65536, "l2__slices": 4}
    hashes = {"l1.set_hash": "polynomial", "l2.slice_hash": "rotated", "l2.set_hash": "xor_fold"}
    plain = machines.gpu(l1__line_bytes=128, l2__line_bytes=64, l2__fetch_bytes=32, **size)
    device = SimulatedDevice(override(plain, hashes))
    l2 = nearest_cache(device.without_l1())
    l1 = included_cache(device, l2)
    found = set_index.l1_index(device, plain, l1, l2) | set_index.l2_index(device.without_l1(), plain, l2)
    assert found == hashes
    with pytest.raises(RuntimeError, match="no known set index"):
        set_index.l2_index(device.without_l1(), override(plain, {"l2.slices": 2}), l2)


def as_toml(gpu: GPU) -> str:
    lines = []
    for section, values in gpu.model_dump(mode="json").items():
        if not isinstance(values, dict):
            lines.insert(0, f'{section} = "{values}"')
            continue
        inner = {name: of for name, of in values.items() if isinstance(of, dict)}
        lines += [f"[{section}]", *(f"{k} = {plain(v)}" for k, v in values.items() if v is not None and k not in inner)]
        for name, of in inner.items():
            lines += [f"[{section}.{name}]", *(f"{k} = {plain(v)}" for k, v in of.items() if v is not None)]
    return "\n".join(lines)


def plain(of) -> str:
    return str(of).lower() if isinstance(of, bool) else repr(of).replace("'", '"')


@pytest.fixture
def fake():
    """A board that is a simulated V100 behind the CUDA program's protocol."""
    command = [sys.executable, str(Path(__file__).parent / "fake_probe.py"), "tesla-v100"]
    environment = os.environ | {"PYTHONPATH": str(Path(memsim.__file__).parents[1])}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as probe:
        yield ProbedGPU(probe)
        probe.kill()


@pytest.mark.slow
def test_a_board_s_preset_is_what_it_is(fake):
    """From another GPU of its kind; latencies to the width of the program's bins."""
    reported: list[str] = []
    name, found = calibrate_gpu(fake, "quadro-gv100", "mine.csv", reported.append)
    probed, given = found.gpu, load_gpu("tesla-v100")
    assert name == "NVIDIA Fake tesla-v100" and not found.left and reported[:2] == ["L2", "L1"]
    assert (probed.sm.clock_mhz, probed.dram.clock_mhz, probed.l2.size_bytes) == (1380, 877, 393216)
    assert not differing(override(given, {"l2.size_bytes": 393216}), probed)
    assert probed.l2.clock_mhz == pytest.approx(given.l2.clock_mhz, rel=0.005)
    assert probed.l1.reserved_bytes == given.l1.reserved_bytes  # not the 64 KB that shared memory takes for the walk
    assert abs(probed.dram.latency_cycles - given.dram.latency_cycles) < 12
    assert probed.launch.idle_cycles == 3450  # 2500 ns
    statuses = {name: found.values[f"launch.{name}_cycles"].status for name in ("idle", "active")}
    assert probed.launch.active_cycles == 0 and statuses == {"idle": "measured", "active": "assumed"}
    source = found.values["l1.hit_latency_cycles"].source
    assert source.startswith("memsim calibrate, NVIDIA Fake tesla-v100, 20") and "mine.csv: one element" in source
    latencies = dict(found.curve)
    assert min(latencies.values()) == pytest.approx(28, abs=2) and max(latencies.values()) > 350


addresses = st.lists(st.integers(0, 1 << 30), min_size=1, max_size=40)
stretches = st.lists(
    st.tuples(st.integers(0, 1 << 20), st.integers(-64, 64), st.integers(1, 9)), min_size=1, max_size=9
)


@given(st.one_of(addresses, stretches.map(lambda s: [a + 2048 + d * k for a, d, n in s for k in range(n)])), st.data())
def test_segments_are_the_walk(walked, data):
    groups = data.draw(st.lists(st.integers(-1, 2), min_size=len(walked), max_size=len(walked)))
    order = segments(np.array(walked), np.array(groups))
    back = [(start + stride * k, group) for start, stride, count, group in order.tolist() for k in range(count)]
    assert back == list(zip(walked, groups, strict=True))


def test_many_groups_are_walked_few_at_time(fake):
    """A list walked twice; every access of the second lap in a group of its own."""
    list_ = np.arange(80) * 128
    found = fake.walk(np.tile(list_, 2), np.concatenate([np.zeros(80, int), 1 + np.arange(80)]))
    assert len(found) == 81 and found[0].counts.sum() == 80
    assert [(one.counts.sum(), one.all_within(28)) for one in found[1:]] == [(1, True)] * 80


def test_a_walk_that_is_too_irregular_is_refused(fake):
    scattered = np.random.default_rng(1).integers(0, 1 << 20, 5000) * 4
    with pytest.raises(RuntimeError, match="of which the GPU can be given 1024"):
        fake.walk(scattered, np.zeros(5000, int))


@pytest.mark.slow
@needs_nvcc
def test_the_program_compiles(tmp_path):
    assert compiled(tmp_path / "probe", "sm_80").stat().st_size > 0


@pytest.mark.slow
@needs_nvcc
@no_gpu
def test_without_a_gpu_it_ends_in_one_line(tmp_path):
    done = CliRunner().invoke(app, ["calibrate", "-o", str(tmp_path / "mine.toml")])
    assert done.exit_code == 2 and "memsim calibrate: " in done.output and done.output.count("\n") == 1, done.output
    assert not list(tmp_path.iterdir())


def test_a_program_that_dies_ends_in_one_line(tmp_path, monkeypatch):
    """It answers the first question, and reads no other."""
    reported = (
        "name Fake\ncapability 7.0\nsms 80\nthreads 2048\nwarp 32\nblocks 32\nregisters 65536\nshared_bytes 98304"
    )
    reported += "\nl2_bytes 6291456\nclock_khz 1380000\nmemory_khz 877000\nbus_bits 4096"
    reported += "\nwalk_shared_bytes 33028\nend"
    probe = tmp_path / "probe"
    probe.write_text(f"#!/bin/sh\nread command\nexec <&-\necho '{reported}'\n")
    probe.chmod(0o755)
    monkeypatch.setattr("memsim.calibration.probed_gpu.compiled", lambda out: probe)
    done = CliRunner().invoke(app, ["calibrate", "-o", str(tmp_path / "mine.toml")])
    assert done.exit_code == 2 and "memsim: memsim calibrate: GPU no longer responds" in done.output, done.output
    assert [file.name for file in tmp_path.iterdir()] == ["probe"]


@pytest.mark.parametrize("name", ["mine.csv", "mine"])
def test_a_preset_and_its_curve_are_two_files(tmp_path, name):
    done = CliRunner().invoke(app, ["calibrate", "-o", str(tmp_path / name)])
    assert done.exit_code == 2 and f"{name} does not end in .toml; give the name of" in done.output


def test_without_nvcc_it_ends_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="memsim calibrate: nvcc is not installed"):
        compiled(tmp_path / "probe")


@needs_nvcc
@pytest.mark.slow
def test_program_reads_walk_s_addresses_in_order(tmp_path):
    """Its kernel, run on the CPU as nvcc's PTX."""
    walked = np.concatenate([np.arange(6) * 128, [640, 4, 4096], 4096 - 32 * np.arange(5)])
    order = segments(walked, np.arange(len(walked)) % 3 - 1)
    rows = "".join(f"{' '.join(map(str, row))}\n" for row in order.tolist())
    commands = tmp_path / "commands.txt"
    commands.write_text(f"properties\nwalk 1 2 {len(order)} 8192\n{rows}")
    trace = memsim.capture(SOURCE, arguments=[str(commands)], kernel="walk", gpu="a100", out=tmp_path / "t.h5").trace
    (memory,) = (array for array in trace.arrays if array.bytes == 8192)
    read = [
        int(base)
        for chunk in trace.chunks()
        for op, base, stride in zip(chunk.op, chunk.base, chunk.stride, strict=True)
        if op != NO_OP and stride != EXPLICIT and memory.base <= base < memory.base + 8192
    ]
    assert (np.array(read) - memory.base).tolist() == walked.tolist()


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["load", "atomic", "reduction"])
def test_the_program_s_streams_go_round_their_ring(tmp_path, kind):
    """Its kernel, run on the CPU: every warp's units, and what is done there; ptxas orders independent loads."""
    units, accesses, blocks = 5, 9, 2
    commands = tmp_path / "commands.txt"
    commands.write_text(f"properties\nstream {kind} {blocks} {WARPS} {accesses} {units} 32 4\n")
    trace = memsim.capture(SOURCE, arguments=[str(commands)], kernel="stream", gpu="a100", out=tmp_path / "t.h5").trace
    (memory,) = (array for array in trace.arrays if array.bytes == units * 32)
    kinds = {op.kind for op in trace.ops if trace.arrays[op.array] == memory}
    addresses = [
        int(base) - memory.base
        for chunk in trace.chunks()
        for op, base in zip(chunk.op, chunk.base, strict=True)
        if op != NO_OP and trace.arrays[trace.ops[op].array] == memory
    ]
    warps = blocks * WARPS
    ring = (np.arange(warps)[:, None] + warps * np.arange(accesses)) % units
    found = np.reshape(addresses, (warps, accesses))
    if kind == "load":
        found, ring = np.sort(found), np.sort(ring)
    assert kinds == {OpKind[kind]} and np.array_equal(found, 32 * ring)


def test_a_preset_of_calibrate_is_a_preset(tmp_path):
    """Its values carry their own source, the others their base's."""
    from memsim.report.inputs import own_gpu_toml

    known = Calibration("tesla-v100", "memsim calibrate, board, day, mine.csv")
    known.take({"l1.hit_latency_cycles": 31}, "one element walked in circles")
    known.take({"l2.line_bytes": 96, "l2.ways": 16}, "no line")
    (tmp_path / "mine.toml").write_text(own_gpu_toml("mine", "mine", known.base, known.values))
    found = provenance(tmp_path / "mine.toml")["l1.hit_latency_cycles"]
    assert (found.value, found.status) == (31, "measured") and found.source.endswith("one element walked in circles")
    assert len(known.left) == 1 and known.left[0].startswith("l2.line_bytes, l2.ways: no line: ")
    assert load_gpu(tmp_path / "mine.toml").l2 == load_gpu("tesla-v100").l2
