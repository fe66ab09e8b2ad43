"""Speed and memory of memsim, measured in one run: ``make bench``, or ``python -m experiments.bench [--quick]``."""
