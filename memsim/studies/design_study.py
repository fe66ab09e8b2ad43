"""A study that can be run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memsim.studies.result import StudyTrials
from memsim.studies.run import State, run
from memsim.studies.study import StudyDesign


class DesignStudy(StudyDesign):
    """Simulations at every point of a design; arguments, attributes and errors are those of :class:`StudyDesign`.

    ::

        study = memsim.Study(kernels="spmv", gpus=["tesla-c2050"], vary={"l1.ways": [4, 8]}, trials=8)
        found = study.run(jobs=2)
        found.means("l1_read")
    """

    def run(
        self,
        out: str | Path | None = None,
        *,
        jobs: int = 1,
        executor: str = "local",
        resume: bool = False,
        force: bool = False,
        progress: Callable[[State], None] | None = None,
    ) -> StudyTrials:
        """Run all trials of all points; see :func:`memsim.studies.run.run`."""
        return run(self, out, jobs=jobs, executor=executor, resume=resume, force=force, progress=progress)
