"""Everything that this study measures, on the GPU at hand, into the tables of a folder."""

from __future__ import annotations

import csv
import io
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from experiments.silicon import ncu
from experiments.silicon.columns import COLUMNS, write_table
from experiments.silicon.measured import TABLES
from experiments.silicon.programs import CHANNELS, CHASE, EVENTS, GROUPS, MECHANISMS, PROGRAMS, SGEMM
from memsim.support.errors import InputError

HERE = Path(__file__).parent
TOOLS = ("nvcc", "ncu", "nvidia-smi")
STEPS = ("own", "mechanisms", "events", "chase", "channels", "sgemm", "programs", "triton")
_ASKED = "name,driver_version,clocks.max.sm,clocks.max.mem"


@dataclass(frozen=True)
class Setting:
    """Where everything lies.

    Attributes:
        out: the folder of the tables; ``out / "raw"`` gets the executables and what the tools printed.
        sgemm: a checkout of siboehm/SGEMM_CUDA, or None.
        packed: the folder that ``pack_programs.sh`` made, or None.
        tutorials: the tutorials of the Triton that is installed, or None.
    """

    out: Path
    sgemm: Path | None = None
    packed: Path | None = None
    tutorials: Path | None = None

    @property
    def raw(self) -> Path:
        return self.out / "raw"


def measure(setting: Setting, steps: Sequence[str] = STEPS) -> None:
    """Write the tables of all steps, and device.csv; a step that lacks what it needs is named and left out.

    Raises:
        InputError: no GPU or tool; a program that fails.
    """
    for tool in TOOLS:
        if shutil.which(tool) is None:
            raise InputError("silicon", tool, "is not on the PATH; run this where a GPU and the CUDA toolkit are")
    setting.raw.mkdir(parents=True, exist_ok=True)
    write_table(setting.out / "device.csv", [device()])
    write_table(setting.out / "columns.csv", [{"column": name, "metric": of} for name, of in COLUMNS.items()])
    for step in steps:
        print(step, flush=True)
        _STEPS[step](setting)


def device() -> dict[str, str]:
    """The first GPU: name, driver, clocks (MHz)."""
    line = ["nvidia-smi", f"--query-gpu={_ASKED}", "--format=csv,noheader,nounits", "--id=0"]
    name, driver, clock, memory_clock = (part.strip() for part in output(line).split(","))
    return dict(device=name, driver=driver, sm_mhz=clock, memory_mhz=memory_clock)


def _own(setting: Setting) -> None:
    rows: list[dict[str, str]] = []
    for program in PROGRAMS:
        line = [str(build(program.file, setting)), *program.arguments]
        launches, _ = profile(line, setting, program.name, program.kernel, 1)
        rows += [{"program": program.name, "arguments": shlex.join(program.arguments), **row} for row in launches]
    write_table(setting.out / TABLES["own"], rows)


def _mechanisms(setting: Setting) -> None:
    rows: list[dict[str, str]] = []
    executable = build(MECHANISMS, setting)
    for group in GROUPS:
        launches, printed = profile([str(executable), group], setting, f"mechanisms_{group}")
        rows += planned(printed, launches)
    write_table(setting.out / TABLES["mechanisms"], rows)


