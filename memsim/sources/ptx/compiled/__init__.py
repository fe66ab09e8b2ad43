"""What NVIDIA's assembler made of a kernel's PTX: registers, shared bytes, and the SASS itself."""

from memsim.sources.ptx.compiled.assemble import assemble, machine_code, needs_of, target
from memsim.sources.ptx.compiled.sass import SassInstruction, disassemble

__all__ = ["SassInstruction", "assemble", "disassemble", "machine_code", "needs_of", "target"]
