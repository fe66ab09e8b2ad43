"""Monte Carlo trials: seeds, parallel workers, the rule that ends a run, and the file of results."""
