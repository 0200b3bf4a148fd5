"""Another name of functions of ``torch``."""

from torch import *
