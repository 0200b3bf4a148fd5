"""Another name of the models."""

from torchvision.models import *
