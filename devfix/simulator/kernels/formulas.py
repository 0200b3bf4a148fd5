"""Backward formulas that PyTorch replaces while a dispatch mode is active.

torch/csrc/autograd/FunctionsManual.cpp (``prod_backward``) divides the result by the inputs if no input is zero, but
under a mode it always takes the formula for inputs with zeros, whose rounding errors differ.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..state import call_in_context

__all__ = ["handlers"]


class _Product(torch.autograd.Function):
    """``torch.prod`` of a tensor without zeros, differentiated as without a mode."""

    @staticmethod
    def forward(ctx: Any, source: Tensor, dim: int | None, keepdim: bool) -> Tensor:
        result = torch.prod(source) if dim is None else torch.prod(source, dim, keepdim)
        ctx.save_for_backward(source, result)
        ctx.dim = None if keepdim else dim
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        source, result = ctx.saved_tensors
        gradient = gradients[0]
        if ctx.dim is not None:
            gradient, result = gradient.unsqueeze(ctx.dim), result.unsqueeze(ctx.dim)
        return gradient * (result / source).conj(), None, None


def _prod(func: Any, args: Any, kwargs: Any) -> Any:
    names = ("input", "dim", "keepdim")
    given = {**dict(zip(names, args)), **kwargs}
    if given.keys() <= set(names) and len(args) <= len(names) and _is_plain(given["input"]):
        return call_in_context(_Product.apply, (given["input"], given.get("dim"), given.get("keepdim", False)), {})
    return call_in_context(func, args, kwargs)


def _is_plain(source: Any) -> bool:
    """Whether a tensor is differentiated in the ordinary way and has no zeros."""
    return (
        type(source) in (Tensor, torch.nn.Parameter)
        and source.requires_grad
        and torch.is_grad_enabled()
        and source.dim() > 0
        and (source.is_floating_point() or source.is_complex())
        and torch._C._functorch.peek_interpreter_stack() is None
        and torch.autograd.forward_ad._current_level < 0
        and bool((source.detach() != 0).all())
    )


def handlers() -> dict[Any, Any]:
    """Return this module's handlers, by the torch function that they replace."""
    return {torch.prod: _prod, Tensor.prod: _prod}
