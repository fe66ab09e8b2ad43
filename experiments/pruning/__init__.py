"""Whether memsim.prune keeps the configuration that a simulation of all finds to be best."""
