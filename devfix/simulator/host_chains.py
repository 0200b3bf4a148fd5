"""Calls that the simulator without device checks runs on the accelerator, and the program means to run on the CPU.

If operands are on different devices, either one may be meant.  The call and all calls with its results are a chain.  A
program that takes the NumPy array of a result without moving it means the whole chain to run on the CPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

__all__ = ["HostChains"]


class _Chain:
    """Calls with common results; chains that meet are one, whose ``parent`` is the oldest of them."""

    __slots__ = ("calls", "evaluations", "is_host", "parent")

    def __init__(self) -> None:
        self.calls = 0
        self.evaluations: Counter[str] = Counter()
        self.is_host = False
        self.parent: _Chain | None = None

    @property
    def root(self) -> _Chain:
        """The chain that this one has become a part of, or itself."""
        chain = self
        while chain.parent is not None:
            chain = chain.parent
        return chain

    def join(self, other: _Chain) -> None:
        """Make another chain a part of this one; both are roots."""
        if other is not self:
            other.parent = self
            self.calls += other.calls
            self.evaluations += other.evaluations
            self.is_host = self.is_host or other.is_host


class HostChains:
    """The chains of a run.  A tensor belongs to a chain by its storage, as to a device."""

    def __init__(self) -> None:
        self._chains: list[_Chain] = []

    @property
    def host_calls(self) -> int:
        """Number of calls in chains whose result the program uses on the CPU."""
        return sum(chain.calls for chain in self._host_chains())

    @property
    def host_evaluations(self) -> Counter[str]:
        """Number of calls in these chains that :meth:`add_evaluation` added, by operator."""
        return sum((chain.evaluations for chain in self._host_chains()), Counter())

    def _host_chains(self) -> Iterator[_Chain]:
        return (chain for chain in self._chains if chain.parent is None and chain.is_host)

    def add_evaluation(self, operator: str, result: Any) -> None:
        """Add the operator of a call within a model without gradients to the chain of its result."""
        with torch._C.DisableTorchFunction():
            for tensor in _tensors((result,)):
                chain = _chain_of(tensor)
                if chain is not None:
                    chain.evaluations[operator] += 1
                    return

    def add(self, args: Any, result: Any, is_mixed: bool) -> bool:
        """Add a call on the accelerator; ``is_mixed`` if its operands are on different devices.

        Returns:
            Whether the call belongs to a chain.

        """
        with torch._C.DisableTorchFunction():
            found = [chain for tensor in _tensors(args) if (chain := _chain_of(tensor)) is not None]
            if not found:
                if not is_mixed:
                    return False
                found = [_Chain()]
                self._chains.append(found[0])
            chain = found[0]
            for other in found[1:]:
                chain.join(other.root)
            chain.calls += 1
            for tensor in _tensors((result,)):
                _set_chain(tensor, chain)
        return True

    def end(self, tensor: Tensor) -> None:
        """End the chain at a tensor that the program itself has moved."""
        with torch._C.DisableTorchFunction():
            if _chain_of(tensor) is not None:
                _set_chain(tensor, None)

    def use_on_host(self, tensor: Tensor) -> None:
        """Record that the program takes the NumPy array of a tensor."""
        with torch._C.DisableTorchFunction():
            chain = _chain_of(tensor)
            if chain is not None:
                chain.is_host = True


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, Tensor))


def _chain_of(tensor: Tensor) -> _Chain | None:
    with suppress(NotImplementedError, RuntimeError):  # no storage
        chain: _Chain | None = getattr(tensor.untyped_storage(), "_chain", None)
        return None if chain is None else chain.root
    return None


def _set_chain(tensor: Tensor, chain: _Chain | None) -> None:
    with suppress(NotImplementedError, RuntimeError):  # no storage
        tensor.untyped_storage()._chain = chain  # type: ignore[attr-defined]  # our attribute
