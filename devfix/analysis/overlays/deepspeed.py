"""DeepSpeed: ``initialize`` and ``init_inference`` wrap a module in an engine on the accelerator.

https://deepspeed.readthedocs.io/en/latest/initialize.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    UNKNOWN,
    DeviceValue,
    Keywords,
    Number,
    Pointer,
    TupleValue,
    Value,
    alternatives,
)
from devfix.analysis.torch import module_moves, module_objects, module_tree

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]


def _initialize(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``deepspeed.initialize``: the engine moves the model, but not its inputs."""
    engine = _engine(interp, keywords.get("model", args[1] if len(args) > 1 else UNKNOWN), node)
    optimizer = keywords.get("optimizer", UNKNOWN)
    return TupleValue((engine, optimizer, UNKNOWN, keywords.get("lr_scheduler", UNKNOWN)))


def _init_inference(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``deepspeed.init_inference``, https://deepspeed.readthedocs.io/en/latest/inference-init.html."""
    return _engine(interp, keywords.get("model", args[0] if args else UNKNOWN), node)


def _engine(interp: Interpreter, model: Value, node: ast.Call) -> Pointer:
    """Return an engine around a model, which it moves."""
    device = interp.scenario.best_device
    for option in alternatives(model):
        if isinstance(option, Pointer) and module_tree.assume_module(interp, option) is not None:
            module_moves.place(interp, option, device, node)
    fields: dict[str, Value] = {"module": model, "device": DeviceValue(device), "local_rank": Number("local_rank")}
    return module_objects.make(interp, "deepspeed.DeepSpeedEngine", node, weights=False, fields=fields, wraps=True)


OVERLAYS: dict[str, TransferFunction] = {
    "deepspeed.init_inference": _init_inference,
    "deepspeed.initialize": _initialize,
}
