"""What a kernel asks of a GPU's memory, known before any replay: kept with the results, for what explains them."""
