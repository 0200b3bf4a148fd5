"""Calls made up for overloads that no sample uses, and shorter forms of samples."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from .drafts import OPERAND, Draft, Parameter, bind, tensors_in
from .samples import Sample

__all__ = ["made_up", "shorter", "taller"]

# Backends of their own, whose functions do not check what they are called with.
_BACKENDS = ("cudnn_", "miopen_", "mkldnn_", "fbgemm_", "quantized_", "batch_norm_", "fused_", "sym_")
_SHAPES: tuple[tuple[int, ...], ...] = ((3, 3), (3,), (2, 3, 3), (2, 3, 4, 4))
_NUMBERS = {"int": (1, 0, 2), "float": (0.5, 1), "bool": (True,), "str": ("mean", "sum")}
_PLAIN: tuple[Any, ...] = ((0,), 2, (3, 3), torch.float32)
_MOST = 64


def shorter(draft: Draft, samples: list[Sample], first_fit: Callable[[Sample], Draft | None]) -> list[Sample]:
    """Return samples without their optional arguments, and with one optional operand each: ``diff(x, prepend=y)``."""
    found: dict[Any, Sample] = {}
    for sample in samples:
        bound = bind(draft, sample.args, sample.kwargs) or {}
        optional = [each.name for each in draft.parameters if each.optional and tensors_in(bound.get(each.name))]
        for kept in ((), *((name,) for name in optional), tuple(optional)):
            made = _without_options(draft, bound, kept)
            if first_fit(made) is draft:
                found.setdefault(made.form, made)
    return list(found.values())


def _without_options(draft: Draft, bound: dict[str, Any], kept: tuple[str, ...]) -> Sample:
    args: list[Any] = []
    kwargs = {}
    for each in draft.parameters:
        if each.kind == "rest":
            args += bound.get(each.name, ())
        elif each.kind == "plain" and not each.optional:
            args.append(bound[each.name])
        elif each.name in bound and (each.name in kept or not each.optional):
            kwargs[each.name] = bound[each.name]
    return Sample(tuple(args), kwargs)


def taller(samples: list[Sample]) -> list[Sample]:
    """Return the sample of most vectors with two rows for each, if no sample has a matrix; it may not work."""
    if not samples or any(_is_matrix(tensor) for each in samples for tensor in _tensors(each)):
        return []
    most = max(samples, key=lambda each: sum(tensor.dim() == 1 for tensor in _tensors(each)))
    return [Sample(tree_map(_twice, most.args), tree_map(_twice, most.kwargs))]


def _is_matrix(tensor: Tensor) -> bool:
    return tensor.is_nested or (tensor.dim() > 1 and 1 not in tensor.shape)


def _tensors(sample: Sample) -> list[Tensor]:
    return tensors_in((*sample.args, *sample.kwargs.values()))


def _twice(value: Any) -> Any:
    return torch.stack([value, value]) if isinstance(value, Tensor) and value.layout == torch.strided else value


def made_up(name: str, function: Callable[..., Any], draft: Draft) -> list[Sample]:
    """Return calls of an overload that work on the CPU: square matrices, vectors, small numbers."""
    if name.rpartition(".")[2].startswith(_BACKENDS) or not draft.operands:
        return []
    required = [each for each in draft.parameters if not each.optional and each.kind in ("plain", "keyword")]
    found = []
    for values in itertools.islice(itertools.product(*map(_values, required)), _MOST):
        sample = _sample(required, values)
        if _works(function, sample):
            found.append(sample)
            if len(found) == 2:
                break
    return found


def _values(parameter: Parameter) -> Iterator[Any]:
    if parameter.word == OPERAND:
        for shape in _SHAPES:
            count = int(torch.Size(shape).numel())
            yield (torch.arange(count, dtype=torch.float32).reshape(shape) + 1) / (count + 1)
        yield torch.tensor([0, 1, 2])
    else:
        yield from _NUMBERS.get(parameter.word, _PLAIN)


def _sample(required: list[Parameter], values: tuple[Any, ...]) -> Sample:
    pairs = list(zip(required, values, strict=True))
    return Sample(
        tuple(value for each, value in pairs if each.kind == "plain"),
        {each.name: value for each, value in pairs if each.kind == "keyword"},
    )


def _works(function: Callable[..., Any], sample: Sample) -> bool:
    args = [value.clone() if isinstance(value, Tensor) else value for value in sample.args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args, **sample.kwargs)
        except Exception:
            return False
    return True
