"""Lightning: ``Trainer`` and ``LightningCLI``, which move the module and its batches.

https://lightning.ai/docs/pytorch/stable/common/lightning_module.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.objects import module_at, object_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    ClassValue,
    Const,
    Device,
    Function,
    Keywords,
    Number,
    Pointer,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.overlays.framework import FrameworkObject
from devfix.analysis.overlays.placement import call_hook
from devfix.analysis.torch import batch_objects, module_moves
from devfix.analysis.torch.data import LoaderObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]

_STEPS = ("training_step", "validation_step", "test_step")
_LOADERS = ("train_dataloaders", "train_dataloader", "val_dataloaders", "dataloaders", "datamodule")


@dataclass(frozen=True)
class TrainerObject(FrameworkObject):
    """A ``Trainer``."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``fit``, ``validate`` and ``test`` call the module's steps."""
        if name in ("fit", "validate", "test"):
            return _fit(interp, self.input_device, args, keywords, node)
        return super().method(interp, pointer, name, args, keywords, node)


def _trainer(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``Trainer(accelerator=...)``."""
    chosen = keywords.get("accelerator", Const("auto"))
    device = CPU if chosen == Const("cpu") else interp.scenario.best_device
    return interp.new(TrainerObject(name, allocated_at=interp.point(node), input_device=device))


def _lightning_cli(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``LightningCLI(Model, Data)``: creates the module and fits it."""
    cls = args[0] if args else keywords.get("model_class", UNKNOWN)
    if isinstance(cls, ClassValue) and keywords.get("run", Const(True)) == Const(True):
        _fit(interp, interp.scenario.best_device, [interp.call(cls, [], {}, node)], {}, node)
    return Unknown(f"{name}()")


def _fit(interp: Interpreter, device: Device, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Move the module, call its steps with batches on the device, and make the module's device unknown afterwards.

    ``lightning/pytorch/strategies/strategy.py`` (``teardown``) moves the module back to the CPU.
    """
    model = args[0] if args else keywords.get("model", UNKNOWN)
    loaders = [*args[1:], *(keywords[name] for name in _LOADERS if name in keywords)]
    for option in alternatives(model):
        module = module_at(interp, option)
        if isinstance(option, Pointer) and module is not None and module.cls is not None:
            module_moves.place(interp, option, device, node)
            _call_steps(interp, option, _moved_batch(interp, loaders, device, node), node)
            module_moves.place(interp, option, UNKNOWN_DEVICE, node)
        else:
            interp.escape([option])
    return NONE


def _moved_batch(interp: Interpreter, loaders: list[Value], device: Device, node: ast.AST) -> Value:
    """Return a batch of the first loader, moved to ``device``."""
    for value in loaders:
        if object_at(interp, value, LoaderObject) is not None:
            return batch_objects.move_batch(interp, interp.element(value, node), device)
    return Tensor(device, maybe_container=True, is_certain=False)


def _call_steps(interp: Interpreter, model: Pointer, batch: Value, node: ast.Call) -> None:
    cls = interp.heap_object(model).cls
    assert cls is not None
    for name in ("configure_optimizers", *_STEPS):
        found = find_member(interp, cls, name)
        if isinstance(found, Function):
            args = [] if name == "configure_optimizers" else [batch, Number("batch_idx")]
            parameters = len(found.node.args.args) - 1
            call_hook(interp, Bound(found, model), args[: max(parameters, 0)], node)


OVERLAYS: dict[str, TransferFunction] = {
    "lightning.Trainer": _trainer,
    "lightning.LightningCLI": _lightning_cli,
}
