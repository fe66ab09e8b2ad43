"""What a compute capability fixes, against the tables of NVIDIA's guide and against the rest of the code."""

from __future__ import annotations

import ast

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


@pytest.mark.slow
def test_nothing_else_compares_capabilities():
    """Comparisons of a GPU's capability with a number stand in this one file; new ones belong there, too."""
    for path in sorted((ROOT / "memsim").rglob("*.py")):
        if path.name != "architecture.py":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Compare) and "capability" in ast.unparse(node):
                    sides = (node.left, *node.comparators)
                    ordered = any(isinstance(one, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for one in node.ops)
                    fixed = any(isinstance(one, ast.Constant | ast.Tuple) for one in sides)
                    assert not (ordered and fixed), f"{path.relative_to(ROOT)}:{node.lineno}"
