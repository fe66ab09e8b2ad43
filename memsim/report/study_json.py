"""A study as JSON values: the contract of ``memsim show STUDY --json``, described in docs/reference/json.md."""

from __future__ import annotations

from typing import Any

from memsim.report.result_json import without_nan
from memsim.studies.result import OUTPUTS, StudyTrials


def document(study: StudyTrials) -> dict[str, Any]:
    """The contract's object, of JSON values: a quantity that does not exist is None."""
    about = study.about
    return without_nan(
        {
            "study": about.get("study"),
            "complete": about.get("complete", True),
            "convention": str(study.convention),
            "fields": list(study.fields),
            "cases": [vars(case) for case in study.cases],
            "points": [_point(study, point, case) for point, case in sorted(study.trials)],
            "saved": about.get("saved", 0),
            "left_out": about.get("left_out", 0),
            "seconds": about.get("seconds", {}),
        }
    )


def _point(study: StudyTrials, point: int, case: int) -> dict[str, Any]:
    samples = {name: study.sample(name, point, case) for name in OUTPUTS}
    return {
        "point": point,
        "case": case,
        "fields": study.points[point],
        "trials": len(study.trials[point, case].trial),
        "outputs": {
            name: {"mean": sample.mean, "sd": sample.sd, "interval": sample.interval()}
            for name, sample in samples.items()
        },
    }
