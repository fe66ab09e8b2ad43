"""A gate for continuous integration: figures of kernels, a baseline of them, and what became worse on which line."""
