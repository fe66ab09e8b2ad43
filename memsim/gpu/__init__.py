"""A GPU as validated, immutable data: its configuration, presets, and what follows from them for a launch."""
