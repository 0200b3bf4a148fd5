"""Another name of the layers."""

from timm.layers import *
