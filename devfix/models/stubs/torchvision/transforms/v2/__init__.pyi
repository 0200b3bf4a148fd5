"""Transforms of images, second version: objects without weights."""

from torchvision.transforms import *

# https://docs.pytorch.org/vision/stable/transforms.html: also names of one release only, such as ``ToImageTensor``
class __getattr__: ...
