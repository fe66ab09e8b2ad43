"""Presets: every number has its source, and the values are those published; GPU files inherit, mix and fail clearly."""

from __future__ import annotations

import tomllib

import pytest

from memsim.gpu import config
from memsim.gpu.choices import Inclusion, IndexHash, L1WritePolicy, Replacement, WriteHit, WriteMiss
from memsim.gpu.components import absent_sections
from memsim.gpu.presets import STATUSES, load_gpu, names, provenance
from memsim.support import library
from memsim.support.errors import InputError

PLAIN = {"name", "inherit"}  # what needs no source


def leaves(table: dict, prefix: str = ""):
    for name, value in table.items():
        if isinstance(value, dict) and "value" not in value:
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


@pytest.mark.parametrize("path", sorted(library.folder("configs").glob("*.toml")), ids=lambda path: path.stem)
def test_every_number_has_a_source_and_a_status(path):
    for field, entry in leaves(tomllib.loads(path.read_text())):
        if field not in PLAIN:
            assert set(entry) - {"clock_mhz"} == {"value", "source", "status"}, field
            assert len(entry["source"]) > 8 and entry["status"] in STATUSES[:-1], field


@pytest.mark.parametrize("name", names())
def test_provenance_covers_every_field(name):
    known = provenance(name)
    gpu = load_gpu(name).model_dump(mode="json")
    assert list(known) == list(config.fields())
    for field, entry in known.items():
        value = gpu
        for part in field.split("."):
            value = value[part]
        assert entry.unit == "ns" or entry.value == value, field
        assert entry.status in STATUSES and entry.source, field
        section = field.split(".")[0]
        optional = value is None or section in ("name", "stochastic", "mwp_cwp")
        optional |= section in absent_sections(gpu)
        assert optional or entry.source != "memsim's default", field


def test_tesla_c2050_is_the_paper_s():
    """Baghsorkhi et al., PPoPP 2012, section 2.1."""
    gpu = load_gpu("tesla-c2050")
    assert gpu.sm.count == 14
    assert (gpu.l1.size_bytes, gpu.l1.line_bytes, gpu.l1.ways) == (16 * 1024, 128, 64)
    assert (gpu.l2.size_bytes, gpu.l2.line_bytes, gpu.l2.ways) == (768 * 1024, 32, 64)
    assert gpu.l1.sector_bytes == 4 * gpu.l2.line_bytes  # a miss accesses four L2 blocks
    assert gpu.l1.write_policy == L1WritePolicy.write_evict  # stores go straight to L2
    assert (gpu.l2.write_hit, gpu.l2.write_miss) == (WriteHit.write_activated, WriteMiss.update_memory)
    assert gpu.l2.inclusion == Inclusion.inclusive
    known = provenance("tesla-c2050")
    assert [(known[f].value, known[f].unit) for f in ("l1.hit_latency_cycles", "l2.hit_latency_cycles")] == [
        (90, "ns"), (250, "ns")
    ]  # fmt: skip


def test_gtx480_has_the_published_fermi_l1():
    """Mei and Chu, IEEE TPDS 2017; Nugteren et al., HPCA 2014."""
    l1 = load_gpu("gtx480").l1
    assert l1.size_bytes // (l1.ways * l1.line_bytes) == 32 and l1.ways == 4
    assert l1.set_hash == IndexHash.fermi_l1 and l1.replacement != Replacement.lru


@pytest.mark.parametrize(
    ("name", "sms", "l1", "l2", "partitions"),
    [("a100", 108, 192, 40, 2), ("h100", 132, 256, 50, 2), ("h200", 132, 256, 60, 2), ("gh200", 132, 256, 60, 2),
     ("rtx3080", 68, 128, 5, 1),
     ("rtx-a6000", 84, 128, 6, 1), ("a40", 84, 128, 6, 1), ("l40", 142, 128, 96, 1),
     ("rtx4090", 128, 128, 72, 1), ("tesla-k80", 13, 48, 1.5, 1),
     ("l40s", 142, 128, 96, 1), ("rtx2080ti", 68, 96, 5.5, 1), ("p100", 56, 24, 4, 1), ("b200", 148, 256, 126, 2),
     ("rtx5090", 170, 128, 96, 1)],
)  # fmt: skip
def test_boards_since_kepler(name, sms, l1, l2, partitions):
    """NVIDIA's data sheets: SMs, KB of L1 (with shared memory, from Volta on), MB and partitions of L2.

    The driver of an H200 states 60 MB of L2, its data sheet 50.
    """
    gpu = load_gpu(name)
    assert (gpu.sm.count, gpu.l1.size_bytes, gpu.l2.size_bytes) == (sms, l1 * 1024, l2 * 2**20)
    assert gpu.l2.partitions == partitions and (gpu.l2.partition_cycles > 0) == (partitions > 1)
    assert gpu.l1.serves_global == (name != "tesla-k80")  # Kepler's global loads bypass L1 by default


