"""Torres et al., HPCS 2011: what the shape of a block does to a GTX 480."""
