"""Another name of the functions."""

from kornia.geometry import *
