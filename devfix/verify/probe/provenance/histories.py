"""What is known about a piece of memory: a node for its birth or its last transfer, which knows the nodes before it.

A node hangs on the storage's Python object, which PyTorch keeps alive with the storage (as the simulator's tags do).
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from .frames import Chain, Frames

__all__ = ["Histories", "Node", "tensors_in"]

_ATTRIBUTE = "_devfix_history"
_MOST_PARENTS = 3
_MOST_GENERATIONS = 12
_MOST_SENT = 64
_NoTorchFunction = torch._C.DisableTorchFunction
_CREATING = ("_like", "new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided", "lift_fresh")


class Node:
    """One thing that happened to a value.

    Attributes:
        kind: ``created``, ``loaded``, ``computed`` or ``moved``.
        operation: name of the operator, such as ``aten::zeros``, or of the function that moved it, such as ``to``.
        device: where the value was after it, as PyTorch writes devices.
        chain: who did it.
        parents: nodes of the values that it was made from.
        index: its number in the run.
        sent: to which device a copy of it, or of what was made of it there, went last; None if none did.
        copy: the last transfer *from* it, which left its memory where it was: device, chain, the result, weakly, and
            whether a module was moved by it; None if there was none.

    """

    __slots__ = ("chain", "copy", "device", "generation", "index", "kind", "operation", "parents", "sent")

    def __init__(
        self, kind: str, operation: str, device: str, chain: Chain, parents: tuple[Node, ...], index: int
    ) -> None:
        self.kind = kind
        self.operation = operation
        self.device = device
        self.chain = chain
        self.index = index
        self.sent: str | None = None
        self.copy: tuple[str, Chain, weakref.ref[Tensor], bool] | None = None
        self.parents = parents
        generation = 1
        for parent in parents:
            if parent.generation >= generation:
                generation = parent.generation + 1
        if generation > _MOST_GENERATIONS:
            self.parents = tuple({id(first): first for first in map(_first, parents)}.values())
            generation = 2
        self.generation: int = generation

    def ancestors(self) -> list[Node]:
        """This node and all before it, the oldest first."""
        found = {id(self): self}
        pending = [self]
        while pending:
            for parent in pending.pop().parents:
                if id(parent) not in found:
                    found[id(parent)] = parent
                    pending.append(parent)
        return sorted(found.values(), key=lambda node: node.index)


def _first(node: Node) -> Node:
    while node.parents:
        node = node.parents[0]
    return node


def _note_sent(node: Node, source: str, target: str) -> None:
    """A copy went to ``target``; that of a value which was made of others on the way is a copy of them, too."""
    pending, seen = [node], {id(node)}
    while pending and len(seen) < _MOST_SENT:
        each = pending.pop()
        each.sent = target
        for parent in each.parents:
            if parent.device == source and id(parent) not in seen:
                seen.add(id(parent))
                pending.append(parent)


def tensors_in(values: Any, depth: int = 3) -> Iterator[Tensor]:
    """The tensors in arguments or results, also inside of lists, tuples and dictionaries."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif depth and isinstance(value, (list, tuple)):
            yield from tensors_in(value, depth - 1)
        elif depth and isinstance(value, dict):
            yield from tensors_in(value.values(), depth - 1)


