"""Hugging Face Transformers: ``Trainer``, ``TrainingArguments``, tokenizers and processors.

https://huggingface.co/docs/transformers/main_classes/trainer
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.values import (
    ACCELERATOR,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Const,
    DeviceValue,
    Function,
    HeapObject,
    Keywords,
    Pointer,
    Tensor,
    Unknown,
    Value,
)
from devfix.analysis.overlays.placement import call_hook
from devfix.analysis.torch import batch_objects, modules

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "call_tokenizer", "train"]


def _training_arguments(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``TrainingArguments(...)``; the device is unknown if an argument may select the CPU."""
    maybe_cpu = any(keywords.get(key, Const(False)) != Const(False) for key in ("no_cuda", "use_cpu"))
    device = DeviceValue(UNKNOWN_DEVICE if maybe_cpu else ACCELERATOR)
    return interp.new(HeapObject("framework", name, fields={"device": device}, allocated_at=interp.point(node)))


def train(interp: Interpreter, pointer: Pointer, node: ast.Call) -> Value:
    """Call ``Trainer.train`` of a project subclass: its ``compute_loss`` gets model and inputs on the accelerator."""
    obj = interp.heap_object(pointer)
    assert obj.cls is not None
    arguments = interp.new(
        HeapObject("framework", "transformers.TrainingArguments", fields={"device": DeviceValue(ACCELERATOR)})
    )
    interp.now.update(pointer, fields={"args": arguments, **obj.fields})
    found = find_member(interp, obj.cls, "compute_loss")
    if isinstance(found, Function):
        model = modules.make(interp, "transformers.Trainer.model", node, ACCELERATOR)
        interp.now.update(model, info=(("opaque", True),))
        inputs = interp.new(HeapObject("dict", default_item=Tensor(ACCELERATOR, maybe_container=True)))
        call_hook(interp, Bound(found, pointer), [model, inputs], node)
    return UNKNOWN


def call_tokenizer(interp: Interpreter, name: str, keywords: Keywords, node: ast.Call) -> Value:
    """Call a tokenizer or processor: with ``return_tensors="pt"``, the result is a ``BatchEncoding`` on the CPU.

    ``encode`` returns a tensor, everything else an object that moves as a whole.
    """
    if keywords.get("return_tensors") != Const("pt") or {"device", "**"} & set(keywords):
        return Unknown(f"{name}()")
    encoding = batch_objects.make(interp, name, node, "encoding")
    if isinstance(node.func, ast.Attribute) and node.func.attr == "encode":
        tensor = interp.heap_object(encoding).default_item
        return replace(tensor, maybe_container=False) if isinstance(tensor, Tensor) else UNKNOWN
    return encoding


OVERLAYS: dict[str, TransferFunction] = {"transformers.TrainingArguments": _training_arguments}
