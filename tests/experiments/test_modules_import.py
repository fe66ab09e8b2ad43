"""Every module of experiments can be imported: most of them no other test runs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "experiments"
OPTIONAL = (
    "triton",
    "torch",
    "cupy",
    "warp",
    "cutlass",
    "numba_cuda",
    "cuda",
    "driver_tools",
)  # of programs that are tried


@pytest.mark.slow
def test_every_module_of_experiments_can_be_imported():
    files = [path.relative_to(ROOT.parent) for path in sorted(ROOT.rglob("*.py")) if path.name != "__main__.py"]
    broken = []
    for path in files:
        try:
            import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
        except ImportError as error:
            if (error.name or "").partition(".")[0] not in OPTIONAL:
                broken.append(f"{path}: {error}")
    assert len(files) > 100 and not broken
