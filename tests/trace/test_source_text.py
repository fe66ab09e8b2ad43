"""Source text travels with traces and results: true to the file, bounded, and checked when read."""

import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from changing import changed

import memsim
from memsim.analysis.result import RunResult
from memsim.montecarlo import store
from memsim.report.page.source import sources
from memsim.sources.sass import choice
from memsim.support.errors import InputError
from memsim.trace import source_text
from memsim.trace.reader import Trace

KERNEL = """\
import numpy as np
from memsim import Launch, workload

def copy(t, x, y):
\ti = t.global_id
\ty[i] = x[i]  # <script>\x1b[31m

@workload
def build():
    x = np.zeros(256, np.float32)
    return Launch(copy, grid=2, block=128, arguments={"x": x, "y": np.zeros_like(x)})
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "copy_kernel.py"
    path.write_text(KERNEL)
    return path


@pytest.fixture
def result_path(kernel):
    trace = memsim.trace("copy_kernel.py", out="t.h5")
    memsim.simulate(trace, gpu="tesla-c2050", trials=1, out="r.h5")
    return Path("r.h5").absolute()


def test_text_is_shown_where_file_no_longer_lies(result_path, kernel):
    kernel.unlink()
    (file,) = sources(RunResult.load(result_path), [])
    assert file.missing == "" and [line.number for line in file.lines if line.measure] == [6]
    assert file.lines[5].text == "        y[i] = x[i]  # <script>\\x1b[31m"
    assert [line.text for line in file.lines[6:]] == KERNEL.split("\n")[6:]


def test_trace_keeps_its_digest_when_only_comment_changes(kernel):
    before = memsim.trace("copy_kernel.py", out="t.h5")
    kernel.write_text(KERNEL + "# the end\n")
    after = memsim.trace("copy_kernel.py", out="u.h5")
    assert before.digest == after.digest and before.sources != after.sources


def test_too_large_source_is_named_and_left_out(kernel):
    kernel.write_text(KERNEL + "#" * source_text.MOST_FILE_BYTES)
    assert memsim.trace("copy_kernel.py", out="t.h5").sources == {"copy_kernel.py": None}


def test_all_files_together_are_bounded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(12):
        (tmp_path / f"{number}.cu").write_text("x[i]\n".ljust(source_text.MOST_FILE_BYTES, " "))
    kept = [lines is not None for lines in source_text.at_hand((f"{n}.cu", 1, "x[i]") for n in range(12)).values()]
    assert kept == [True] * (source_text.MOST_BYTES // source_text.MOST_FILE_BYTES) + [False] * 4


@pytest.mark.parametrize("content", [b"", b"x[j]\n", b"\xff\n"], ids=["empty", "another text", "no text"])
def test_changed_source_file_is_not_used(tmp_path, content):
    (tmp_path / "k.cu").write_bytes(content)
    assert source_text.at_hand([(str(tmp_path / "k.cu"), 1, "y[i]")]) == {}


def test_lines_are_counted_as_compilers_do(tmp_path):
    (tmp_path / "k.cu").write_bytes(b"// a form feed: \x0c and a line\xe2\x80\xa8separator\r\nx[i];\r\n")
    (found,) = source_text.at_hand([(str(tmp_path / "k.cu"), 2, "x[i]")]).values()
    assert found[1] == "x[i];" and len(found) == 3


def test_a_header_is_found_next_to_the_program(tmp_path):
    (tmp_path / "k.cu").write_text("x[i];\n")
    (tmp_path / "k.h").write_text("y[i];\n")
    found = source_text.at_hand([(str(tmp_path / "k.cu"), 1, "x[i]"), ("k.h", 1, "y[i]")])
    assert found["k.h"] == ["y[i];", ""]


def test_a_pipe_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / "k.cu")
    assert source_text.at_hand([(str(tmp_path / "k.cu"), 1, "x[i]")]) == {}


def _put(value):
    def damage(file):
        del file["sources"]
        file.create_dataset("sources", data=np.bytes_(value), dtype=h5py.string_dtype("utf-8", len(value)))

    return damage


@pytest.mark.parametrize(
    "value", [[], {"k.py": "text"}, {"k.py": [1]}, {"k.py": {}}], ids=["a list", "no lines", "numbers", "an object"]
)
@pytest.mark.parametrize("read", [Trace.open, store.load], ids=["trace", "result"])
def test_other_contents_are_refused(result_path, read, value):
    path = result_path if read is store.load else result_path.with_name("t.h5")
    with changed(path) as file:
        _put(json.dumps(value))(file)
    with pytest.raises(InputError, match="sources is not a JSON object of files"):
        read(path)


def test_reading_stops_at_the_limit(result_path, monkeypatch):
    monkeypatch.setattr(source_text, "MOST_BYTES", 8)
    with pytest.raises(InputError, match="sources has .* bytes; at most 64 are read"):
        store.load(result_path)


def test_result_without_sources_is_shown_with_present_file(result_path, kernel):
    with changed(result_path) as file:
        del file["sources"]
    (file,) = sources(RunResult.load(result_path), [])
    assert file.missing == ""
    kernel.unlink()
    (file,) = sources(RunResult.load(result_path), [])
    assert file.missing == "is not available"


PTX = """\
.version 8.0
.target sm_80
.address_size 64
.file 1 "{file}"{stamp}
.visible .entry clear(.param .u64 out)
{{
    .reg .b32 %r<2>;
    .reg .b64 %d<4>;
    .loc 1 2 5
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    st.global.u32 [%d3], 0;
    ret;
}}
"""


def _compiled(folder, file, stamp="", ptx=PTX):
    """What is kept of a kernel whose PTX, now made, names a file."""
    (folder / "k.ptx").write_text(ptx.format(file=file, stamp=stamp))
    (folder / "launch.py").write_text("import numpy as np\ngrid = block = 32\narguments = [np.zeros(32, np.int32)]\n")
    return memsim.capture_ptx(folder / "k.ptx", folder / "launch.py", out=folder / "t.h5").trace


LINES = ["__global__ void clear(int *out) {", "    out[threadIdx.x] = 0;", "}"]


@pytest.fixture
def cuda_file(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("\n".join(LINES))
    return path


def test_compiled_code_brings_text_of_lines_it_names(tmp_path, cuda_file):
    """Its ops' texts are instructions, which stand in no line of the source."""
    trace = _compiled(tmp_path, cuda_file)
    assert trace.sources == {str(cuda_file): LINES} and trace.ops[0].line == 2
    cuda_file.write_text(LINES[0])
    assert _compiled(tmp_path, cuda_file).sources == {}  # the file is another one by now


