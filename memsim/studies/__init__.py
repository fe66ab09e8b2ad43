"""Studies: one simulation at every point of a design, and what the points tell together (docs/studies.md)."""

from memsim.studies.result import Case, StudyResult
from memsim.studies.study import Study

__all__ = ["Case", "Study", "StudyResult"]
