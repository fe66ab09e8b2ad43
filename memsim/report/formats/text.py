"""Text with aligned columns, for a terminal."""

from __future__ import annotations

from memsim.report.output import CommandOutput, joined


def render(output: CommandOutput) -> str:
    """All sentences and tables."""
    return joined(output.blocks())
