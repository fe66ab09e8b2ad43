"""Public CUDA programs, captured as they are: which are, and what stops the others."""
