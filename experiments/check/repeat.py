"""Check a program that does not change again and again, in new processes with other hash seeds and numbers of jobs.

python experiments/check/repeat.py [TIMES]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "data" / "check" / "kernels.cu"


def main(times: int) -> int:
    """The number of checks that reported something."""
    alarms = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PROGRAM, folder)
        run(folder, "check", "--update", PROGRAM.name, "--gpu", "a100", "--gpu", "rtx4090", seed=0)
        reported = set()
        for number in range(times):  # reported as they end, as a run may be cut off
            done = run(folder, "check", "-j", str(1 + number % 2), seed=number)
            alarms += done.returncode != 0
            reported.add(done.stdout)
    print(f"{times} checks: {alarms} false alarms, {len(reported)} different outputs")
    return alarms


def run(folder: str, *command: str, seed: int) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONHASHSEED": str(seed), "MEMSIM_CACHE_MB": "0"}
    return subprocess.run(
        [sys.executable, "-m", "memsim", *command], cwd=folder, env=environment, capture_output=True, text=True
    )


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100) > 0)
