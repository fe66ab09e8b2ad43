"""Comma-separated values (RFC 4180) with a header line: the main table, numbers unrounded."""

from __future__ import annotations

from memsim.analysis.table import csv_text
from memsim.report.output import CommandOutput


def render(output: CommandOutput) -> str:
    """A line per row; a cell is empty where a value does not exist."""
    return csv_text(list(output.rows())).removesuffix("\n")
