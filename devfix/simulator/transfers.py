"""Transfers of tensors between simulated devices, with autograd support."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import UninitializedBuffer, is_lazy

from .state import state
from .subclasses import is_wrapper
from .tags import CPU, get_tag, put_tag

__all__ = ["move"]


class _ToCopy(torch.autograd.Function):
    """Differentiable copy between devices (``ToCopyBackward0`` on real devices)."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: Tensor, tag: torch.device | None, memory_format: torch.memory_format) -> Tensor:
        return _copy(tensor, tag, memory_format)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.source_tag = get_tag(inputs[0])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if gradient.dim() and ctx.source_tag is not None and get_tag(gradient) is None:
            state.work.gradients_from_cpu += 1
        return move(gradient, ctx.source_tag), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: Any) -> Tensor:
        return tangent.clone()


def _copy(tensor: Tensor, tag: torch.device | None, memory_format: torch.memory_format) -> Tensor:
    if is_lazy(tensor):
        return _copy_uninitialized(tensor, tag)
    if is_wrapper(tensor):
        return _copy_wrapped(tensor, tag)
    result = tensor.clone(memory_format=memory_format) if tensor.layout == torch.strided else tensor.clone()
    put_tag(result, tag)
    if state.work.chains is not None:
        state.work.chains.end(result)
    return result


def _copy_wrapped(tensor: Tensor, tag: torch.device | None) -> Tensor:
    """Move a wrapper subclass, whose handler moves the inner tensors."""
    outer, state.copying = state.copying, True
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return torch.ops.aten._to_copy.default(tensor, device=tag or CPU)  # type: ignore[no-any-return]  # untyped
    finally:
        state.copying = outer


def _copy_uninitialized(tensor: Tensor, tag: torch.device | None) -> Tensor:
    """Copy a parameter or buffer of a lazy module, whose class does not allow ``clone``; a buffer keeps its class."""
    with torch._C.DisableTorchFunctionSubclass():
        result = tensor.clone()
        put_tag(result, tag)
    return result.as_subclass(UninitializedBuffer) if isinstance(tensor, UninitializedBuffer) else result


def move(
    tensor: Tensor,
    tag: torch.device | None,
    dtype: torch.dtype | None = None,
    memory_format: torch.memory_format = torch.preserve_format,
    copy: bool = False,
) -> Tensor:
    """Return ``tensor`` on another device; the tensor itself if device, dtype and memory format already match.

    Args:
        tensor: a tensor of any shape.
        tag: the target device; None is the CPU.
        dtype: dtype of the result; None: unchanged.
        memory_format: memory format of the result.
        copy: always copy.

    """
    if get_tag(tensor) is tag:
        if copy or (dtype is not None and dtype != tensor.dtype) or memory_format is not torch.preserve_format:
            return tensor.to(dtype=dtype or tensor.dtype, copy=copy, memory_format=memory_format)
        return tensor
    if get_tag(tensor) is None:
        state.work.return_to_device(tensor)
    if dtype is not None and dtype != tensor.dtype:
        converted = tensor.to(dtype=dtype, memory_format=memory_format)
        if not converted.requires_grad:
            put_tag(converted, tag)
            if state.work.chains is not None:
                state.work.chains.end(converted)
            return converted
        tensor = converted
    if (tensor.requires_grad and torch.is_grad_enabled()) or torch._C._functorch.peek_interpreter_stack() is not None:
        return _ToCopy.apply(tensor, tag, memory_format)  # type: ignore[no-untyped-call, no-any-return]  # of torch
    return _copy(tensor, tag, memory_format)
