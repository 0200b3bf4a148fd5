"""Another name of the operators."""

from torchvision.ops import *
