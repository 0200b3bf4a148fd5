"""Another name of the functions."""

from flash_attn import *