class Histories:
    """Writes nodes on storages.

    Args:
        frames: tells the user's frames.
        device_of: where a tensor is, as PyTorch writes devices.

    """

    def __init__(self, frames: Frames, device_of: Callable[[Tensor], str]) -> None:
        self.frames = frames
        self.device_of = device_of
        self.count = 0
        self.loading: str | None = None  # the function that reads a file now
        self._words: dict[Any, tuple[str, bool]] = {}
        setattr(torch.UntypedStorage, _ATTRIBUTE, None)

    def of(self, tensor: Tensor) -> Node | None:
        """The node of a tensor's memory; None if it has none."""
        with _NoTorchFunction():
            try:
                return tensor.untyped_storage()._devfix_history  # type: ignore[attr-defined, no-any-return]  # our attribute
            except (NotImplementedError, RuntimeError):  # sparse and wrapped tensors have no storage of their own
                return None

    def next(self) -> int:
        """The number of the next event."""
        self.count += 1
        return self.count

    def here(self, depth: int = 2) -> Chain:
        """The chain of the caller."""
        return self.frames.chain(sys._getframe(depth))

    def born(self, operation: Any, result: Any, args: Any, kwargs: Any) -> None:
        """Note the birth of those results of an operator, or of a function, that lie in new memory."""
        if isinstance(result, Tensor):
            self._born(operation, result, args, kwargs)
        elif isinstance(result, (list, tuple)):
            for each in tensors_in(result):
                self._born(operation, each, args, kwargs)

    def _born(self, operation: Any, result: Tensor, args: Any, kwargs: Any) -> None:
        with _NoTorchFunction():
            try:
                storage: Any = result.untyped_storage()
                if storage._devfix_history is not None:
                    return
            except (NotImplementedError, RuntimeError):
                return
            name, making = self._words.get(operation) or self._learn(operation)
            parents = () if making else self._parents(args, kwargs)
            kind = "computed" if parents else "created"
            if self.loading and not parents:
                kind, name = "loaded", self.loading
            chain = self.frames.chain(sys._getframe(3))
            self.count = index = self.count + 1
            storage._devfix_history = Node(kind, name, self.device_of(result), chain, parents, index)

    def _learn(self, operation: Any) -> tuple[str, bool]:
        """The name of an operator or function, and whether it makes something new of what it is given."""
        schema = getattr(operation, "_schema", None)
        name = schema.name if schema is not None else getattr(operation, "__name__", str(operation))
        found = self._words[operation] = name, any(mark in name for mark in _CREATING)
        return found

    def _parents(self, args: Any, kwargs: Any) -> tuple[Node, ...]:
        found: list[Node] = []
        for value in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(value, Tensor):
                self._add_parent(value, found)
            elif isinstance(value, (list, tuple, dict)):
                for tensor in tensors_in([value]):
                    self._add_parent(tensor, found)
                    if len(found) == _MOST_PARENTS:
                        break
            if len(found) == _MOST_PARENTS:
                break
        return tuple(found)

    def _add_parent(self, tensor: Tensor, found: list[Node]) -> None:
        try:
            node = tensor.untyped_storage()._devfix_history  # type: ignore[attr-defined]  # our attribute
        except (NotImplementedError, RuntimeError):
            return
        if node is not None and node not in found:
            found.append(node)

    def settle(self, result: Tensor, since: int) -> None:
        """Correct the device of a node that was written while a call ran, from what the call returned."""
        node = self.of(result)
        if node is not None and node.index > since:
            node.device = self.device_of(result)

    def arrived(self, tensor: Tensor, function: str, loader: bool = False) -> None:
        """Note the birth of a tensor that no operator has made, if it is new here: NumPy's memory, or a worker's."""
        with _NoTorchFunction():
            try:
                storage: Any = tensor.untyped_storage()
            except (NotImplementedError, RuntimeError):
                return
            if storage._devfix_history is None:
                device, chain = self.device_of(tensor), self.here(3)._replace(loader=loader)
                storage._devfix_history = Node("created", function, device, chain, (), self.next())

    def moved(self, source: Tensor, result: Tensor, function: str, with_module: bool) -> None:
        """Note that ``result`` is ``source`` on another device, or in another type; perhaps as a module moves it."""
        before, now = self.of(source), self.device_of(result)
        there = self.device_of(source)
        node = Node(
            "computed" if there == now else "moved",
            function,
            now,
            self.here(3),
            () if before is None else (before,),
            self.next(),
        )
        if before is not None and there != now:
            _note_sent(before, there, now)
            before.copy = now, node.chain, weakref.ref(result), with_module
        with _NoTorchFunction():
            try:
                storage: Any = result.untyped_storage()
                if storage is not source.untyped_storage():
                    storage._devfix_history = node
            except (NotImplementedError, RuntimeError):
                return
