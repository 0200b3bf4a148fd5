"""Types, for older versions of Python."""

# https://typing-extensions.readthedocs.io/en/latest/
from typing import *
