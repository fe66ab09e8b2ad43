"""Closed-form models from the literature: pure functions of parameters given by hand or counted in a trace."""