@pytest.mark.parametrize(
    ("name", "field", "cycles", "mhz", "then"),
    [("tesla-v100", "l2.hit_latency_cycles", 212, 1380, 1380),
     ("quadro-gv100", "l2.hit_latency_cycles", 218, 1417, 1380),
     ("rtx3080", "l2.hit_latency_cycles", 246, 1710, 1740), ("h200", "l2.partition_cycles", 168, 1980, 1980)],
)  # fmt: skip
def test_latencies_keep_their_time_at_another_clock(name, field, cycles, mhz, then):
    """Measured at one clock, they are no longer measured at another; what was measured at this clock is."""
    gpu, entry = load_gpu(name), provenance(name)[field]
    section, _, of = field.partition(".")
    assert (gpu.sm.clock_mhz, getattr(getattr(gpu, section), of), entry.value) == (mhz, cycles, cycles)
    if mhz == then:
        assert entry.status != "assumed" and "another clock" not in entry.source
    else:
        assert (
            entry.status == "assumed"
            and f"cycles at {then} MHz, taken to last as long at another clock" in entry.source
        )


def test_a_file_that_inherits_and_has_another_clock(tmp_path):
    """The latency follows, a second time too; a fitted one stays fitted, and what is at the SM's clock as it is."""
    text = """inherit = "tesla-c2050"
[l2]
hit_latency_cycles = { value = 300, source = "a board of mine", status = "measured", clock_mhz = 1000 }
[dram]
latency_cycles = { value = 100, source = "a board of mine", status = "fitted", clock_mhz = 1000 }
[l1]
hit_latency_cycles = { value = 80, source = "a board of mine", status = "measured" }
"""
    write(tmp_path / "base.toml", text)
    write(tmp_path / "quick.toml", 'inherit = "base"\n[sm]\nclock_mhz = 1500\n')
    known = provenance(tmp_path / "quick.toml")
    found = [known[f"{name}_cycles"] for name in ("l2.hit_latency", "dram.latency", "l1.hit_latency")]
    assert [(one.value, one.status) for one in found] == [(450, "assumed"), (150, "fitted"), (80, "measured")]
    assert load_gpu(tmp_path / "quick.toml").l2.hit_latency_cycles == 450
    assert load_gpu(tmp_path / "base.toml").l2.hit_latency_cycles == 345  # the C2050's 1150 MHz
    given = provenance(tmp_path / "quick.toml", {"sm.clock_mhz": 3000.0})["l2.hit_latency_cycles"]
    assert given.value == 450  # --set keeps cycles


def test_l2_slices_count_cycles_of_own_clock(tmp_path):
    """Another clock of the SMs leaves it as it is, and nanoseconds become cycles of L2's."""
    units = {name: provenance("h100")[f"l2.{name}"].unit for name in ("sector_cycles", "partial_store_cycles")}
    assert set(units.values()) == {"L2 cycles"}
    write(tmp_path / "mine.toml", 'inherit = "a100"\nl2.clock_mhz = 500\nl2.partial_store_ns = 20\n')
    write(tmp_path / "quick.toml", 'inherit = "mine"\nsm.clock_mhz = 2000\n')
    for name in ("mine", "quick"):
        assert load_gpu(tmp_path / f"{name}.toml").l2.partial_store_cycles == 10
    write(tmp_path / "none.toml", 'inherit = "tesla-k80"\nl2.partial_store_ns = 20\n')
    assert load_gpu(tmp_path / "none.toml").l2.partial_store_cycles == round(20 * 0.875), "none stated: the SMs' clock"


@pytest.mark.parametrize("name", ["rtx-a6000", "a40"])
def test_boards_of_one_chip_have_one_l2(name):
    """GA102's slices: as many as its memory controllers ask for, at one clock; sources name what A40's carries."""
    board, cut = load_gpu(name).l2, load_gpu("rtx3080").l2
    assert (board.clock_mhz, board.sector_cycles) == (cut.clock_mhz, cut.sector_cycles)
    assert board.slices * 10 == cut.slices * 12
    assert board.slices * 32 * board.clock_mhz / 1000 == pytest.approx(2500, rel=5e-3)  # GB/s, gpu-cache on an A40
    assert "1440" not in provenance(name)["l2.slices"].source + provenance("rtx3080")["l2.slices"].source


