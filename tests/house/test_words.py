"""Plain English: the phrases of words.toml are not in the manual, and elsewhere become fewer."""

from __future__ import annotations

import pytest
import words


@pytest.mark.parametrize("path", [path for path in words.files() if words.is_strict(path)], ids=str)
def test_manual_has_no_forbidden_phrase(path):
    assert not words.found(path)


def test_forbidden_phrases_become_fewer():
    more = {where: n for where, n in words.counts().items() if n > words.SETTINGS["allowed"].get(where, 0)}
    assert not more, "python tests/house/words.py lists them"


def test_phrases_are_recognized():
    assert any(phrase.search("31.2 sectors a warp instruction") for phrase in words.PHRASES)
    assert not any(phrase.search("31.2 sectors per warp instruction; a warp waits") for phrase in words.PHRASES)
