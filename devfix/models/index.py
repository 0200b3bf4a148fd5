"""What PyTorch and its neighbours do with places, as a table.

Each row names callables by their full names (``*`` at the end matches any continuation), the behaviour that the
interpreter gives them (:mod:`devfix.analysis.transfer.external_calls` holds one function per behaviour), and the page that says so.
"""

from __future__ import annotations

from functools import lru_cache

from devfix.models.frameworks import FRAMEWORKS
from devfix.models.libraries import LIBRARIES
from devfix.models.modules import MODULES
from devfix.models.tensor_functions import TENSORS
from devfix.models.training import TRAINING

__all__ = ["TABLE", "model_of"]

#: The first row that fits a name counts.
TABLE = (*FRAMEWORKS, *MODULES, *TENSORS, *TRAINING, *LIBRARIES)


@lru_cache(maxsize=4096)
def model_of(name: str) -> str:
    """How the callable with this full name behaves; ``""`` where the table says nothing."""
    for row in TABLE:
        if not name.startswith(row.prefix):
            continue
        rest = name[len(row.prefix) :]
        for candidate in row.names.split():
            if candidate == rest or (candidate.endswith("*") and rest.startswith(candidate[:-1])):
                return row.model_of
    return ""
