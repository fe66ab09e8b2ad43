"""Other tracers' files: what each format's folder shares, and the folders."""
