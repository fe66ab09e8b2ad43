"""The GPUs that are meant where none is named; by name, as the command line must not load a model to print its help."""

DEFAULT_GPU = "tesla-c2050"  # of the paper whose model the replay follows
CAPTURE_GPU = "tesla-v100"  # the largest: blocks enough to fill it fill the others too
PYTHON_GPU = "a100"  # the oldest that Triton compiles for: its code runs on later ones
