"""What a compute capability fixes, against the tables of NVIDIA's guide and against the rest of the code."""

from __future__ import annotations

import ast
import re

import pytest
from places import ROOT

from memsim.gpu.architecture import ARCHITECTURES, Coalescing, architecture, is_known
from memsim.gpu.presets import load_gpu, names


@pytest.mark.parametrize(
    ("capability", "expected"),
    [  # CUDA C Programming Guide: technical specifications, and the appendix on compute capabilities
        ("1.0", (16, Coalescing.in_order, 16, False, 0)),
        ("1.3", (16, Coalescing.segments, 16, False, 0)),
        ("2.1", (32, Coalescing.lines, 32, False, 0)),
        ("3.7", (32, Coalescing.lines, 32, False, 0)),
        ("6.1", (32, Coalescing.lines, 32, False, 0)),
        ("7.5", (32, Coalescing.lines, 32, True, 0)),
        ("8.6", (32, Coalescing.lines, 32, True, 1024)),
        ("12.0", (32, Coalescing.lines, 32, True, 1024)),
    ],
)
def test_the_guide_s_tables(capability, expected):
    of = architecture(capability)
    found = (of.group_lanes, of.coalescing, of.shared_banks, of.sector_counters, of.reserved_shared_bytes)
    assert found == expected


@pytest.mark.parametrize(("width", "fermi", "maxwell", "tesla"), [(4, 32, 32, 16), (8, 16, 32, 16), (16, 8, 32, 16)])
def test_wide_accesses_are_split_before_maxwell(width, fermi, maxwell, tesla):
    assert [architecture(of).global_lanes(width) for of in ("2.0", "5.0", "1.3")] == [fermi, maxwell, tesla]


def test_registers_of_fermi_pairs_round_to_128():
    fermi, kepler = architecture("2.0"), architecture("3.0")
    assert 21 in fermi.pair_registers and fermi.pair_unit == 128 and not kepler.pair_registers


def test_entries_are_in_order_and_known():
    assert list(ARCHITECTURES) == sorted(ARCHITECTURES)
    assert all(is_known(f"{major}.{minor}") for major, minor in ARCHITECTURES)


@pytest.mark.parametrize("name", names())
def test_every_preset_has_an_architecture(name):
    gpu = load_gpu(name)
    assert gpu.architecture is architecture(gpu.compute_capability)
    assert gpu.architecture.has_l1 or not gpu.l1.enabled


@pytest.mark.parametrize(
    ("capability", "kib"),
    [("1.3", 16), ("2.0", 48), ("6.1", 48), ("7.2", 96), ("7.5", 64), ("8.0", 163), ("8.6", 99), ("8.7", 163),
     ("8.9", 99), ("9.0", 227), ("10.3", 227), ("11.0", 227), ("12.1", 99), ("gfx942", 64)],
)  # fmt: skip
def test_shared_memory_of_blocks(capability, kib):
    """CUDA C++ Programming Guide, technical specifications; AMD CDNA 3: the LDS of a compute unit."""
    assert architecture(capability).shared_block_bytes == kib << 10


READERS = {  # of machine code, where its encoding changed
    "sources/sass/declarations.py", "sources/sass/elf.py", "sources/sass/kernel.py",
    "sources/sass/lowering/mbarriers.py",
}  # fmt: skip


@pytest.mark.slow
def test_nothing_else_compares_capabilities():
    """Comparisons of a capability with a number, and tables by capability, stand in this one file, or are named."""
    found = set()
    for path in sorted((ROOT / "memsim").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and any(word in ast.unparse(node) for word in ("capability", "architect")):
                sides = (node.left, *node.comparators)
                ordered = any(isinstance(one, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for one in node.ops)
                fixed = any(isinstance(one, ast.Constant | ast.Tuple) for one in sides)
            else:
                ordered = fixed = isinstance(node, ast.Dict) and _is_by_capability(node)
            if ordered and fixed:
                found.add(path.relative_to(ROOT / "memsim").as_posix())
    for path in (ROOT / "memsim/capture/native").rglob("*"):
        if path.suffix in (".cpp", ".h") and re.search(r"capability_m(aj|in)or *(<|>|[=!]=)=? *\d", path.read_text()):
            found.add(path.relative_to(ROOT / "memsim").as_posix())
    assert found == READERS | {"gpu/architecture.py"}


def _is_by_capability(node: ast.Dict) -> bool:
    keys = [ast.unparse(key) if key else "" for key in node.keys]
    return bool(keys) and all(re.fullmatch(r"'\d+\.\d'|\(\d+, \d\)", key) for key in keys)
