"""Names are unique for classes and test files, short for tests, and old ones are still found; helpers have a room."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest
from places import ROOT

from memsim.analysis.compare import ResultComparison, Row
from memsim.analysis.loads import Load
from memsim.support.deprecated import RENAMED_FIELDS

MOST_WORDS = 8
WITH_OLD_FIELDS = (Load, ResultComparison, Row)


def test_class_names_are_unique():
    found = defaultdict(list)
    for path in (ROOT / "memsim").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    public = {"Result", "Comparison", "Study", "StudyResult"}  # of memsim.interactive
    assert not {name: places for name, places in found.items() if len(places) > 1}
    assert public <= set(found)


@pytest.mark.parametrize("owner", WITH_OLD_FIELDS, ids=lambda owner: owner.__name__)
def test_old_fields_are_the_new_ones(owner):
    one = object.__new__(owner)
    for old, new in RENAMED_FIELDS[owner.__name__].items():
        value = object()
        if not isinstance(vars(owner).get(new), property):
            one.__dict__[new] = value
        else:
            one.__dict__["file"], one.__dict__["line"], value = "a/b.cu", 3, "b.cu:3"
        with pytest.warns(DeprecationWarning, match=new):
            assert getattr(one, old) == value
    with pytest.raises(AttributeError, match="unheard_of"):
        _ = one.unheard_of


def test_every_class_with_old_fields_is_tested():
    assert {owner.__name__ for owner in WITH_OLD_FIELDS} == RENAMED_FIELDS.keys()


def test_file_names_of_tests_are_unique():
    """pytest imports them by these names."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert not sorted({name for name in names if names.count(name) > 1})


def test_test_names_have_eight_words_at_most():
    long = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.FunctionDef)
                and node.name.startswith("test_")
                and node.name.count("_") > MOST_WORDS
            ):
                long.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}")
    assert not long, "say the behaviour in eight words, without articles"


def test_root_of_tests_has_no_helpers():
    assert {path.name for path in (ROOT / "tests").glob("*.py")} <= {
        "conftest.py",
        "test_interactive.py",
        "test_pytest_plugin.py",
    }
