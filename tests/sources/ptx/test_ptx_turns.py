"""Where a warp turns to lanes that parted from others: rows that say so, and none where lanes only skip."""

import numpy as np
from ptx_traces import rows_of  # noqa: F401
