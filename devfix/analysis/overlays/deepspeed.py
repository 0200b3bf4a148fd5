"""DeepSpeed: ``initialize`` wraps a module in an engine on the accelerator.

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
from devfix.analysis.overlays.placement import place_module
from devfix.analysis.torch import module_objects, module_tree

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]


def _initialize(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``deepspeed.initialize``: the engine moves the model, but not its inputs."""
    model = keywords.get("model", args[1] if len(args) > 1 else UNKNOWN)
    device = interp.scenario.best_device
    for option in alternatives(model):
        if isinstance(option, Pointer) and module_tree.assume_module(interp, option) is not None:
            place_module(interp, option, device, node)
    fields: dict[str, Value] = {"module": model, "device": DeviceValue(device), "local_rank": Number("local_rank")}
    engine = module_objects.make(interp, "deepspeed.DeepSpeedEngine", node, weights=False, fields=fields, wraps=True)
    optimizer = keywords.get("optimizer", UNKNOWN)
    return TupleValue((engine, optimizer, UNKNOWN, keywords.get("lr_scheduler", UNKNOWN)))


OVERLAYS: dict[str, TransferFunction] = {"deepspeed.initialize": _initialize}
