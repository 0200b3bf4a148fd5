"""Graph datasets."""

# https://pytorch-geometric.readthedocs.io/en/latest/modules/datasets.html
class __getattr__(Overlay): ...
