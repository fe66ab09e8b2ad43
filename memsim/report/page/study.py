"""What the page shows of a study: its points as a table, its figures."""

from __future__ import annotations

from typing import Any

from memsim.report import study, study_figures
from memsim.report.page.pictures import svg
from memsim.studies.result import StudyTrials


def of_study(label: str, found: StudyTrials) -> dict[str, Any]:
    """Everything of one study that the template asks for."""
    return {
        "label": label,
        "heading": study.heading(found),
        "conclusions": study.conclusions(found),
        "tables": [
            {"title": str(case), "headers": headers, "lines": lines}
            for number, case in enumerate(found.cases)
            for headers, lines in [study.point_rows(found, number)]
        ],
        "notes": list(study.notes(found)),
        "pictures": [
            {
                "name": name,
                "title": name.replace("-", " ", 1),
                "svg": svg(figure, f"{label}-{name}", f"{name} of {label}."),
            }
            for name, figure in (study_figures.drawn(found) if found.varied and found.trials else ())
        ],
    }
