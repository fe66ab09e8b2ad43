"""Times of public programs that were not used in development."""
