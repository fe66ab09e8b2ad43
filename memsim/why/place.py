"""Where a finding is that is of no access: in the file of the kernel."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath

from memsim.analysis.result import RunResult


def kernel_file(result: RunResult) -> str:
    """The name of the file that holds most of a kernel's ops; if none is known, of its program's first file."""
    files = Counter(op["file"] for op in result.trials.ops if op["file"])
    ((name, _),) = files.most_common(1) or [(result.trials.about["trace"]["source"], 0)]
    return PurePath(name).name
