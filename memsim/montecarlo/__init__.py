"""Monte Carlo trials: seeds, parallel workers, the rule that ends a run, and the file of results."""

from memsim.montecarlo.run import run

__all__ = ["run"]
