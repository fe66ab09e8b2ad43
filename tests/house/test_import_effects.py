"""Importing memsim changes nothing: no file, no environment, no process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

IMPORTS = """
import importlib, json, os, pkgutil, sys

CHANGES = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod",
           "os.putenv", "os.unsetenv", "os.fork", "os.system", "os.posix_spawn", "subprocess.Popen", "socket.connect"}
found = []

def note(event, arguments):
    writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes or event in CHANGES:
        frame = sys._getframe(1)
        while frame and not frame.f_globals.get("__name__", "").startswith("memsim"):
            if "site-packages" in frame.f_code.co_filename:
                return  # other packages create their caches
            frame = frame.f_back
        found.append((event, str(arguments[0]), frame.f_globals["__name__"] if frame else ""))

import memsim

sys.addaudithook(note)
imported = 0
for one in pkgutil.walk_packages(memsim.__path__, "memsim."):
    if not one.name.endswith("__main__"):
        try:
            importlib.import_module(one.name)
            imported += 1
        except ImportError as missing:
            assert not (missing.name or "memsim").startswith("memsim"), missing
print(json.dumps([imported, found]))
"""


@pytest.mark.slow
def test_imports_have_no_effects(tmp_path):
    environment = os.environ | {"MEMSIM_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", IMPORTS], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported, found = json.loads(done.stdout)
    assert imported > 400 and not found and not list(tmp_path.iterdir())
