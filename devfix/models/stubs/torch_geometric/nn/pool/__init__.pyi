"""Another name of the layers."""

from torch_geometric.nn import *
