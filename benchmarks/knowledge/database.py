"""Sample calls from PyTorch's operator database, found by the last part of a public name."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import torch

__all__ = ["entries", "modules", "samples"]

_MOST_READ = 40
_SEED = 20


@cache
def _database() -> tuple[list[Any], list[Any]]:
    """Return the entries of operators and of modules.

    Raises:
        ImportError: without ``expecttest`` or NumPy, which PyTorch's own test tools import.

    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.common_modules import module_db
    # These tools forbid changes of a backend's flags; the examples may need them.
    torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True
    operators = [op for op in op_db if not op.name.startswith("jiterator")]  # compiles CUDA source
    return operators, list(module_db)


def modules() -> list[Any]:
    """Return the entries of modules."""
    return _database()[1]


@cache
def _by_last_part() -> dict[str, list[tuple[str, Any]]]:
    found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for op in _database()[0]:
        for name in (op.name, *(alias.name for alias in op.aliases)):
            found[name.rpartition(".")[2]].append((name, op))
    return found


def entries(qualified: str) -> list[Any]:
    """Return the operators whose samples may fit a function: those of its name first, then of its last part.

    Args:
        qualified: a name below ``torch`` or a method's name: ``linalg.solve``, ``nn.functional.mse_loss``, ``add_``.

    """
    last = qualified.rpartition(".")[2]
    named = [*_by_last_part().get(last, ()), *_by_last_part().get(last.removesuffix("_"), ())]
    ordered = sorted(named, key=lambda entry: entry[0] != qualified)
    return list({id(op): op for _, op in ordered}.values())


def samples(op: Any) -> Iterator[Any]:
    """Yield an operator's first sample inputs on the CPU, for one of its dtypes after the other."""
    supported = op.supported_dtypes("cpu")
    preferred = [torch.float32, torch.int64, torch.bool, torch.complex64]
    for dtype in [dtype for dtype in preferred if dtype in supported][:2]:
        torch.manual_seed(_SEED)
        try:
            yield from islice(op.sample_inputs("cpu", dtype, requires_grad=False), _MOST_READ)
        except Exception:  # samples that this build cannot make
            continue
