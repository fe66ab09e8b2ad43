"""What the compiled loops need beside NumPy: compilation, plain Python's records, prefetching, hashes."""
