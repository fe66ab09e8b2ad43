"""Studies: one simulation at every point of a design, and what the points show together (docs/how_to/studies.md)."""