def planned(printed: str, launches: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Launches of a group with their lines of the plan: group, row, name, and a, b and c."""
    start = printed.index("group,kernel,a,b,c")
    plan = csv.reader(line for line in printed[start:].splitlines()[1:] if line.count(",") == 4)
    return [
        dict(zip(("group", "name", "a", "b", "c"), cells, strict=True)) | {"row": str(row)} | launch
        for row, (cells, launch) in enumerate(zip(plan, launches, strict=False))
    ]


def _events(setting: Setting) -> None:
    _tabulate([str(build(EVENTS, setting))], setting, "events")


def _chase(setting: Setting) -> None:
    _tabulate([str(build(CHASE, setting))], setting, "chase")


def _channels(setting: Setting) -> None:
    _tabulate([str(build(CHANNELS, setting)), str(_sms(setting))], setting, "channels")


def _sgemm(setting: Setting) -> None:
    if setting.sgemm is None:
        return _left_out("sgemm", "--sgemm, a checkout of siboehm/SGEMM_CUDA")
    executable = str(build(SGEMM, setting, [setting.sgemm / "src"]))
    times = csv.DictReader(io.StringIO(run([executable, "times"], setting, "sgemm_times")))
    launches, _ = profile([executable, "launches"], setting, "sgemm", "sgemm")
    rows = [{"number": one.pop("kernel"), **one, **row} for one, row in zip(times, launches, strict=False)]
    write_table(setting.out / "sgemm.csv", rows)


def _programs(setting: Setting) -> None:
    if setting.packed is None:
        return _left_out("programs", "--packed, the folder that pack_programs.sh made")
    output([str(setting.packed / "run_programs.sh"), str(setting.raw / "programs")])
    output(["tar", "-xJf", str(setting.raw / "programs" / "programs.tar.xz"), "-C", str(setting.raw / "programs")])
    write_table(setting.out / TABLES["programs"], profiles(setting.raw / "programs" / "profiles"))


def profiles(folder: Path) -> list[dict[str, str]]:
    """The launches of all profiles that ``run_programs.sh`` made."""
    rows: list[dict[str, str]] = []
    for file in sorted(folder.glob("*.csv")):
        text = file.read_text(encoding="utf-8", errors="replace")
        if '"ID"' in text:
            rows += [{"program": file.stem, **launch.row()} for launch in ncu.launches(text, file)]
    return rows


def _triton(setting: Setting) -> None:
    if setting.tutorials is None or not (find_spec("triton") and find_spec("torch")):
        return _left_out("triton", "triton, torch and --tutorials, the folder python/tutorials of Triton's repository")
    line = [sys.executable, str(HERE / "triton_tutorials.py")]
    run([*line, "times", str(setting.tutorials), str(setting.out / "triton_times.csv")], setting, "triton_times")
    launches, _ = profile([*line, "launches", str(setting.tutorials)], setting, "triton")
    write_table(setting.out / "triton_counters.csv", launches)


_STEPS: dict[str, Callable[[Setting], None]] = {
    "own": _own, "mechanisms": _mechanisms, "events": _events, "chase": _chase, "channels": _channels,
    "sgemm": _sgemm, "programs": _programs, "triton": _triton,
}  # fmt: skip


def _left_out(step: str, needs: str) -> None:
    print(f"{step}: left out; it needs {needs}", file=sys.stderr)


def _tabulate(line: list[str], setting: Setting, name: str) -> None:
    """A program's own CSV."""
    rows = list(csv.DictReader(io.StringIO(run(line, setting, name))))
    write_table(setting.out / f"{name}.csv", rows)


def _sms(setting: Setting) -> int:
    """The number of SMs, which nvidia-smi does not show: one attribute, as ncu reports it of any kernel."""
    metric, log = "device__attribute_multiprocessor_count", setting.raw / "sms.csv"
    run(ncu.command([str(build(PROGRAMS[0].file, setting)), "4096"], log, metric, count=1), setting, "sms")
    return int(ncu.launches(log.read_text(encoding="utf-8"), log)[0].values[metric])


def profile(
    line: list[str], setting: Setting, name: str, kernel: str = "", count: int = 0
) -> tuple[list[dict[str, str]], str]:
    """Rows of a program's launches, and what the program printed."""
    log = setting.raw / f"{name}.ncu.csv"
    printed = run(ncu.command(line, log, _metrics(setting), kernel, count), setting, name)
    return [launch.row() for launch in ncu.launches(log.read_text(encoding="utf-8"), log)], printed


def _metrics(setting: Setting) -> str:
    """The metrics of metrics.txt that this ncu collects on this GPU, joined by commas."""
    kept = setting.raw / "metrics.used"
    if not kept.exists():
        program = build(PROGRAMS[0].file, setting)
        line = [str(HERE / "filter_metrics.sh"), str(HERE / "metrics.txt"), str(program), "4096"]
        kept.write_text(output(line).strip(), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def build(source: Path, setting: Setting, includes: Sequence[Path] = ()) -> Path:
    """The program, built for the GPU at hand."""
    program = setting.raw.resolve() / source.stem
    folders = [f"-I{one}" for one in includes]
    output(["nvcc", "-O3", "-std=c++17", "-arch=native", "-lineinfo", *folders, "-o", str(program), str(source)])
    return program


def run(line: list[str], setting: Setting, name: str) -> str:
    """Standard output of a command, kept in a file too."""
    text = output(line)
    (setting.raw / f"{name}.txt").write_text(text, encoding="utf-8")
    return text


def output(line: list[str]) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:] or ["no message"]
        raise InputError("silicon", shlex.join(line)[:200], f"ended with status {done.returncode}: {last[0]}")
    return done.stdout
