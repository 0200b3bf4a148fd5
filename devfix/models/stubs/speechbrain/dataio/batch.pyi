"""Batches of padded examples."""

# https://speechbrain.readthedocs.io/en/latest/API/speechbrain.dataio.batch.html
class PaddedBatch(Overlay): ...