@pytest.mark.parametrize("name", ["tesla-v100", "quadro-gv100"])
def test_volta_boards(name):
    gpu = load_gpu(name)
    assert gpu.sm.count == 80 and gpu.l2.size_bytes == 6 << 20 and gpu.l2.slices == 64
    assert (gpu.l1.line_bytes, gpu.l1.sector_bytes, gpu.l2.line_bytes, gpu.l2.fetch_bytes) == (128, 32, 128, 64)


def test_volta_is_the_first_with_tensor_cores():
    """NVIDIA's whitepapers of Pascal, Volta and Turing: matrices of f16 from V100 on, of integers from Turing on."""
    pipes = {name: load_gpu(name).sm.pipes for name in ("p100", "tesla-v100", "quadro-gv100", "rtx2080ti")}
    f16, i8 = ([getattr(of, f"tensor_{kind}_macs") for of in pipes.values()] for kind in ("f16", "i8"))
    assert f16 == [None, 512, 512, 512] and i8 == [None, None, None, 1024]
    assert [of.tensor_cycles is None for of in pipes.values()] == [True, False, False, False]


# Board specifications (GB/s); measured idle latency (Andersch 2015 on GF106; Torres 2011 on the GTX 480), in SM cycles.
# That of a walk through all of memory, which finds other rows open, is what experiments/pointer_chase compares.
@pytest.mark.parametrize(
    ("name", "bandwidth", "idle"),
    [
        ("tesla-c2050", 144.0, 685), ("gtx480", 177.4, 506), ("tesla-v100", 898.0, None), ("quadro-gv100", 870.4, None),
        ("a100", 1935.4, None), ("h100", 3352.3, None), ("h200", 4800.0, None), ("gh200", 4022.8, None),
        ("rtx3080", 760.0, None), ("rtx-a6000", 768.0, None), ("rtx4090", 1008.0, None), ("tesla-k80", 240.5, None),
        ("l40s", 864.0, None), ("rtx2080ti", 616.0, None), ("p100", 732.2, None), ("b200", 8000.0, None),
        ("rtx5090", 1792.0, None), ("a40", 696.0, None), ("l40", 864.0, None),
        # Hong and Kim, ISCA 2009, tables 3 and 6
        ("geforce-8800gtx", 86.4, 420), ("quadro-fx5600", 76.8, 420), ("geforce-8800gt", 57.6, 420),
        ("geforce-gtx280", 141.7, 450), ("tesla-c1060", 102.4, 450),
    ],
)  # fmt: skip
def test_bandwidth_and_idle_latency(name, bandwidth, idle):
    gpu = load_gpu(name)
    dram, t = gpu.dram, gpu.dram.timing
    assert dram.channels * 32 / max(t.burst, t.ccd) * dram.clock_mhz / 1000 == pytest.approx(bandwidth, rel=1e-3)
    if idle:
        table = (t.rcd + t.cl + t.burst) * gpu.sm.clock_mhz / dram.clock_mhz
        assert gpu.l2.hit_latency_cycles + dram.latency_cycles + table == pytest.approx(idle, abs=1)


@pytest.mark.parametrize("name", names())
def test_timing_tables_are_consistent(name):
    """JEDEC: a row stays open at least until its first data; the bus turns around with two idle clocks."""
    t = load_gpu(name).dram.timing
    assert t.ras >= t.rcd + t.rtp and t.faw >= t.rrd and t.rtw == t.cl + t.burst + 2 - t.cwl


