"""JSON (RFC 8259), indented: the documented values of a command; a quantity that does not exist is null."""

from __future__ import annotations

import json

from memsim.report.output import CommandOutput
from memsim.report.result_json import without_nan


def render(output: CommandOutput) -> str:
    """The values of a command, or the rows of its main table."""
    values = [dict(row) for row in output.rows()] if output.values is None else output.values()
    return json.dumps(without_nan(values), indent=2, allow_nan=False, ensure_ascii=False)
