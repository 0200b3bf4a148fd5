"""Another name of the package."""

from lightning import *
