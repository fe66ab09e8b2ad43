"""CuMAPz: how a kernel's use of shared and global memory decides its performance, in six factors.

Kim and Shrivastava, *Memory performance estimation of CUDA programs*, ACM TECS, 2011. A program is declared by its
references (program.py); its accesses are gone through block by block (accesses.py); equations 1 to 8 turn what was
counted into factors (factors.py). docs/explanation/models/cumapz.md says which reading was chosen where the paper
leaves several.
"""

from memsim.models.cumapz.factors import Factors, estimate
from memsim.models.cumapz.program import Buffer, BufferFetch, CumapzProgram, Reference, ScratchReference, Threads

__all__ = ["Buffer", "Factors", "BufferFetch", "CumapzProgram", "Reference", "ScratchReference", "Threads", "estimate"]
