"""Python processes that import nothing from the current folder, which may hold a stranger's code.

``python -m`` and ``python -c`` put the current folder first on ``sys.path``: a ``multiprocessing.py`` there would run
in each worker process.  https://docs.python.org/3/using/cmdline.html#cmdoption-P
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["can_start_workers", "module_command", "safe_import_path"]

_VARIABLE = "PYTHONSAFEPATH"
_HAS_SAFE_PATH = sys.version_info >= (3, 11)


def module_command(module: str) -> list[str]:
    """Return the command that runs an installed module, whatever the current folder contains."""
    return [sys.executable, "-P" if _HAS_SAFE_PATH else "-I", "-m", module]


def can_start_workers() -> bool:
    """Whether worker processes import nothing from the current folder: not if Python 3.10 starts them with ``-c``."""
    return _HAS_SAFE_PATH or multiprocessing.get_start_method() == "fork"


@contextmanager
def safe_import_path() -> Iterator[None]:
    """Start worker processes without the current folder on ``sys.path``."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before
