"""The table of models: PyTorch and the libraries around it, looked up by full name.

The rows are Python tables for now (``frameworks``, ``modules``, ``tensor_functions``, ``training``, ``libraries``) and
become stub data.  :mod:`devfix.analysis.transfer.external_calls` has one transfer function per model.
"""

from __future__ import annotations

from functools import lru_cache

from devfix.models.frameworks import FRAMEWORKS
from devfix.models.libraries import LIBRARIES
from devfix.models.modules import MODULES
from devfix.models.tensor_functions import TENSORS
from devfix.models.training import TRAINING

__all__ = ["TABLE", "model_of"]

#: The first row that matches a name wins.
TABLE = (*FRAMEWORKS, *MODULES, *TENSORS, *TRAINING, *LIBRARIES)


@lru_cache(maxsize=4096)
def model_of(name: str) -> str:
    """Return the model of the callable with this full name; ``""`` if no row matches."""
    for row in TABLE:
        if not name.startswith(row.prefix):
            continue
        rest = name[len(row.prefix) :]
        for candidate in row.names.split():
            if candidate == rest or (candidate.endswith("*") and rest.startswith(candidate[:-1])):
                return row.model
    return ""
