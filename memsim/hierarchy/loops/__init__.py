"""What the compiled loops need besides NumPy: hashes, and the host's cache lines."""
