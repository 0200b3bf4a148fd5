"""Another name of the layers."""

from dgl.nn import *
