"""Arguments of sample calls as Python source: a short expression for each tensor, a literal for everything else."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

__all__ = ["Unwritable", "literal", "sequence", "tensor_expressions"]

_MOST_ELEMENTS = 150
_SMALLEST_RANGE = 2
_DIGITS = 6
_PLAIN = (bool, int, complex, type(None))
_SPARSE = {
    torch.sparse_coo: ".to_sparse()",
    torch.sparse_csr: ".to_sparse_csr()",
    torch.sparse_csc: ".to_sparse_csc()",
}
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_FRACTIONS = (torch.float32, torch.float64, torch.complex64, torch.complex128, torch.float16, torch.bfloat16)


class Unwritable(Exception):
    """A value without a readable literal: a function, a generator, a large tensor."""


def literal(value: Any) -> str:
    """Return the source of an argument that holds no tensor.

    Raises:
        Unwritable: if the value has no literal.

    """
    if value is Ellipsis:
        return "..."
    if isinstance(value, float):
        return repr(round(value, _DIGITS)) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, str):
        return json.dumps(value)
    if type(value) in _PLAIN:
        return repr(value)
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return str(value)
    if isinstance(value, slice):
        parts = (value.start, value.stop) if value.step is None else (value.start, value.stop, value.step)
        return f"slice({', '.join(literal(part) for part in parts)})"
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple, torch.Size):
        return sequence([literal(item) for item in value], is_list=isinstance(value, list))
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return "{" + ", ".join(f"{json.dumps(key)}: {literal(item)}" for key, item in value.items()) + "}"
    raise Unwritable(type(value).__name__)


def sequence(items: Sequence[str], is_list: bool) -> str:
    """Return the source of a list or a tuple of expressions."""
    if is_list:
        return f"[{', '.join(items)}]"
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def tensor_expressions(tensor: Tensor) -> Iterator[str]:
    """Yield expressions for a tensor of the same shape and dtype, from the shortest to the exact one.

    The first has random values in the range of the tensor's; the last one repeats its values.

    Raises:
        Unwritable: if no expression is short.

    """
    if tensor.layout in _SPARSE:
        yield from (f"{dense}{_SPARSE[tensor.layout]}" for dense in tensor_expressions(tensor.to_dense()))
        return
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise Unwritable(str(tensor.layout))
    tensor = tensor.detach()
    if tensor.dim():
        yield _random(tensor)
    if tensor.numel() <= _MOST_ELEMENTS and tensor.numel():
        yield _exact(tensor)


def _random(tensor: Tensor) -> str:
    shape = ", ".join(map(str, tensor.shape))
    dtype = "" if tensor.dtype == torch.float32 else f", dtype={tensor.dtype}"
    if tensor.dtype in _FRACTIONS:
        return f"torch.rand({shape}{dtype})"
    size = literal(tuple(tensor.shape))
    if tensor.dtype == torch.bool:
        return f"torch.randint(2, {size}, dtype=torch.bool)"
    if tensor.dtype in _INTEGERS:
        dtype = "" if tensor.dtype == torch.int64 else dtype
        low, high = (int(tensor.min()), int(tensor.max()) + 1) if tensor.numel() else (0, _SMALLEST_RANGE)
        bounds = f"{max(high, _SMALLEST_RANGE)}" if low >= 0 else f"{low}, {high}"
        return f"torch.randint({bounds}, {size}{dtype})"
    raise Unwritable(str(tensor.dtype))


def _exact(tensor: Tensor) -> str:
    inferred = torch.tensor(tensor.tolist()).dtype
    dtype = "" if inferred == tensor.dtype else f", dtype={tensor.dtype}"
    return f"torch.tensor({_rounded(tensor.tolist())}{dtype})"


def _rounded(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_rounded(item) for item in value)}]"
    return literal(round(value, 4) if isinstance(value, float) else value)
