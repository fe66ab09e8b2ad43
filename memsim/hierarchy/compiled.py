"""How the inner loops are compiled: to machine code, kept on disk, without reference counts.

The loops get named tuples of some thirty arrays and hand them on to small functions. Counting references to each array at
each call cost twenty times the work itself; nothing here allocates, so nothing needs counting (`_nrt=False`).
"""

from __future__ import annotations

from numba import njit

loop = njit(cache=True, _nrt=False, forceinline=True)
