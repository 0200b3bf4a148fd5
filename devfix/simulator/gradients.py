"""Gradients passed to autograd must be on the device of their outputs.

torch/csrc/autograd/engine.cpp (``validate_outputs``): a 0-dim gradient is moved, any other raises.  Without device
checks, any gradient is moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .errors import invalid_gradient
from .patches import Patches
from .state import state
from .tags import get_tag, reported_device
from .work import is_trainable, mark_trained

__all__ = ["patch_gradients"]


def patch_gradients(patches: Patches) -> None:
    """Check ``backward(gradient)`` and ``torch.autograd.grad(grad_outputs=...)``."""
    autograd: Any = torch.autograd
    real = autograd._engine_run_backward

    def run(outputs: Sequence[Any], gradients: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        checked = [_checked(index, *pair) for index, pair in enumerate(zip(outputs, gradients, strict=True))]
        found = real(outputs, tuple(checked), *args, **kwargs)
        _mark_gradients(found, *args[2:3])
        return found

    patches.set(autograd, "_engine_run_backward", run)


def _mark_gradients(found: Any, inputs: Any = ()) -> None:
    """Mark the gradients of parameters that ``torch.autograd.grad`` returns; a backward pass returns none."""
    for gradient, source in zip(found or (), inputs):
        if isinstance(source, Tensor) and is_trainable(source):
            mark_trained(gradient)


def _checked(index: int, output: Any, gradient: Any) -> Any:
    are_tensors = isinstance(output, Tensor) and isinstance(gradient, Tensor)
    if not are_tensors or get_tag(output) is get_tag(gradient):
        return gradient
    if gradient.dim() > 0 and state.checks:
        raise invalid_gradient(index, reported_device(output), reported_device(gradient))
    return gradient.to(output.device)
