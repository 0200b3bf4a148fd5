"""Histories of storages: a node for the origin or the last transfer, linked to the preceding nodes.

A node is an attribute of the storage's Python object, which PyTorch keeps alive with the storage (as for the
simulator's tags).  The nodes of tensors without a storage, such as sparse ones, are in a dictionary with weak keys.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from .frames import Chain, Frames
from .timeline import Timeline

__all__ = ["Histories", "Node", "tensors_in"]

_ATTRIBUTE = "_devfix_history"
_MAX_PARENTS = 3
_MAX_GENERATIONS = 12
_MAX_SENT = 64
_NoTorchFunction = torch._C.DisableTorchFunction
_FACTORIES = ("_like", "new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided", "lift_fresh")


class Node:
    """One event in the history of a value.

    Attributes:
        kind: ``created``, ``loaded``, ``computed`` or ``moved``.
        operation: name of the operator, such as ``aten::zeros``, or of the transfer function, such as ``to``.
        device: the value's device after the event, such as ``cuda:0``.
        chain: the call stack of the event.
        parents: nodes of the operands.
        index: its number in the run.
        sent: the device of the last copy of the value, or of a value computed from it on its device; None if there is
            no copy.
        copy: the last transfer *from* the value, which did not modify it: device, chain, a weak reference to the
            result, and whether it was part of a module move; None if there was none.

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
        if generation > _MAX_GENERATIONS:
            self.parents = tuple({id(first): first for first in map(_first, parents)}.values())
            generation = 2
        self.generation: int = generation

    def ancestors(self) -> list[Node]:
        """Return this node and all its predecessors, the oldest first."""
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
    """Record a copy to ``target`` for a node and for all operands on ``source`` that it was computed from."""
    pending, seen = [node], {id(node)}
    while pending and len(seen) < _MAX_SENT:
        each = pending.pop()
        each.sent = target
        for parent in each.parents:
            if parent.device == source and id(parent) not in seen:
                seen.add(id(parent))
                pending.append(parent)


def _storage(tensor: Tensor) -> Any:
    """Return a tensor's storage; None if it has none, as sparse and wrapped tensors."""
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None


