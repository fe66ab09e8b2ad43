"""Fills the page's template and writes it, whole or not at all."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memsim import __version__
from memsim.analysis.program import ProgramResult
from memsim.analysis.result import RunResult
from memsim.report.figure_style import styled
from memsim.report.page.result import of_result
from memsim.support.errors import InputError
from memsim.support.files import check_replaceable, replacing, writing
from memsim.why import Bottleneck, find_bottlenecks, has_profiles

if TYPE_CHECKING:
    from memsim.studies.result import StudyTrials

BottlenecksByResult = Mapping[str, Sequence[Bottleneck]]


def write_page(
    results: Mapping[str, RunResult], studies: Mapping[str, StudyTrials], out: str | Path,
    bottlenecks: BottlenecksByResult | None = None,
    programs: Mapping[str, ProgramResult] | None = None,
) -> Path:  # fmt: skip
    """Write one page that shows results, each by itself and compared with the first, and studies.

    Args:
        results, studies: by the name that the page calls each.
        out: the HTML file; nothing outside of it is needed to read it.
        programs: profiles by name, which come first; they link to those of `results` that have their kernels' names.
        bottlenecks: by a result's name, what makes it slow, with gains; of others, what is known without a replay.

    Raises:
        InputError: jinja2 is not installed, or the file cannot be written.
    """
    path = Path(out)
    with writing(path):
        check_replaceable(path)
    with styled():
        text = render(results, studies, bottlenecks, programs)
    with writing(path), replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def render(
    results: Mapping[str, RunResult], studies: Mapping[str, StudyTrials],
    bottlenecks: BottlenecksByResult | None = None,
    programs: Mapping[str, ProgramResult] | None = None,
) -> str:  # fmt: skip
    """The page's text."""
    profiles, links = programs or {}, {label: f"r{number}" for number, label in enumerate(results)}
    script = _file("page.js")
    # Nothing but this script may run, whatever a source file or a kernel's name holds.
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    content: dict[str, Any] = {
        "title": ", ".join([*profiles, *([] if profiles else map(_title, results.values())), *studies]),
        "script": script,
        "style": _file("page.css"),
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'",
        "version": __version__,
        "programs": _programs(profiles, links) if profiles else [],
        "comparisons": _comparisons(results) if len(results) > 1 and not profiles else None,
        "results": [
            of_result(label, result, number, _bottlenecks(label, result, bottlenecks or {}))
            for number, (label, result) in enumerate(results.items())
        ],
        "studies": _studies(studies) if studies else [],
    }
    return _environment().get_template("page.html.j2").render(content)


def _programs(profiles: Mapping[str, ProgramResult], links: Mapping[str, str]) -> list[dict[str, Any]]:
    from memsim.report.page.program import of_program  # which needs GPUs and the host

    return [of_program(label, one, number, links) for number, (label, one) in enumerate(profiles.items())]


def _comparisons(results: Mapping[str, RunResult]) -> dict[str, Any] | None:
    from memsim.report.page.comparison import comparisons  # which needs all of studies

    return comparisons(results)


def _studies(studies: Mapping[str, StudyTrials]) -> list[dict[str, Any]]:
    from memsim.report.page.study import of_study

    return [of_study(label, study) for label, study in studies.items()]


def _bottlenecks(label: str, result: RunResult, bottlenecks: BottlenecksByResult) -> Sequence[Bottleneck] | None:
    if label in bottlenecks or not has_profiles(result):
        return bottlenecks.get(label)
    return find_bottlenecks(result)


def _title(result: RunResult) -> str:
    return f"{result.trials.about['trace']['kernel']} on {result.gpu}"


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _environment() -> Any:
    """Jinja's, every value escaped; a name that the page lacks is an error."""
    try:
        import jinja2
    except ImportError:
        raise InputError("memsim report", "jinja2", "is not installed; pip install 'memsim[report]'") from None
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda value, decimals=1: _number(100 * value, decimals)
    environment.filters["number"] = _number
    return environment


def _number(value: float, decimals: int = 0) -> str:
    return "–" if value != value else f"{value:,.{decimals}f}"
