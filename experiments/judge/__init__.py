"""Whether `memsim judge` gives a hundred candidates of four kernels the right verdict within their budget."""
