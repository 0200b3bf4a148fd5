"""Transforms of images, second version: objects without weights."""

from torchvision.transforms import *
