"""What is read of an executable, and how messages call it."""

import pytest

from memsim.capture.executables import shown_name


@pytest.mark.parametrize(
    ("name", "arguments", "shown"),
    [
        ("./app", ["-m", "64"], "./app"),
        ("python", ["-m", "package.module", "64"], "package.module"),
        ("/usr/bin/python3.11", ["-u", "-X", "dev", "folder/script.py"], "folder/script.py"),
        ("python", ["-c", "print()"], "python"),
        ("python", [], "python"),
        ("python", ["-m"], "python"),
        ("pytest", ["-m", "slow"], "pytest"),
    ],
)
def test_a_started_python_is_called_by_its_program(name, arguments, shown):
    assert shown_name(name, arguments) == shown
