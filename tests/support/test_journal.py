"""A journal holds what was added, refuses two writers, and tells damage from rows."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from memsim.support.errors import InputError
from memsim.support.journal import Journal, journal_path


@pytest.fixture
def path(tmp_path):
    return journal_path(tmp_path / "result.h5")


def opened(path, **options):
    return Journal(path, path.parent / "result.h5", **options)


def rows(journal, task="task"):
    return {number: {name: values.tolist() for name, values in arrays.items()} for number, arrays in journal.rows(task)}


def test_rows_come_back_by_task_and_number(path):
    journal = opened(path)
    for task, number in (("task", 3), ("other", 3), ("task", 1)):
        journal.add(task, number, {"number": np.array(number), "name": np.arange(len(task))})
    journal.close()
    again = opened(path)
    assert again.tasks() == {"task": 2, "other": 1}
    assert rows(again) == {number: {"number": number, "name": [0, 1, 2, 3]} for number in (1, 3)}
    assert rows(again, "none") == {}


def test_two_do_not_write_at_once(path):
    first = opened(path)
    for options in ({}, {"anew": True}):
        with pytest.raises(InputError, match="result.h5: file is being written by another run"):
            opened(path, **options)
    first.add("task", 0, {"a": np.zeros(1)})
    first.close()
    assert rows(opened(path)) == {0: {"a": [0.0]}}


def test_damaged_row_counts_as_missing(path):
    journal = opened(path)
    for number in range(3):
        journal.add("task", number, {"a": np.array(number)})
    journal.close()
    with sqlite3.connect(path) as base:
        base.execute("UPDATE finished SET content = zeroblob(length(content)) WHERE number = 1")
    base.close()
    assert list(rows(opened(path))) == [0, 2]


def test_file_that_is_no_journal_is_refused(path):
    path.write_bytes(b"hello " * 1000)
    with pytest.raises(InputError, match="journal is damaged; give --force to start again"):
        opened(path)
    assert rows(opened(path, anew=True)) == {}


def test_removed_it_leaves_nothing(path):
    journal = opened(path)
    journal.add("task", 0, {"a": np.zeros(1)})
    journal.remove()
    assert list(path.parent.iterdir()) == []
