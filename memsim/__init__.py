"""memsim: a GPU kernel's memory behaviour, with error bars."""

__version__ = "0.1.0"
