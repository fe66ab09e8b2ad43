"""Python runs this file at its start in programs that memsim captures.

It needs Python 3.9 or newer and nothing of memsim.

It first runs the ``sitecustomize`` that it hides, if there is one. Then it watches for a few packages to be imported.
"""

import os
import sys


def _run_hidden():
    """Run the next ``sitecustomize`` on the path, as Python would have done."""
    import importlib.machinery

    here = os.path.dirname(os.path.abspath(__file__))
    rest = [p for p in sys.path if os.path.abspath(p or os.getcwd()) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec and spec.loader:
        import importlib.util

        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_run_hidden()
if os.environ.get("MEMSIM_GPU_SOCKET"):
    from memsim_child import watch

    watch.start()
