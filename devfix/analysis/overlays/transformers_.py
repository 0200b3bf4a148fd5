"""Hugging Face Transformers: ``Trainer``, ``TrainingArguments``, tokenizers and processors.

https://huggingface.co/docs/transformers/main_classes/trainer
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Const,
    DeviceValue,
    Function,
    Keywords,
    Pointer,
    Tensor,
    Unknown,
    Value,
)
from devfix.analysis.overlays.framework import FrameworkInstance, FrameworkObject
from devfix.analysis.overlays.placement import call_hook
from devfix.analysis.stdlib.containers import DictObject
from devfix.analysis.torch import batch_objects, module_objects

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "TokenizerObject", "TrainerObject", "call_tokenizer"]


@dataclass(frozen=True)
class TokenizerObject(HeapObject):
    """A tokenizer or processor."""

    def call(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Tokenize."""
        return call_tokenizer(interp, self.name, keywords, node)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Tokenize, too: ``encode``, ``apply_chat_template``."""
        return call_tokenizer(interp, self.name, keywords, node)


@dataclass(frozen=True)
class TrainerObject(FrameworkInstance):
    """An instance of a project subclass of ``Trainer``, which moves model and batches."""

    library_methods: ClassVar[frozenset[str]] = frozenset({"train"})

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``train`` calls the project's ``compute_loss``."""
        if name == "train":
            return _train(interp, pointer, node)
        return super().method(interp, pointer, name, args, keywords, node)

    def run(self, interp: Interpreter, pointer: Pointer, node: ast.Call) -> None:
        """Train."""
        _train(interp, pointer, node)


def _training_arguments(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``TrainingArguments(...)``; the device is unknown if an argument may select the CPU."""
    maybe_cpu = any(keywords.get(key, Const(False)) != Const(False) for key in ("no_cuda", "use_cpu"))
    device = DeviceValue(UNKNOWN_DEVICE if maybe_cpu else interp.scenario.best_device)
    return interp.new(FrameworkObject(name, fields={"device": device}, allocated_at=interp.point(node)))


def _train(interp: Interpreter, pointer: Pointer, node: ast.Call) -> Value:
    """Call ``Trainer.train`` of a project subclass: its ``compute_loss`` gets model and inputs on the accelerator."""
    obj = interp.heap_object(pointer)
    assert obj.cls is not None
    device = interp.scenario.best_device
    arguments = interp.new(FrameworkObject("transformers.TrainingArguments", fields={"device": DeviceValue(device)}))
    interp.now.update(pointer, fields={"args": arguments, **obj.fields})
    found = find_member(interp, obj.cls, "compute_loss")
    if isinstance(found, Function):
        model = module_objects.make(interp, "transformers.Trainer.model", node, device, opaque=True)
        inputs = interp.new(DictObject(default_item=Tensor(device, maybe_container=True)))
        call_hook(interp, Bound(found, pointer), [model, inputs], node)
    return UNKNOWN


def call_tokenizer(interp: Interpreter, name: str, keywords: Keywords, node: ast.Call) -> Value:
    """Call a tokenizer or processor: with ``return_tensors="pt"``, the result is a ``BatchEncoding``.

    Its tensors are made without a device, so they are on the default one.

    ``encode`` returns a tensor, everything else an object that moves as a whole.
    """
    if keywords.get("return_tensors") != Const("pt") or {"device", "**"} & set(keywords):
        return Unknown(f"{name}()")
    encoding = batch_objects.make(interp, name, node, "encoding", interp.default_device)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "encode":
        tensor = interp.heap_object(encoding).default_item
        return replace(tensor, maybe_container=False) if isinstance(tensor, Tensor) else UNKNOWN
    return encoding


OVERLAYS: dict[str, TransferFunction] = {"transformers.TrainingArguments": _training_arguments}
