"""Whether `memsim check` reports nothing on a program that does not change."""
