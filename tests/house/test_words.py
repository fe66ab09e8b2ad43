"""Plain English: no file has a phrase of words.toml."""

from __future__ import annotations

import words


def test_no_file_has_forbidden_phrases():
    assert not {path: found for path in words.files() if (words.ROOT / path).exists() and (found := words.found(path))}


def test_phrases_are_recognized():
    assert any(phrase.search("31.2 sectors a warp instruction") for phrase in words.PHRASES)
    assert not any(phrase.search("31.2 sectors per warp instruction; a warp waits") for phrase in words.PHRASES)
