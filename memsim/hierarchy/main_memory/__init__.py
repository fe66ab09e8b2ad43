"""The paper's main-memory step (Baghsorkhi 2012, 3.2.3)."""
