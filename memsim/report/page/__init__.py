"""A result, several, or a study as one self-contained HTML page: ``memsim report`` (docs/how_to/report.md)."""

from memsim.report.page.write import write_page

__all__ = ["write_page"]
