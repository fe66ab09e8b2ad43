"""The HTML page: whole, safe with hostile names, true to the result, and, in a real browser, sorted and quick."""

from __future__ import annotations

import html
import html.parser
import json
import re
import shutil
import subprocess
import time
import zlib
from dataclasses import asdict

import numpy as np
import pytest
import synthetic

import memsim
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.analysis.utilization import utilization
from memsim.gpu.presets import load_gpu, provenance
from memsim.report.changes import changes
from memsim.report.figure_options import FigureOptions
from memsim.report.figure_style import styled
from memsim.report.page import write_page
from memsim.report.page.highlight import highlighted
from memsim.report.page.roofline import roofline
from memsim.report.page.source import sources
from memsim.report.page.write import render
from memsim.why import Bottleneck
from memsim.why.finding import Cause, Finding, Gain

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


class _Outline(html.parser.HTMLParser):
    """What elements a page has, and the texts of its tables' cells."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.cells, self._in = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("td", "th"):
            self.cells.append("")
            self._in.append(tag)

    def handle_endtag(self, tag):
        if self._in and tag == self._in[-1]:
            self._in.pop()

    def handle_data(self, data):
        if self._in:
            self.cells[-1] += data


def _trials(count):
    """Trials made by hand, with all of a GPU."""
    trials = synthetic.spmv(count)
    trials.about["gpu"] = load_gpu("tesla-c2050").model_dump(mode="json")
    trials.about["gpu_provenance"] = {name: asdict(of) for name, of in provenance("tesla-c2050").items()}
    return trials


@pytest.fixture(scope="module")
def result():
    return RunResult(_trials(8))


def _page(results, studies=None, causes=None):
    with styled(FigureOptions()):
        return render(results, studies or {}, causes)


@pytest.mark.slow
def test_page_is_whole_and_true_to_result(result):
    text = _page({"one": result})
    outline = _Outline(text)
    for tag, attributes in outline.elements:
        for name in ("src", "href", "action", "data"):
            assert not re.match(r"(https?:)?//", attributes.get(name) or ""), (tag, attributes)
    assert len([tag for tag, _ in outline.elements if tag == "script"]) == 1
    cells = {cell.strip() for cell in outline.cells}
    for row in result.loads.cells():
        assert set(row) - {""} <= cells
    assert "dram.timing.rcd" in cells
    assert f"{result.kernel_time.mean:.4f}" in text and "--seed 7" in text


@pytest.mark.slow
def test_two_results_are_compared(result):
    text = _page({"one": result, "two": RunResult(_trials(8))})
    assert "Compared with one" in text and "1x (1 … 1)" in text


def _cause(cause, lines, gain):
    """A cause with places in the lines of the kernel's file, whose repair won so much."""
    findings = tuple(
        Finding(cause, f"spmv.py:{line}", "load y[ind]", "y", 0.1, 0.1, "evidence", "advice") for line in lines
    )
    return Bottleneck(cause, findings, 0.9, 0.8, Gain("order", Sample(np.full(8, gain)), 0.8))


def test_lines_tell_what_can_be_won_there(result):
    """The most of a line's causes; what won nothing is named separately, next to no line."""
    causes = [
        _cause(Cause.scattered, [44], 0.25),
        _cause(Cause.divergence, [43, 44], 0.5),
        _cause(Cause.misaligned, [41], -0.3),
    ]
    text = _page({"one": result}, causes={"one": causes})
    rows = {row[0].strip(): row for row in _rows(text) if len(row) == 8}
    assert [rows[line][6].strip() for line in ("41", "43", "44")] == ["", "50.0 %", "50.0 %"]
    assert "divergent lanes, here and at spmv.py:43, spmv.py:44: estimated speed-up 2x (time -50.0 %," in html.unescape(
        text
    )
    assert "without a speed-up: misaligned warps (time +30.0 %)" in html.unescape(text)


@pytest.fixture(scope="module")
def transposes(tmp_path_factory):
    """A tile without padding, of which every lane of a warp reads from one bank, and a padded one."""
    found = {}
    for variant in ("tiled", "padded"):
        trace = memsim.trace("transpose", n=256, variant=variant, gpu="tesla-v100", blocks="all")
        found[variant] = memsim.simulate(trace, gpu="tesla-v100", trials=2)
    return found


@pytest.mark.slow
def test_a_line_shows_sectors_and_passes(transposes):
    """A line that loads from shared memory and stores to global memory needs both."""
    (file,) = sources(transposes["tiled"], ())
    (line,) = (one for one in file.lines if one.measure and one.measure.passes > 2)
    both = [getattr(line.measure, name) for name in ("sectors", "least", "passes", "least_passes")]
    assert both == [4.0, 4.0, 32.0, 1.0]
    row = next(row for row in _rows(_page({"one": transposes["tiled"]})) if row[0] == str(line.number))
    assert "4.0 / 4.0 sectors" in row[5] and "32.0 / 1.0 passes" in row[5]


