"""Run every script of this folder and write its page: the text, the code, and what it prints.

``python docs/examples/render.py [NAME...]`` from the checkout. MkDocs shows the pages; a test runs the scripts again.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ORDER = (
    "cuda_cpp", "ptx", "description", "what_if", "autotuning", "nsight_compute", "study", "coalescing",
    "bank_conflicts", "ci_gate",
)  # fmt: skip


def output(name: str) -> str:
    """What a script prints, in an empty folder.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        # The scripts call `memsim`, which lies next to this Python even where its environment is not activated.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        settings = {"PYTHONPATH": str(FOLDER.parents[1]), "PATH": path, "COLUMNS": "110", "NO_COLOR": "1"}
        environment = os.environ | settings
        script = [sys.executable, str(FOLDER / f"{name}.py")]
        done = subprocess.run(script, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    done.check_returncode()
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def page(name: str, printed: str) -> str:
    """A script's page."""
    source = (FOLDER / f"{name}.py").read_text()
    title, _, text = (ast.get_docstring(ast.parse(source)) or name).partition("\n\n")
    code = source.split('"""', 2)[2].strip()
    return f"# {title}\n\n{text}\n\n```python\n{code}\n```\n\nIt prints:\n\n```text\n{printed}\n```\n"


if __name__ == "__main__":
    for name in sys.argv[1:] or ORDER:
        (FOLDER / f"{name}.md").write_text(page(name, output(name)))
        print(name)
