"""A class name means one thing in all of memsim, and names that have changed are still found."""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict

import pytest
from places import ROOT

from memsim.support.deprecated import RENAMED


def test_class_names_are_unique():
    found = defaultdict(list)
    for path in (ROOT / "memsim").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    public = {"Result", "Comparison", "Study", "StudyResult"}  # of memsim.interactive
    assert not {name: places for name, places in found.items() if len(places) > 1}
    assert public <= set(found)


@pytest.mark.parametrize("package", RENAMED)
def test_old_names_are_the_new_ones(package):
    module = importlib.import_module(package)
    for old, new in RENAMED[package].items():
        with pytest.warns(DeprecationWarning, match=new):
            assert getattr(module, old) is getattr(module, new)
