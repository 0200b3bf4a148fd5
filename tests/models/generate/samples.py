"""Calls of every public function: the samples of PyTorch's operator database, and a few of our own."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from conformance.probes import operators

from .drafts import tensors_in
from .names import METHODS, functions

__all__ = ["Sample", "samples"]

_DRAWN = 80  # samples that are looked at, of which those of different forms are kept
_KEPT = 12


@dataclass(frozen=True)
class Sample:
    """Arguments of one call on the CPU."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def form(self) -> tuple[Any, ...]:
        """What tells samples apart: kinds of arguments, dimensions of tensors, names of keywords."""
        return (
            tuple(_form(each) for each in self.args),
            tuple((name, _form(value)) for name, value in sorted(self.kwargs.items())),
        )


def _form(value: Any) -> Any:
    if isinstance(value, Tensor):
        return "tensor", min(value.dim(), 3), 1 in value.shape, value.numel() == 0, value.layout != torch.strided
    if isinstance(value, (list, tuple)):
        return type(value).__name__, _form(value[0]) if value else "empty"
    if isinstance(value, str):
        return value
    return type(value).__name__


def _of_operator(op: Any) -> list[Sample]:
    dtypes = op.supported_dtypes("cpu")
    if not dtypes:
        return []
    dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
    found: dict[Any, Sample] = {}
    torch.manual_seed(0)
    try:
        for each in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), _DRAWN):
            sample = Sample((each.input, *each.args), dict(each.kwargs))
            found.setdefault(sample.form(), sample)
    except Exception:  # samples that this build cannot make
        pass
    return _various(list(found.values()))


def _various(found: list[Sample]) -> list[Sample]:
    """Prefer samples without empty tensors; they say more."""

    def emptiness(sample: Sample) -> int:
        tensors = tensors_in((*sample.args, *sample.kwargs.values()))
        return sum(tensor.numel() == 0 for tensor in tensors)

    return sorted(found, key=emptiness)[:_KEPT]


def _names(op: Any) -> Iterator[str]:
    """Public names of an operator: its own, its method, its in-place form, and its aliases."""
    base = op.name.rpartition(".")[2]
    for name in (op.name, *(alias.name for alias in op.aliases)):
        yield f"torch.{name}"
    for name in (base, *(alias.name.rpartition(".")[2] for alias in op.aliases)):
        if "." not in op.name:
            yield METHODS + name
            yield f"{METHODS}{name}_"
            yield f"torch.{name}_"
    if op.name.startswith("nn.functional."):
        yield f"torch.{base}"
        yield f"torch.nn.functional.{base}_"
        yield f"{METHODS}{base}"
        yield f"{METHODS}{base}_"


@functools.cache
def samples() -> dict[str, list[Sample]]:
    """Return the samples of each public name that has any."""
    known = functions()
    found: dict[str, list[Sample]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in operators().values():
            names = [name for name in dict.fromkeys(_names(op)) if name in known]
            if names:
                own = _of_operator(op)
                for name in names:
                    found.setdefault(name, []).extend(own)
    return found
