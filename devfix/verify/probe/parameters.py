"""Parameters: their bytes as one number, and updates that no optimizer makes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["UpdatesByHand", "digest", "unwatched"]


@contextmanager
def unwatched() -> Iterator[None]:
    """What is computed here is no part of the program: neither simulated, nor checked, nor counted."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    with torch._C.DisableTorchFunction(), _disable_current_modes(), torch.no_grad():
        yield


def digest(tensors: Iterable[Any]) -> str:
    """SHA-256 over the shapes, dtypes and bytes of tensors, in order."""
    import torch

    total = hashlib.sha256()
    with unwatched():
        for tensor in tensors:
            host = tensor.detach().cpu().contiguous()
            total.update(str((tuple(host.shape), host.dtype)).encode())
            total.update(bytes(host.reshape(-1).view(torch.uint8).numpy()) if host.numel() else b"")
    return total.hexdigest()


class UpdatesByHand:
    """Training without an optimizer: ``p.data -= lr * p.grad``, or ``w = (w - lr * g).requires_grad_()``.

    A step is a change, between one backward pass and the next, of the leaves that the first one reached.

    Attributes:
        steps: changes seen so far.
        leaves: the leaves of the last graph, in the order in which they are met.

    """

    def __init__(self) -> None:
        self.steps = 0
        self.leaves: list[Any] = []
        self._norms: list[float] = []

    def look(self, roots: Iterable[Any]) -> None:
        """Before a backward pass from ``roots``: count what has changed since the last one."""
        with unwatched():
            leaves = list(_leaves(roots))
            norms = [_norm(leaf) for leaf in leaves]
            self.steps += self._changed() or self._replaced(leaves, norms)
        self.leaves, self._norms = leaves, norms

    def finish(self) -> None:
        """At the end: count the update after the last backward pass."""
        with unwatched():
            self.steps += self._changed()
            self._norms = [_norm(leaf) for leaf in self.leaves]

    def _changed(self) -> bool:
        return any(_norm(leaf) != norm for leaf, norm in zip(self.leaves, self._norms))

    def _replaced(self, leaves: list[Any], norms: list[float]) -> bool:
        """Whether every leaf is a new tensor of the same shape with other numbers."""
        known = {id(leaf) for leaf in self.leaves}
        shapes = [[leaf.shape for leaf in each] for each in (leaves, self.leaves)]
        return not any(id(leaf) in known for leaf in leaves) and shapes[0] == shapes[1] and norms != self._norms


def _norm(leaf: Any) -> float:
    return float(leaf.detach().double().norm()) if leaf.is_floating_point() else 0.0


def _leaves(roots: Iterable[Any]) -> Iterator[Any]:
    """Tensors that a backward pass from ``roots`` would give a gradient to."""
    waiting = [root.grad_fn for root in roots]
    seen = set()  # also keeps the nodes: their identity lasts as long as they do
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            yield variable
        waiting.extend(following for following, _ in node.next_functions)
