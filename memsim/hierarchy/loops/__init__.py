"""What the compiled loops need beside NumPy: hashes, and the host's cache lines."""
