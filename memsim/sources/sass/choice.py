"""Whether a kernel runs as machine code, or why it runs as PTX."""

from __future__ import annotations

import re
from functools import lru_cache

from memsim.gpu.config import GPU
from memsim.sources.sass.assemble import assemble, target
from memsim.sources.sass.disassembly import SassInstruction, disassemble
from memsim.sources.sass.elf import Cubin, read_cubin
from memsim.sources.sass.kernel import SassKernel
from memsim.sources.sass.program import unknown_instructions
from memsim.sources.sass.tools import paths_of


def kernel_for(ptx: str, entry: str, gpu: GPU) -> SassKernel | str:
    """A kernel as machine code for a GPU, or in one line why it runs as PTX.

    Where ptxas or nvdisasm no longer know the GPU, the code is that of the architecture that the PTX was made for.
    """
    number = gpu.architecture_number
    found = machine_code_kernel(ptx, entry, number)
    own = "".join(char for char in target(ptx) if char.isdigit())
    if isinstance(found, str) and own and int(own) != number:
        other = machine_code_kernel(ptx, entry, int(own))
        return found if isinstance(other, str) else other
    return found


@lru_cache(maxsize=64)
def machine_code_kernel(ptx: str, entry: str, capability: int) -> SassKernel | str:
    """A kernel as machine code of an architecture, or in one line why memsim cannot run it as such.

    Args:
        capability: 80 for sm_80.
    """
    done = assemble(ptx, capability)
    if done.problem is not None:
        return done.problem
    if re.search(r"\.reqnctapercluster|%cluster_|barrier\.cluster|multicast::cluster|\bmapa\b", ptx):
        return "clusters of blocks run as PTX"
    if "tensormap.replace" in ptx:
        return "tensor maps that a kernel makes run as PTX"  # ptxas writes the fields of NVIDIA's own format
    if not paths_of("nvdisasm"):
        return "nvdisasm is not installed here (pip install 'memsim[machine-code]' brings one)"
    code, cubin = _read(done.cubin)
    if entry not in code:
        return f"no nvdisasm here reads sm_{cubin.architecture}"
    kernel = SassKernel(entry, code[entry], cubin)
    problems = unknown_instructions(kernel)
    return problems[0] if problems else kernel


@lru_cache(maxsize=16)
def _read(cubin: bytes) -> tuple[dict[str, tuple[SassInstruction, ...]], Cubin]:
    return {name: tuple(code) for name, code in disassemble(cubin).items()}, read_cubin(cubin)
