"""Graph datasets."""

# https://ogb.stanford.edu/docs/home/
class PygNodePropPredDataset(Overlay): ...
