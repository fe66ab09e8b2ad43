"""The GPU that is meant where none is named; by name, as the command line must not load a model to print its help."""

DEFAULT_GPU = "rtx4090"  # people own it, and its counters and times are checked (experiments/modern_counters)
DEFAULT_ARCHITECTURE = 89  # of that GPU: compute capability 8.9