def tensors_in(values: Any, depth: int = 3) -> Iterator[Tensor]:
    """Yield the tensors in arguments or results, also inside lists, tuples and dictionaries."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif depth and isinstance(value, (list, tuple)):
            yield from tensors_in(value, depth - 1)
        elif depth and isinstance(value, dict):
            yield from tensors_in(value.values(), depth - 1)


class Histories:
    """Recorder of nodes on storages.

    Args:
        frames: classifies the frames of the stack.
        device_of: returns a tensor's device as a string, such as ``cuda:0``.

    Attributes:
        count: number of events so far.
        loading: the name of the loading function that is active.
        timeline: records each event; None if it is not requested.

    """

    def __init__(self, frames: Frames, device_of: Callable[[Tensor], str]) -> None:
        self.frames = frames
        self.device_of = device_of
        self.count = 0
        self.loading: str | None = None
        self.timeline: Timeline | None = None
        self._operations: dict[Any, tuple[str, bool]] = {}
        self._without_storage: Any = WeakTensorKeyDictionary()
        setattr(torch.UntypedStorage, _ATTRIBUTE, None)

    def of(self, tensor: Tensor) -> Node | None:
        """Return the node of a tensor's storage; None if it has none."""
        with _NoTorchFunction():
            try:
                return tensor.untyped_storage()._devfix_history  # type: ignore[attr-defined, no-any-return]  # our attribute
            except (NotImplementedError, RuntimeError):  # sparse and wrapped tensors have no storage
                found: Node | None = self._without_storage.get(tensor)
                return found

    def _store(self, tensor: Tensor, node: Node, storage: Any) -> None:
        """Attach a node to a tensor's storage, or to the tensor if it has none."""
        if storage is None:
            self._without_storage[tensor] = node
        else:
            storage._devfix_history = node

    def next_index(self) -> int:
        """Return the number of the next event."""
        self.count += 1
        return self.count

    def calling_chain(self, depth: int = 2) -> Chain:
        """Return the chain of the caller."""
        return self.frames.chain(sys._getframe(depth))

    def record_creation(self, operation: Any, result: Any, args: Any, kwargs: Any) -> None:
        """Record the origin of results of an operator or function that have a new storage."""
        if isinstance(result, Tensor):
            self._record_creation(operation, result, args, kwargs)
        elif isinstance(result, (list, tuple)):
            for each in tensors_in(result):
                self._record_creation(operation, each, args, kwargs)

    def _record_creation(self, operation: Any, result: Tensor, args: Any, kwargs: Any) -> None:
        with _NoTorchFunction():
            storage = _storage(result)
            known = self._without_storage.get(result) if storage is None else storage._devfix_history
            if known is not None:
                return
            name, is_factory = self._operations.get(operation) or self._describe_operation(operation)
            parents = () if is_factory else self._parents(args, kwargs)
            kind = "computed" if parents else "created"
            if self.loading and not parents:
                kind, name = "loaded", self.loading
            chain = self.frames.chain(sys._getframe(3))
            self.count = index = self.count + 1
            node = Node(kind, name, self.device_of(result), chain, parents, index)
            self._store(result, node, storage)
            if self.timeline is not None:
                self.timeline.record(node, result, storage)

    def _describe_operation(self, operation: Any) -> tuple[str, bool]:
        """Return the name of an operator or function, and whether it is a factory that ignores operands' values."""
        schema = getattr(operation, "_schema", None)
        name = schema.name if schema is not None else getattr(operation, "__name__", str(operation))
        found = self._operations[operation] = name, any(mark in name for mark in _FACTORIES)
        return found

    def _parents(self, args: Any, kwargs: Any) -> tuple[Node, ...]:
        found: list[Node] = []
        for value in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(value, Tensor):
                self._add_parent(value, found)
            elif isinstance(value, (list, tuple, dict)):
                for tensor in tensors_in([value]):
                    self._add_parent(tensor, found)
                    if len(found) == _MAX_PARENTS:
                        break
            if len(found) == _MAX_PARENTS:
                break
        return tuple(found)

    def _add_parent(self, tensor: Tensor, found: list[Node]) -> None:
        try:
            node = tensor.untyped_storage()._devfix_history  # type: ignore[attr-defined]  # our attribute
        except (NotImplementedError, RuntimeError):
            node = self._without_storage.get(tensor)
        if node is not None and node not in found:
            found.append(node)

    def correct_device(self, result: Tensor, since: int) -> None:
        """Correct the device of a node that was recorded during a call, from the call's result."""
        node = self.of(result)
        if node is not None and node.index > since:
            node.device = self.device_of(result)
            if self.timeline is not None:
                self.timeline.correct_device(node)

    def record_external(self, tensor: Tensor, function: str, loader: bool = False) -> None:
        """Record the origin of a tensor without a creating operator, such as one from NumPy or a worker process."""
        with _NoTorchFunction():
            if self.of(tensor) is None:
                device, chain = self.device_of(tensor), self.calling_chain(3)._replace(loader=loader)
                node = Node("created", function, device, chain, (), self.next_index())
                storage = _storage(tensor)
                self._store(tensor, node, storage)
                if self.timeline is not None:
                    self.timeline.record(node, tensor, storage)

    def record_transfer(self, source: Tensor, result: Tensor, function: str, with_module: bool) -> None:
        """Record that ``result`` is ``source`` on another device or with another dtype, possibly by a module move."""
        source_node, target_device = self.of(source), self.device_of(result)
        source_device = self.device_of(source)
        node = Node(
            "computed" if source_device == target_device else "moved",
            function,
            target_device,
            self.calling_chain(3),
            () if source_node is None else (source_node,),
            self.next_index(),
        )
        if source_node is not None and source_device != target_device:
            _note_sent(source_node, source_device, target_device)
            source_node.copy = target_device, node.chain, weakref.ref(result), with_module
        with _NoTorchFunction():
            storage = _storage(result)
            if storage is None or storage is not _storage(source):
                recorded = None if storage is None else storage._devfix_history
                self._store(result, node, storage)
                if self.timeline is not None:
                    self.timeline.record_transfer(recorded, node, result, storage, with_module)