def write(path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_file_inherits_and_overrides(tmp_path):
    write(tmp_path / "base.toml", 'inherit = "tesla-c2050"\nname = "Base"\n[l1]\nways = 32\nhit_latency_cycles = 50\n')
    path = write(tmp_path / "mine.toml", 'inherit = "base.toml"\n[sm]\ncount = 4\n[l1]\nhit_latency_ns = 100\n')
    gpu = load_gpu(path)
    assert (gpu.name, gpu.sm.count, gpu.l1.ways, gpu.l1.hit_latency_cycles) == ("Base", 4, 32, 115)
    assert gpu.l2 == load_gpu("tesla-c2050").l2
    known = provenance(path, {"l1.mshrs": 8})
    assert (known["sm.count"].source, known["sm.count"].status) == ("mine.toml", "given")
    assert (known["l1.mshrs"].value, known["l1.mshrs"].source) == (8, "--set")
    assert known["l2.ways"] == provenance("tesla-c2050")["l2.ways"]


def test_what_another_chip_takes_over_is_assumed(tmp_path):
    """Unless it states it; a board with the same chip keeps what was measured."""
    text = 'inherit = "tesla-v100"\ncompute_capability = {capability}\n[l1]\nhit_latency_cycles = {{ value = 30, '
    text += 'source = "mine", status = "measured" }}\n'
    known = {}
    for capability in ('"7.0"', '"7.2"'):
        known[capability] = provenance(write(tmp_path / "mine.toml", text.format(capability=capability)))
    same, other = known.values()
    v100 = provenance("tesla-v100")
    assert {field: same[field] for field in same if field not in ("compute_capability", "l1.hit_latency_cycles")} == {
        field: v100[field] for field in v100 if field not in ("compute_capability", "l1.hit_latency_cycles")
    }
    assert (other["l1.hit_latency_cycles"].status, other["l2.line_bytes"].status) == ("measured", "assumed")
    assert other["l2.line_bytes"].source == f"{v100['l2.line_bytes'].source}; of tesla-v100, taken over"
    assert other["l2.line_bytes"].value == v100["l2.line_bytes"].value


@pytest.mark.parametrize("name", ["p100", "rtx2080ti", "b200", "rtx5090", "l40s", "rtx4090"])
def test_nothing_of_another_chip_is_measured(name):
    """What NVIDIA documents of every compute capability is, of their own."""
    known = provenance(name)
    taken = [entry for entry in known.values() if entry.source.endswith("taken over")]
    assert len(taken) > 20 and {entry.status for entry in taken} == {"assumed"}
    limits = ("warp_size", "max_threads", "max_warps", "registers", "shared_bytes")
    assert {known[f"sm.{limit}"].status for limit in limits} == {"documented"}


BAD_FILES = [
    ("[l1", "file is not TOML: "),
    ("a = " + "[" * 5000, "file is not TOML: "),
    ("#" * (2 << 20), "file is larger than"),
    ("", r"name is missing"),
    ('inherit = "tesla-c2050"\nl1.way = 4', r"l1.way is unknown; did you mean l1.ways\?"),
    ('inherit = "tesla-c2050"\nl1 = 4', "l1 is unknown"),
    ('inherit = "tesla-c2050"\nl1.ways = 1979-05-27', "l1.ways is '1979-05-27'; it should be a valid integer"),
    ('inherit = "tesla-c2050"\nl1.ways = { valve = 4 }', "l1.ways is a table; give a plain value or"),
    ('inherit = "tesla-c2050"\nl1.ways = { value = 4, source = 5 }', "l1.ways.source is 5; give text"),
    ('inherit = "gtx480"\nl1.ways = { value = 4, status = "guessed" }', "l1.ways.status is 'guessed'; give one of"),
    ('inherit = "tesla-c2050"\nl1.hit_latency_ns = "fast"', "l1.hit_latency_ns is 'fast'; give a number"),
    ('inherit = "tesla-c2050"\nl1.hit_latency_ns = nan', "l1.hit_latency_ns is nan; give a number"),
    ("[l1]\nways = { value = 4, clock_mhz = 9 }", "l1.ways.clock_mhz applies only to fields in SM cycles"),
    ("[l2]\nsector_cycles = { value = 4, clock_mhz = 9 }", "applies only to fields in SM cycles"),
    ("[l1]\nhit_latency_cycles = { value = 4, clock_mhz = 0 }", "l1.hit_latency_cycles.clock_mhz is 0; give the clock"),
    ("[l1]\nhit_latency_cycles = { value = 4.5, clock_mhz = 9 }", "applies only to fields in SM cycles"),
    ("[l1]\nhit_latency_ns = { value = 4, clock_mhz = 9 }", "applies only to fields in SM cycles"),
    ('inherit = "tesla-c2050"\nl1.hit_latency_ns = 9\nl1.hit_latency_cycles = 9', "is given in ns and in cycles"),
    ('inherit = "tesla-c2050"\nsm.clock_mhz = "fast"', "sm.clock_mhz is 'fast'; give a number"),
    ("inherit = 5", "inherit is 5; give the name of a preset or a path"),
    ('inherit = "gpu.toml"', "inherit makes a chain of more than 8 files"),
]


@pytest.mark.parametrize(("text", "message"), BAD_FILES, ids=[message[:30] for _, message in BAD_FILES])
def test_bad_files_are_named(tmp_path, text, message):
    path = write(tmp_path / "gpu.toml", text)
    with pytest.raises(InputError, match=message) as caught:
        load_gpu(path)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_unreadable_files_are_named(tmp_path):
    (tmp_path / "gpu.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="file is not TOML"):
        load_gpu(tmp_path / "gpu.toml")
    with pytest.raises(InputError, match="tesla-c2050"):
        load_gpu("tesla-c2051")
