"""Graph datasets."""

from ogb.nodeproppred import PygNodePropPredDataset as PygLinkPropPredDataset
