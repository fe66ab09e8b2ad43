"""A study under mpiexec: the numbers are those of this process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memsim
from experiments.robustness.studies import different

MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
STUDY = """
gpus = ["tesla-c2050"]
kernels = { spmv = { workload = "spmv", parameters = { rows = 2048, nnz_per_row = 8 }, blocks = "1x" } }
trials = 3
vary = { "l1.ways" = [16, 64] }
"""


@pytest.mark.slow
def test_two_processes_of_mpi_change_nothing(tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    if MPIEXEC is None:
        pytest.skip("there is no mpiexec")
    file, out = tmp_path / "study.toml", tmp_path / "study.h5"
    file.write_text(STUDY)
    command = [MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py.futures", "-m", "memsim"]
    subprocess.run([*command, "sweep", file, "-o", out, "--executor", "mpi"], check=True, timeout=300)
    assert not different(memsim.StudyResult.load(out), memsim.Study.load(file).run())
