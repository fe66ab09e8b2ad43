"""Random PTX programs whose memory is compared between a real GPU and memsim's two machines."""
