"""Public names of PyTorch's functions and tensor methods, as far as they work on tensors."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any

import torch
import torch.masked
import torch.nested
import torch.sparse
from torch.overrides import get_testing_overrides

__all__ = ["METHODS", "functions"]

#: Prefix of tensor methods.
METHODS = "torch.Tensor."

_MODULES = {
    "torch.linalg.": torch.linalg,
    "torch.special.": torch.special,
    "torch.fft.": torch.fft,
    "torch.sparse.": torch.sparse,
    "torch.masked.": torch.masked,
    "torch.nested.": torch.nested,
}
# Python functions of the torch namespace that no list of PyTorch names.
_OTHERS = ("is_tensor", "is_storage", "unravel_index")


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


def _of_torch() -> Iterator[str]:
    listed = {*dir(torch._C._VariableFunctions), *torch.functional.__all__, *_OTHERS}
    overridable = get_testing_overrides()
    for name in dir(torch):
        value = getattr(torch, name)
        if _is_function(value) and (name in listed or (_is_hashable(value) and value in overridable)):
            yield name


def _is_hashable(value: Any) -> bool:
    return getattr(type(value), "__hash__", None) is not None


def _of_functional() -> Iterator[str]:
    """Functions that are defined in torch.nn.functional, or taken over from C++."""
    functional = torch.nn.functional
    overridable = get_testing_overrides()
    for name, value in vars(functional).items():
        if not _is_function(value):
            continue
        own = getattr(value, "__module__", None) == functional.__name__ and not name.startswith("assert_")
        if own or value in overridable or type(value).__name__ == "builtin_function_or_method":
            yield name


def _public(module: Any) -> Iterator[str]:
    yield from (name for name in getattr(module, "__all__", dir(module)) if _is_function(getattr(module, name, None)))


@functools.cache
def functions() -> dict[str, Any]:
    """Return each public name with its function, in order: ``torch.Tensor.add_``, ``torch.linalg.solve``."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in _of_torch():
            found["torch." + name] = getattr(torch, name)
        for name in _of_functional():
            found["torch.nn.functional." + name] = getattr(torch.nn.functional, name)
        for prefix, module in _MODULES.items():
            for name in _public(module):
                found[prefix + name] = getattr(module, name)
        for name in _public(torch.Tensor):
            found[METHODS + name] = getattr(torch.Tensor, name)
    return {
        name: found[name]
        for name in sorted(found)
        if not name.rpartition(".")[2].startswith("_") and name.rpartition(".")[2] not in _NOT_OPERATIONS
    }


_NOT_OPERATIONS = frozenset(
    "boolean_dispatch handle_torch_function has_torch_function has_torch_function_unary has_torch_function_variadic "
    "check_sparse_tensor_invariants as_sparse_gradcheck".split()
)
