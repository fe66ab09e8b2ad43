"""Whether a kernel runs as machine code, or why it runs as PTX."""

from __future__ import annotations

from functools import lru_cache

from memsim.sources.sass.assemble import assemble
from memsim.sources.sass.disassembly import disassemble
from memsim.sources.sass.elf import Cubin, read_cubin
from memsim.sources.sass.kernel import SassKernel
from memsim.sources.sass.program import unknown_instructions
from memsim.sources.sass.tools import places_of


@lru_cache(maxsize=64)
def machine_code_kernel(ptx: str, entry: str, architecture: int) -> SassKernel | str:
    """A kernel as machine code of an architecture, or in one line why memsim cannot run it as such.

    Args:
        architecture: 80 for sm_80.
    """
    done = assemble(ptx, architecture)
    if done.problem is not None:
        return done.problem
    if not places_of("nvdisasm"):
        return "nvdisasm is not installed here (pip install 'memsim[machine-code]' brings one)"
    code, cubin = _read(done.cubin)
    if entry not in code:
        return f"no nvdisasm here reads sm_{architecture}"
    kernel = SassKernel(entry, code[entry], cubin)
    problems = unknown_instructions(kernel)
    return problems[0] if problems else kernel


@lru_cache(maxsize=16)
def _read(cubin: bytes) -> tuple[dict[str, tuple], Cubin]:
    return {name: tuple(code) for name, code in disassemble(cubin).items()}, read_cubin(cubin)
