"""Parameters: digests of their values, norms of their gradients, and updates without an optimizer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .plain import memory, plain_tensors

__all__ = ["ManualUpdates", "digest", "gradient_norm", "trainable", "untracked"]


@contextmanager
def untracked() -> Iterator[None]:
    """Disable modes, transforms and autograd: the probe's own operations are not simulated, checked or counted."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    with torch._C.DisableTorchFunction(), torch._C._DisableFuncTorch(), _disable_current_modes(), torch.no_grad():
        yield


def trainable(parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters that an optimizer can train: those that require or have a gradient."""
    return [each for each in parameters if each.requires_grad or each.grad is not None]


def digest(tensors: Iterable[Any]) -> str:
    """Return the SHA-256 of the shapes, dtypes and bytes of tensors, in order."""
    import torch

    total = hashlib.sha256()
    with untracked():
        for tensor in (part for each in tensors for part in plain_tensors(each)):
            host = tensor.detach().cpu()
            host = (host if host.layout is torch.strided else host.to_dense()).contiguous()
            total.update(str((tuple(host.shape), host.dtype)).encode())
            total.update(memory(host.resolve_conj().resolve_neg()))
    return total.hexdigest()


def gradient_norm(optimizer: Any) -> float | None:
    """Return the 2-norm of all gradients that an optimizer will use; None if there are none, or they are sparse."""
    import torch

    with untracked():
        found = [each.grad for group in optimizer.param_groups for each in group["params"] if each.grad is not None]
        gradients = [part for each in found for part in plain_tensors(each)]
        if not gradients or any(each.layout is not torch.strided or each.is_complex() for each in gradients):
            return None
        if len({(each.device, each.dtype) for each in gradients}) > 1:
            norms = [each.double().norm().cpu() for each in gradients]
        else:
            norms = [each.double() for each in torch._foreach_norm(gradients)]
        return float(torch.stack(norms).norm())


class ManualUpdates:
    """Training without an optimizer: ``p.data -= lr * p.grad``, or ``w = (w - lr * g).requires_grad_()``.

    A step is a change of the leaves of one backward pass before the next one.

    Attributes:
        steps: number of updates so far.
        leaves: the leaves of the last graph, in traversal order.

    """

    def __init__(self) -> None:
        self.steps = 0
        self.leaves: list[Any] = []
        self._norms: list[float] = []

    def before_backward(self, roots: Iterable[Any]) -> None:
        """Count an update since the last backward pass; call this before the backward pass from ``roots``."""
        with untracked():
            leaves = list(_leaves(roots))
            norms = [_norm(leaf) for leaf in leaves]
            self.steps += self._changed() or self._replaced(leaves, norms)
        self.leaves, self._norms = leaves, norms

    def finish(self) -> None:
        """Count an update after the last backward pass; call this at the end."""
        with untracked():
            self.steps += self._changed()
            self._norms = [_norm(leaf) for leaf in self.leaves]

    def _changed(self) -> bool:
        return any(_norm(leaf) != norm for leaf, norm in zip(self.leaves, self._norms))

    def _replaced(self, leaves: list[Any], norms: list[float]) -> bool:
        """Whether every leaf is a new tensor of the same shape with other values."""
        known = {id(leaf) for leaf in self.leaves}
        shapes = [[leaf.shape for leaf in each] for each in (leaves, self.leaves)]
        return not any(id(leaf) in known for leaf in leaves) and shapes[0] == shapes[1] and norms != self._norms


def _norm(leaf: Any) -> float:
    """Return the 2-norm of a floating-point tensor, else 0."""
    parts = [each for each in plain_tensors(leaf) if each.is_floating_point()]
    return math.hypot(*(float(each.detach().double().norm()) for each in parts))


def _leaves(roots: Iterable[Any]) -> Iterator[Any]:
    """Yield the leaves that accumulate a gradient in a backward pass from ``roots``."""
    waiting = [root.grad_fn for root in roots]
    seen = set()  # the set keeps the nodes alive, so that their ids stay unique
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            yield variable
        waiting.extend(following for following, _ in node.next_functions)
