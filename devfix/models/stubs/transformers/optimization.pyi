"""Another name of optimizers and schedulers."""

from transformers import *
