"""Figures as SVG within a page: text stays text, and colours follow the page's theme."""

from __future__ import annotations

import io
import re

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from memsim.report.figure_style import GREY, INK

_LEAST = 0.65  # of a figure's width: on a narrower screen it is moved sideways, so that its text stays readable
# The figures' neutral colours, and the page's that stand for them.
_THEMED = {
    INK: "var(--ink)",
    GREY: "var(--muted)",
    "#5A5A5A": "var(--muted)",
    "#E6E6E6": "var(--rule)",
    "#FFFFFF": "var(--panel)",
    "#000000": "var(--ink)",
}


def svg(figure: Figure, name: str, alt: str) -> str:
    """The figure as an ``<svg>`` element that a screen reader calls `alt`; the same text for the same figure.

    Args:
        figure: drawn with memsim.report.figure_style.
        name: unlike that of any other picture of the page, for the names within.
        alt: one sentence.
    """
    buffer = io.StringIO()
    figure.patch.set_alpha(0)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        # savefig would draw it once more, for the bounding box of nothing
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Title": alt})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    for color, variable in _THEMED.items():
        text = re.sub(rf"(?<=[:\s]){color}\b", variable, text, flags=re.IGNORECASE)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    width = figure.get_figwidth()
    return re.sub(
        r"<svg [^>]*?(viewBox=\"[^\"]*\")",
        rf'<svg role="img" class="picture" style="max-width:{width:g}in;min-width:{_LEAST * width:g}in" \1',
        text,
        count=1,
    )
