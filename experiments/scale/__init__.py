"""How far a study goes: with more workers, with longer traces, on a cluster."""
