"""Kernel descriptions: SIMT Python over vectors of lanes, in the shape of CUDA.

A kernel is a function of ``t`` (:class:`Thread`) and its arguments; it is executed once for all lanes, on real data::

    def csr(t, row_ptr, col, val, x, y, rows):
        row = t.global_id
        with t.where(row < rows):                                  # if (row < rows)
            total = t.var(0.0)                                     # float total = 0
            for j in t.range(row_ptr[row], row_ptr[row + 1]):      # each lane its own bounds
                total += val[j] * x[col[j]]
            y[row] = total

What to know:

- Indexing an array is a memory access. Each indexing expression is a static instruction.
- A value belongs to the region (``where``, loop) it is computed in. What must outlive the region, or change in it, is a
  variable ``v = t.var(...)``, whose assignments ``v += ...`` and ``v.set(...)`` reach the active lanes only. Using a
  value outside its region is an error, never a wrong number.
- Python's own ``for``, ``while`` and ``if`` over numbers are unrolled loops and compile-time branches: they leave no
  back-edge. ``t.range`` and ``t.while_`` are loops of the GPU.
- A sequence (Baghsorkhi et al., PPoPP 2012, section 2) ends at a back-edge, at ``t.sync()``, and before an access whose
  address, or whose execution, depends on a value loaded in it. That is found out by following the values. A store of
  what its own sequence loaded stays in it and waits for the loads.
- On GPUs with scoreboards, an access waits for the loads that its address, its condition or what it
  stores is made of; arithmetic waits at the end of its stretch of code, a back-edge or a barrier; what nothing has used
  stays under way (:mod:`memsim.sources.describe.waiting`).
- Every operation on lanes counts as the non-memory instructions, by class, that a compiler makes of it
  (:mod:`memsim.sources.describe.arithmetic`): mostly one, two of an iteration of a GPU loop; address arithmetic in one
  dimension is free, as it is in the hardware. ``t.compute(n)`` adds more, of no class.
  Each waits for the one before, but in ``with t.independent(k)``, where they are k chains side by side.
"""

from memsim.sources.describe.kernel_file import load_workload
from memsim.sources.describe.memory import Constant, Texture
from memsim.sources.describe.recorder import Recorder
from memsim.sources.describe.thread import Thread
from memsim.sources.describe.workload import Launch, Workload, workload

__all__ = ["workload", "Launch", "Thread", "Constant", "Texture", "Workload", "load_workload", "Recorder"]
