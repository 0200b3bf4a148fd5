"""Another name of the models."""

from torchvision.models.segmentation import *