def test_source_lines_are_whole_and_coloured():
    code = [
        "__global__ void k(float *a) {",
        "    a[threadIdx.x] = 1.f; // <" + 200 * "x" + ">",
        "/* of two",
        'lines */ "s";',
    ]
    for name, has in (("k.cu", '<span class="kr">__global__</span>'), ("k.unknown", "__global__ void")):
        marked = highlighted(f"/home/someone/{name}", code)
        assert has in marked[0] and len(marked) == 4
        plain = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in marked]
        assert plain == code


@pytest.mark.slow
def test_the_authors_path_is_shortened(result):
    trials = _trials(2)
    for op in trials.ops:
        op["file"] = "/home/someone/work/kernels/spmv.cu"
    trials.about["trace"]["source"] = "/home/someone/work/kernels/spmv.cu /home/someone/b.cu"
    text = _page({"one": RunResult(trials)})
    assert "/home/someone" not in text and text.count("kernels/spmv.cu") == 1


@pytest.mark.slow
def test_a_comparison_says_what_changed(transposes):
    found = changes(*transposes.values())
    shown = {one.name: one for one in found.shown}
    (passes,) = (one for name, one in shown.items() if name.startswith("loads of tile, passes per instruction"))
    assert (passes.first, passes.second) == (32.0, 1.0) and passes.name in found.sentence()
    assert shown["load-store units and L1 busy"].ratio < 0.5 and "DRAM sectors" in found.same
    text = html.unescape(_page({"slow": transposes["tiled"], "fast": transposes["padded"]}))
    assert "What changed most: " in text and "Compared with slow" in text
    same = changes(transposes["tiled"], transposes["tiled"])
    assert not same.shown and same.sentence().startswith("no count, busy part or access pattern changed")


def test_roofline_points_lie_at_the_busy_share(transposes):
    """Of a kernel that stores parts of sectors, too: its height over the roof is the busy share of the table."""
    trace = memsim.trace("transpose", n=256, variant="naive", gpu="tesla-v100", blocks="all")
    of = memsim.simulate(trace, gpu="tesla-v100", trials=2)
    (axis,) = roofline(of).axes
    assert not any("$" in one.get_text() for one in axis.get_xticklabels())  # formulas take long to draw
    busy = {part.name: part.busy for part in utilization(of)}
    points = {line.get_label().split(",")[0]: line for line in axis.get_lines() if line.get_marker() == "o"}
    for level, part in (("L1", "load-store units and L1"), ("L2", "L2"), ("DRAM", "DRAM")):
        (x,), (rate,) = points[level].get_data()
        roof = float(re.search(r"([\d,]+) Gsector", points[level].get_label())[1].replace(",", ""))
        assert rate / (x * roof) == pytest.approx(busy[part], rel=0.01)
    assert busy["L2"] > 0.5


def _rows(text):
    """The cells of each row of the page's tables."""
    rows = re.findall(r"<tr[ >].*?</tr>", text, re.DOTALL)
    cells = [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells]


