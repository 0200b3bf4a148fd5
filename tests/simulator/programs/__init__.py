"""Small programs that are right on CUDA, a function each: it takes a device and returns what must equal the CPU's.

A public function of a module in this folder is a program.  It seeds nothing, and it returns tensors and numbers in
lists, tuples and dictionaries; whatever it must assert about devices, it asserts itself.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

__all__ = ["PROGRAMS"]

_MODULES = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]

#: Programs by ``module.name``.
PROGRAMS: dict[str, Callable[[str], Any]] = {
    f"{module.__name__.rpartition('.')[2]}.{name}": function
    for module in _MODULES
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
}
