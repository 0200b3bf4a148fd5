"""Loaders of graphs."""

from torch.utils.data import DataLoader as Loader

# https://pytorch-geometric.readthedocs.io/en/latest/modules/loader.html
class __getattr__(Overlay): ...
class DataLoader(Loader): ...
