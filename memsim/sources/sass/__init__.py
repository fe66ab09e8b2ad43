"""Machine code (SASS): assembled from PTX, disassembled, and run by the machine that runs PTX."""
