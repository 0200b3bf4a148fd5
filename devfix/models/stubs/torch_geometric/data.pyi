"""Graphs: CPU data that ``.to()`` moves as a whole."""

from torch_geometric.loader import DataLoader as DataLoader

# https://pytorch-geometric.readthedocs.io/en/latest/modules/data.html
class Data(Overlay): ...
class HeteroData(Overlay): ...
