"""The list of programs: mains of public repositories, each at one commit; some got arguments after a first try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Repository:
    """Where mains come from.

    Attributes:
        name: of the repository, owner and name.
        commit: that was tried.
        pattern: of the files that have a main.
        sources: other files of each program.
        includes: folders, in the repository.
        options: of ``memsim capture``.
        arguments: of each program.
    """

    name: str
    commit: str
    pattern: str
    sources: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    def mains(self, checkout: Path) -> Iterator[Path]:
        """Its programs, in a folder that has it at the commit."""
        for path in sorted(checkout.glob(self.pattern)):
            if "main(" in path.read_text("latin-1"):
                yield path


REPOSITORIES = (
    Repository("karpathy/llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a", "dev/cuda/*.cu", arguments=("1",)),
    Repository(
        "siboehm/SGEMM_CUDA",
        "60cba6f9b20a198116c76f18de8047f44df8c8b8",
        "sgemm.cu",
        ("src/runner.cu",),
        ("src",),
        arguments=("1",),
    ),
    Repository("siboehm/SGEMM_CUDA", "60cba6f9b20a198116c76f18de8047f44df8c8b8", "*_*.cu"),
    Repository(
        "Lashi0812/CudaProgramming",
        "409a4c6f2e7b92689d34b21662116787f3fa3e42",
        "csrc/*.cu",
        includes=("include",),
        arguments=("1024", "32"),
    ),
)
