"""A package with small synthetic data sets."""

from torchvision import datasets, transforms, utils
