"""Captures the programs of the list and writes what came of each.

    python -m experiments.python_programs CHECKOUTS PYTHONS [--only TEXT] [--limit SECONDS] [--to-end] [--out FILE]

PYTHONS holds a virtual environment for each language by its name: triton, cupy, numba, warp, cute, and cuda for
projects in CUDA C++ (links will do).
"""

import argparse
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS = ["language", "repository", "file", "result", "seconds", "message"]


def command_of(entry: dict[str, str], checkouts: Path) -> tuple[list[str], Path]:
    """The Python file, its arguments, and the folder to run in."""
    root = checkouts / entry["repository"].replace("/", "+")
    file = root / entry["file"]
    if entry["how"] == "driver":
        drivers = HERE / ("drivers.py" if entry["language"].startswith("triton") else "package_drivers.py")
        return [str(drivers), str(checkouts), entry["repository"], entry["file"]], root
    if entry["how"] == "pytest":
        return [str(HERE / "run_test.py"), str(file)], root
    if entry["how"] in ("make", "cmake"):
        program, *arguments = entry["arguments"].split()
        return [str(build(entry["how"], file.parent, root) / program), *arguments], file.parent
    if entry["how"] == "source":
        return [str(file), *(["--", *entry["arguments"].split()] if entry["arguments"] else [])], file.parent
    if entry["how"] == "model":
        return [str(HERE / "run_model.py"), str(file), str(root / entry["arguments"])], root
    return [str(file), *entry["arguments"].split()], file.parent


def build(how: str, folder: Path, root: Path) -> Path:
    """Build a CUDA project with ``memsim nvcc`` in nvcc's place; the folder in which its programs lie."""
    nvcc = [sys.executable, "-m", "memsim", "nvcc", "--memsim-toolkit"]
    toolkit = subprocess.run(nvcc, capture_output=True, text=True, check=True).stdout.strip()
    environment = os.environ | {"PATH": f"{toolkit}/bin:{os.environ['PATH']}", "LIBRARY_PATH": f"{toolkit}/lib64"}
    if how == "make":
        subprocess.run(["make"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return folder
    made = root / "memsim-build" / folder.relative_to(root)
    for command in (["-S", str(folder), "-B", str(made)], ["--build", str(made)]):
        subprocess.run(["cmake", *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return made


def try_one(entry: dict[str, str], checkouts: Path, pythons: Path, limit: float, to_end: bool) -> dict[str, str]:
    """Capture one program, which memsim ends once its trace is complete, or ``to_end``."""
    command, folder = command_of(entry, checkouts)
    made = Path(tempfile.mkdtemp())
    python = (pythons / entry["language"]).resolve() / "bin"  # as its user activates it: programs start `python`
    environment = os.environ | {
        "MEMSIM_PYTHON": str(python / "python"),
        "PATH": f"{python}:{os.environ['PATH']}",
        "PYTHONPATH": f"{HERE.parents[1]}:{checkouts / entry['repository'].replace('/', '+')}",
        "MPLBACKEND": "Agg",
    }
    gpu = entry["gpu"] or "rtx4090"
    options = ["-q", "-o", str(made / "t.h5"), "--gpu", gpu, *(["--to-end"] if to_end else [])]
    full = [sys.executable, "-m", "memsim", "capture", *options, *command]
    began = time.monotonic()
    process = subprocess.Popen(full, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", start_new_session=True)  # fmt: skip
    try:
        said, _ = process.communicate(timeout=limit)
        kept = process.returncode == 0 and (made / "t.h5").exists()
        result = ("captured" if to_end else "stopped") if kept else "failed"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        said, _ = process.communicate()
        result = "time"
    shutil.rmtree(made, ignore_errors=True)
    message = "" if result in ("captured", "stopped") else why(said)
    log = os.environ.get("LOGS")
    if log:
        (Path(log) / f"{entry['repository']}/{entry['file']}.log".replace("/", "+")).write_text(said)
    return {**entry, "result": result, "seconds": str(round(time.monotonic() - began)), "message": message}


def why(said: str) -> str:
    """The last lines that say what went wrong: memsim's and Python's."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and "memsim: timed " not in line]
    errors = [
        line
        for line in lines
        if re.match(r"\w*(\.\w+)*(Error|Exception|error)\b", line) or "memsim: " in line or "CUDA" in line
    ]
    return " | ".join(dict.fromkeys((errors or lines)[-2:]))[:300]


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("pythons", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--to-end", action="store_true", help="run each program to its end")
    parser.add_argument("--list", type=Path, default=HERE / "programs.csv")
    parser.add_argument("--out", type=Path, default=HERE / "scoreboard.csv")
    given = parser.parse_args()
    entries = list(csv.DictReader(given.list.open()))
    known = {(r["repository"], r["file"]): r for r in csv.DictReader(given.out.open())} if given.out.exists() else {}
    for entry in entries:
        key = entry["repository"], entry["file"]
        if re.search(given.only, f"{entry['language']} {' '.join(key)}"):
            known[key] = try_one(entry, given.checkouts.resolve(), given.pythons.resolve(), given.limit, given.to_end)
            print(known[key]["result"], *key, known[key]["seconds"], known[key]["message"], flush=True)
            with given.out.open("w", newline="") as file:
                out = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
                out.writeheader()
                out.writerows(
                    known[e["repository"], e["file"]] for e in entries if (e["repository"], e["file"]) in known
                )


if __name__ == "__main__":
    main()
