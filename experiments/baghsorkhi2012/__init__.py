"""Baghsorkhi et al., PPoPP 2012: the stochastic model on the paper's own kernels."""
