"""Which share of kernels memsim can run as machine code, and which instructions the others need.

python -m experiments.machine_code.coverage --arch 80 --arch 90 FILE.cu FILE.ptx FILE.cubin ...
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memsim.sources.sass.assemble import assemble
from memsim.sources.sass.disassembly import disassemble
from memsim.sources.sass.elf import read_cubin
from memsim.sources.sass.kernel import SassKernel
from memsim.sources.sass.program import unknown_instructions
from memsim.support.scratch import Scratch


def kernels_of(path: Path, architecture: int, options: list[str]) -> Iterator[SassKernel]:
    """The kernels of a source, a PTX file or a cubin."""
    if path.suffix == ".cubin":
        cubin = path.read_bytes()
    else:
        text = path.read_text() if path.suffix == ".ptx" else compiled(path, architecture, options)
        if not text:
            return
        done = assemble(text, architecture)
        if done.problem:
            print(f"{path}: {done.problem}")
            return
        cubin = done.cubin
    read = read_cubin(cubin, str(path))
    for name, code in disassemble(cubin).items():
        if f".nv.constant0.{name}" in read.sections:
            yield SassKernel(name, tuple(code), read)


def compiled(path: Path, architecture: int, options: list[str]) -> str:
    """The PTX of a source."""
    with Scratch() as folder:
        out = Path(folder, "kernels.ptx")
        nvcc = [sys.executable, "-m", "memsim", "nvcc"]
        command = [*nvcc, "-ptx", f"-arch=compute_{max(architecture, 75)}", "-w", *options, str(path), "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{path}: {done.stderr.splitlines()[0]}")
            return ""
        return out.read_text()


def main() -> None:
    """Print a line for each architecture, and the forms that are missing, the commonest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--arch", type=int, action="append")
    parser.add_argument("--option", action="append", default=[], help="for nvcc")
    parser.add_argument("--missing", type=int, default=20, help="forms to list")
    given = parser.parse_args()
    for architecture in given.arch or [80]:
        missing: Counter[str] = Counter()
        run = total = 0
        for path in given.files:
            for kernel in kernels_of(path, architecture, given.option):
                problems = unknown_instructions(kernel)
                total += 1
                run += not problems
                missing.update({_form(problem) for problem in problems})
                if problems:
                    print(f"sm_{architecture} {path.name} {kernel.name[:60]}: {problems[0]}")
        share = 100 * run / total if total else 0.0
        print(f"sm_{architecture}: {run} of {total} kernels run as machine code, {share:.1f} %")
        for form, count in missing.most_common(given.missing):
            print(f"  {count:4d} kernels: {form}")


def _form(problem: str) -> str:
    """A problem without its operands."""
    return problem.split(" ")[0]


if __name__ == "__main__":
    main()
