"""A limit on the size of files stands in for a full disk."""

import os
import resource
import signal
import sys


def limit_files(size: int, most: int = resource.RLIM_INFINITY) -> None:
    """From here on, files of this process and those it starts end at ``size`` bytes; more fails as on a full disk.

    Python would cut its own byte code at the limit without noticing, and every later process would read that.
    """
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