@pytest.mark.slow
def test_file_changed_after_compilation_is_no_source(tmp_path, cuda_file):
    made = cuda_file.stat()
    stamp = f", {int(made.st_mtime)}, {made.st_size}"
    assert _compiled(tmp_path, "k.cu", stamp).sources == {"k.cu": LINES}
    assert _compiled(tmp_path, "k.cu", f", {int(made.st_mtime)}, {made.st_size + 1}").sources == {}
    assert _compiled(tmp_path, "k.cu", f", {int(made.st_mtime) - 1}, {made.st_size}").sources == {}
    os.utime(cuda_file, (made.st_mtime + 3600,) * 2)  # it is newer than the PTX
    assert _compiled(tmp_path, "k.cu").sources == {}


@pytest.mark.slow
def test_no_file_outside_programs_folders_gets_into_trace(tmp_path, cuda_file, monkeypatch):
    """Traces are shared, and PTX may name any file: by its path, from here, or by a link."""
    (tmp_path / "ptx").mkdir()
    (tmp_path / "ptx" / "link.cu").symlink_to("/etc/passwd")
    monkeypatch.chdir(tmp_path)
    for name in ("/etc/passwd", "link.cu", "../k.cu", "k.cu"):
        assert _compiled(tmp_path / "ptx", name).sources == {}, name


def test_entries_without_line_are_shown_first(tmp_path, cuda_file, monkeypatch):
    monkeypatch.setattr(choice, "paths_of", lambda tool: ())  # run as PTX: machine code has no line 0
    trace = _compiled(tmp_path, cuda_file, ptx=PTX.replace(".loc 1 2 5", ".loc 1 0 0"))
    (file,) = sources(memsim.simulate(trace, gpu="tesla-c2050", trials=1), [])
    assert [line.text for line in file.lines] == ["st.global.u32", *LINES]
    assert [line.number for line in file.lines if line.measure] == [0]