@pytest.mark.slow
def test_hostile_names_and_source_stay_text():
    trials = _trials(3)
    trials.about["trace"] |= {"kernel": HOSTILE, "source": HOSTILE}
    trials.about["gpu"]["name"] = HOSTILE
    for op in trials.ops:
        op["text"] = op["file"] = HOSTILE
    for array in trials.arrays:
        array["name"] = HOSTILE
    text = _page({HOSTILE: RunResult(trials), "b": RunResult(trials)})
    outline = _Outline(text)
    assert "alert(1)" in text
    assert [tag for tag, _ in outline.elements].count("script") == 1 and "img" not in {
        tag for tag, _ in outline.elements
    }
    assert not any(name.startswith("on") for _, attributes in outline.elements for name in attributes)
    policy = next(a["content"] for tag, a in outline.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy and "unsafe-inline'; script" in policy


@pytest.mark.slow
def test_the_same_result_makes_the_same_page(result, tmp_path):
    first, second = (write_page({"one": result}, {}, tmp_path / name) for name in ("a.html", "b.html"))
    assert first.read_bytes() == second.read_bytes()


def _long(tmp_path, lines=2000):
    """A result whose kernel has as many lines as the file next to it."""
    trials = _trials(3)
    source = tmp_path / "long.cu"
    texts: dict[int, str] = {}
    for op in trials.ops:
        texts[op["line"]] = f"{texts.get(op['line'], '')} {op['text']}"
    source.write_text("\n".join(f"    float v{n} = {texts.get(n, 'f(v)')};  // line {n}" for n in range(1, lines + 1)))
    for op in trials.ops:
        op["file"] = str(source)
    return RunResult(trials)


def _browse(page, script, tmp_path, width=1200):
    """What a script finds in the page, run in Chromium after the page's own; and what went to its console."""
    text = page.read_text().replace("</body>", f"<script>{script}</script></body>")
    text = re.sub(r"<meta http-equiv=.*?>", "", text)  # the policy forbids the test's script, as it should
    page.with_name("driven.html").write_text(text)
    done = subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         "--enable-logging=stderr", f"--window-size={width},900", "--dump-dom", page.with_name("driven.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    dumped = done.stdout[done.stdout.rindex('<output id="found">') :]
    return json.loads(html.unescape(re.match(r"<output.*?>(.*?)</output>", dumped, re.DOTALL)[1])), console


_DRIVE = """
const found = {};
const table = document.querySelector(".sortable table"), column = 9;
const cells = () => Array.from(table.tBodies[0].rows, (row) => parseFloat(row.cells[column].textContent));
const button = table.tHead.rows[0].cells[column].querySelector("button");
button.click(); found.falling = cells();
button.click(); found.rising = cells();
found.hot = document.querySelectorAll("tr.hot").length;
found.lines = document.querySelectorAll(".source tbody tr").length;
const search = document.querySelector(".find-line");
search.value = "line 44"; search.dispatchEvent(new Event("input"));
found.shown = Array.from(document.querySelectorAll(".source tbody tr")).filter((row) => !row.hidden).length;
document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "c", bubbles: true}));
found.open = document.querySelectorAll("main details[open]").length;
document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "t", bubbles: true}));
found.theme = document.documentElement.dataset.theme;
found.ready = performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart || performance.now();
const out = document.createElement("output"); out.id = "found"; out.textContent = JSON.stringify(found);
document.body.append(out);
"""


@needs_browser
@pytest.mark.slow
def test_browser_sorts_searches_and_turns_long_page(tmp_path):
    page = write_page({"long": _long(tmp_path)}, {}, tmp_path / "page.html")
    assert page.stat().st_size < 3_000_000
    found, console = _browse(page, _DRIVE, tmp_path)
    assert console == []
    assert found["falling"] == sorted(found["falling"], reverse=True) and found["rising"] == found["falling"][::-1]
    assert found["lines"] == 2000 and found["hot"] >= 4
    assert 1 <= found["shown"] < 20 and found["open"] == 0 and found["theme"] in ("dark", "light")
    assert found["ready"] < 2000


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 500])
def test_no_page_is_wider_than_its_window(tmp_path, result, width):
    page = write_page({"one": result, "two": result}, {}, tmp_path / "page.html")
    drive = (
        "const out = document.createElement('output'); out.id = 'found';"
        "out.textContent = JSON.stringify([document.documentElement.scrollWidth, innerWidth]);"
        "document.body.append(out);"
    )
    (wide, visible), console = _browse(page, drive, tmp_path, width)
    assert visible == width and wide <= visible and console == []


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_of_pictures_stands_out_from_the_page(tmp_path, result, theme):
    """By at least 3 to 1, the contrast that WCAG 2.2 asks of large text and graphics; within coloured bars too."""
    page = write_page({"one": result}, {}, tmp_path / "page.html")
    drive = (
        f"document.documentElement.dataset.theme = '{theme}';"
        "const colour = (one, of) => getComputedStyle(one)[of].match(/[\\d.]+/g).slice(0, 3).map(Number);"
        "const ground = colour(document.querySelector('details'), 'backgroundColor');"
        "const texts = Array.from(document.querySelectorAll('svg.picture text'));"
        "const out = document.createElement('output'); out.id = 'found';"
        "out.textContent = JSON.stringify({ground, fills: texts.map((one) => colour(one, 'fill'))});"
        "document.body.append(out);"
    )
    found, _ = _browse(page, drive, tmp_path)
    fills = {tuple(fill) for fill in found["fills"]} - {tuple(found["ground"])}  # that: on coloured bars
    assert len(found["fills"]) > 50 and all(_contrast(fill, found["ground"]) > 3 for fill in fills)


def _contrast(one, other):
    """Of two sRGB colours, as WCAG 2.2 defines it."""
    values = np.array([one, other]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    low, high = sorted(linear @ (0.2126, 0.7152, 0.0722))
    return (high + 0.05) / (low + 0.05)


@needs_browser
@pytest.mark.slow
def test_page_is_printed_dark_on_white(tmp_path, result):
    page = write_page({"one": result}, {}, tmp_path / "page.html")
    page.write_text(page.read_text().replace('<html lang="en">', '<html lang="en" data-theme="dark">'))
    printed = tmp_path / "page.pdf"
    subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         f"--print-to-pdf={printed}", page.as_uri()],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    streams = re.findall(rb"stream\r?\n(.*?)endstream", printed.read_bytes(), re.DOTALL)
    drawn = b"".join(zlib.decompress(one) for one in streams if one.startswith(b"\x78"))
    fills = {tuple(float(part) for part in fill.split()) for fill in re.findall(rb"([\d.]+ [\d.]+ [\d.]+) rg", drawn)}
    light, dark = (tuple(round(int(ink[at : at + 2], 16) / 255, 4) for at in (0, 2, 4)) for ink in ("1d2126", "e4e7eb"))
    assert light in fills and dark not in fills


@pytest.mark.slow
def test_a_long_page_is_made_in_seconds(tmp_path):
    result = _long(tmp_path)
    start = time.monotonic()
    write_page({"long": result}, {}, tmp_path / "page.html")
    assert time.monotonic() - start < 20
