"""Types of the interpreter."""

from functools import partial as MethodType

# https://docs.python.org/3/library/types.html#types.SimpleNamespace
class SimpleNamespace(Overlay): ...
