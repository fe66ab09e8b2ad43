"""A GPU's numbers from walks through its memory: on hardware, or on a simulated GPU that hides what it was given."""
