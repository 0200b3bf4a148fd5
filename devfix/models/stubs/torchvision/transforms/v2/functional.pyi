"""Another name of the transforms."""

from torchvision.transforms.functional import *
