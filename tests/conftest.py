"""What holds for every test."""

from hypothesis import settings

# No property here claims a speed, and the machine may be busy: an example may take as long as it takes.
settings.register_profile("memsim", deadline=None)
settings.load_profile("memsim")

# Kernels in languages that may not be installed: what tests read, and what one runs in a process of its own.
collect_ignore_glob = ["data/*", "oracles/triton_interpreted.py"]
