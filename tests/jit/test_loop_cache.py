"""Machine code on disk never outlives a source it was made of; and what of Numba's inside memsim leans on."""

import ast
import configparser
import inspect
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import cgutils
from numba.core.caching import FunctionCache
from numba.np import arrayobj
from places import ROOT

from memsim.jit import compiled
from memsim.jit.compiled import loop
from memsim.jit.loop_cache import BAKED_IN, MOST_FOLDERS, digest
from tests.support.full_disk import limit_files

PACKAGE = ROOT / "memsim"


@pytest.mark.parametrize(
    ("changed", "rooms"),
    [
        ("trace/schema.py", set(BAKED_IN)),  # its flags are constants in every loop
        ("jit/compiled.py", set(BAKED_IN)),
        ("hierarchy/codes.py", {"hierarchy"}),
        ("profile/order.py", {"profile"}),
        ("cli/run.py", set()),
    ],
)
def test_changed_source_changes_digest_of_its_loops(tmp_path, changed, rooms):
    package = tmp_path / "memsim"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = {room: digest(package, room) for room in BAKED_IN}
    assert before == {room: digest(PACKAGE, room) for room in BAKED_IN}  # whichever folder it is in
    (package / changed).write_text((package / changed).read_text() + "# changed\n")
    assert {room for room in BAKED_IN if digest(package, room) != before[room]} == rooms


COMPILE_ONE_LOOP = """
import numpy as np
from memsim.profile.stack import picked
picked(np.int64(7), np.int64(3))
print(sum(picked.stats.cache_misses.values()))
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_processes_share_one_compilation_of_a_loop(tmp_path):
    environment = os.environ | {"MEMSIM_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", COMPILE_ONE_LOOP]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(process.communicate()[0] for process in both) == ["0\n", "1\n"]
    assert (
        len(list(tmp_path.glob("loops/profile-*/stack/picked-*.nbi"))) + len(list(tmp_path.rglob("stack.picked-*.nbi")))
        == 1
    )


TAKE_IN_A_LOADED_LOOP = """
import numpy as np
from memsim.jit.compiled import loop
from memsim.profile.stack import picked

@loop
def count(most):
    found = 0
    for line in range(most):
        found += picked(np.int64(line), np.int64(2))
    return found

alone = sum(bool(picked(np.int64(line), np.int64(2))) for line in range(64))
print(sum(picked.stats.cache_hits.values()), alone, count(np.int64(64)))
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_loop_from_disk_is_taken_in_by_another(tmp_path):
    for hits in (0, 1):
        script = tmp_path / f"script{hits}.py"  # each compiles its own loop
        script.write_text(TAKE_IN_A_LOADED_LOOP)
        paths = os.environ | {"MEMSIM_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run([sys.executable, str(script)], env=paths, capture_output=True, text=True)
        found, alone, counted = map(int, run.stdout.split())
        assert found == hits and 0 < alone < 64 and counted == alone, run.stderr


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_full_disk_does_not_stop_a_compilation(tmp_path):
    environment = os.environ | {"MEMSIM_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", COMPILE_ONE_LOOP]
    limit = partial(limit_files, 512, 512)
    run = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=limit)
    assert (run.stdout, run.stderr) == ("1\n", "")


def test_a_bar_counts_what_is_compiled(monkeypatch, tmp_path):
    """A loop that is there already does not count."""
    reported = []

    @contextmanager
    def shown(unit, delay):
        assert (unit, delay) == ("loops", compiled.PATIENCE)
        yield lambda done, total: reported.append((done, total >= done))

    monkeypatch.setattr(compiled, "bar", shown)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    twice = loop(lambda x: 2 * x)
    with compiled.loading_loops():
        assert [twice(2), twice(3), twice(2.5)] == [4, 6, 5.0]
    assert reported == [(1, True), (2, True)]
    twice(1j)
    assert len(reported) == 2


def _imported_rooms(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {module.split(".")[1] for module in modules if module.startswith("memsim.")}


def test_rooms_imported_by_loops_are_known_as_specialized():
    for path in PACKAGE.rglob("*.py"):
        if "from memsim.jit.compiled import" not in path.read_text():
            continue
        room = path.relative_to(PACKAGE).parts[0]
        if room not in BAKED_IN:
            text = path.read_text()
            assert not any(word in text for word in ("@loop", "@inlined", "@called")), path
            continue
        # Of gpu come only configurations, which loops get as arguments; of hierarchy, layouts and events as integers.
        assert _imported_rooms(path) - {"gpu"} <= {*BAKED_IN[room], "hierarchy"}, path


def test_private_numba_is_where_memsim_looks_for_it():
    """Whoever raises numba's upper bound in setup.cfg looks at these first."""
    for name in ("_load_overload", "_guard_against_spurious_io_errors", "save_overload", "load_overload"):
        assert inspect.isfunction(getattr(FunctionCache, name)), name
    assert list(inspect.signature(arrayobj.fix_integer_index).parameters) == [
        "context", "builder", "idxty", "idx", "size",
    ]  # fmt: skip
    assert callable(cgutils.get_or_insert_function)

    @loop
    def twice(x):
        return 2 * x

    assert twice(np.int64(21)) == 42
    if not numba.config.DISABLE_JIT:
        compiled = twice.overloads[(numba.int64,)]
        assert compiled.entry_point(np.int64(4)) == 8
        assert isinstance(twice.targetctx.codegen()._engine._defined_symbols, set)
        assert callable(compiled.library._get_module_for_linking) and hasattr(compiled.library, "_shared_module")
        for name in ("insert_user_function",):
            assert callable(getattr(twice.targetctx, name))
        assert callable(twice.add_overload) and hasattr(twice, "_cache")


def test_numba_has_upper_bound_above_this_one():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    (requirement,) = [line for line in setup["options"]["install_requires"].splitlines() if line.startswith("numba")]
    assert "<" in requirement
    bound = tuple(int(part) for part in requirement.split("<")[1].strip().split("."))
    assert tuple(int(part) for part in numba.__version__.split(".")[:2]) < bound


IMPORT_ROOMS = """
import memsim.hierarchy.system, memsim.profile.ops, memsim.sources.ptx.machine.run, memsim.jit.compile_entry
"""


def test_importing_loops_touches_no_file(tmp_path):
    """Folders of older trees go when a loop is used, not when a module is imported."""
    folders = {f"hierarchy-{number:016x}" for number in range(MOST_FOLDERS + 6)}
    for name in folders:
        (tmp_path / "loops" / name).mkdir(parents=True)
    subprocess.run([sys.executable, "-c", IMPORT_ROOMS], env=os.environ | {"MEMSIM_CACHE": str(tmp_path)}, check=True)
    assert {path.name for path in (tmp_path / "loops").iterdir()} == folders
