"""Hugging Face Accelerate's ``Accelerator`` and Lightning's ``Fabric``: objects that prepare modules and loaders.

https://huggingface.co/docs/accelerate/package_reference/accelerator, https://lightning.ai/docs/fabric/stable/
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Const,
    DeviceValue,
    Keywords,
    Pointer,
    TupleValue,
    Value,
    alternatives,
)
from devfix.analysis.overlays.framework import FrameworkObject
from devfix.analysis.overlays.placement import call_hook, prepare
from devfix.analysis.stdlib.containers import ListObject
from devfix.analysis.transfer.device_arguments import named_device

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]

_RETURNS_ARGUMENT = frozenset(
    "gather gather_for_metrics reduce pad_across_processes all_gather all_reduce broadcast unwrap_model unwrap".split()
)
_PREPARES = frozenset(
    "prepare prepare_model prepare_data_loader prepare_optimizer prepare_scheduler setup setup_module "
    "setup_optimizers setup_dataloaders".split()
)
_MODELS = "<models>"  # the field with the prepared modules
_RUNS_HOOKS = ("load_state", "save_state")
_REGISTERS = {"register_load_state_pre_hook": "<load_state>", "register_save_state_pre_hook": "<save_state>"}
_RETURNS_NONE = frozenset("backward print log wait_for_everyone save clip_grad_norm_ clip_gradients".split())


# https://lightning.ai/docs/fabric/stable/api/fabric_methods.html#init-tensor
_CREATES_ON_DEVICE = frozenset({"init_module", "init_tensor"})


@dataclass(frozen=True)
class AcceleratorObject(FrameworkObject):
    """An ``Accelerator`` or a ``Fabric``."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: many prepare modules, loaders and batches."""
        if name == "launch" and args:
            return interp.call(args[0], [pointer, *args[1:]], keywords, node)
        if name in _PREPARES:
            return self._prepare(interp, pointer, args, keywords, node)
        if name in _REGISTERS and args:
            return self._register(interp, pointer, _REGISTERS[name], args[0])
        if name in _RUNS_HOOKS:
            return self._run_hooks(interp, name, args, keywords, node)
        if name == "to_device" and args:
            return prepare(interp, args[0], self.input_device, node)
        if name in _CREATES_ON_DEVICE:
            return DeviceValue(self.input_device)  # as a context, the device of new tensors
        if name in _RETURNS_ARGUMENT:
            return args[0] if args else UNKNOWN
        if name in _RETURNS_NONE:
            return NONE
        return super().method(interp, pointer, name, args, keywords, node)

    def _prepare(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        device = self.input_device
        if keywords.get("device_placement", NONE) != NONE or keywords.get("move_to_device", Const(True)) != Const(True):
            device = UNKNOWN_DEVICE
        given = [*args, *(value for key, value in keywords.items() if key in ("model", "module", "data_loader"))]
        prepared = [prepare(interp, value, device, node) for value in given]
        models = [
            value for value in prepared if any(module_at(interp, option) is not None for option in alternatives(value))
        ]
        interp.now.set_field(pointer, _MODELS, TupleValue((*_items(self.fields.get(_MODELS)), *models)))
        return prepared[0] if len(prepared) == 1 else TupleValue(tuple(prepared))

    def _register(self, interp: Interpreter, pointer: Pointer, kind: str, hook: Value) -> Value:
        """Keep a hook; return its handle."""
        interp.now.set_field(pointer, kind, TupleValue((*_items(self.fields.get(kind)), hook)))
        return UNKNOWN

    def _run_hooks(
        self, interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call the hooks of ``load_state`` or ``save_state`` with the prepared models and the folder.

        https://huggingface.co/docs/accelerate/package_reference/accelerator: the hooks may change the lists in place.
        """
        folder = args[0] if args else keywords.get("input_dir", keywords.get("output_dir", UNKNOWN))
        for hook in _items(self.fields.get(f"<{name}>")):
            models = interp.new(
                ListObject(fields={str(i): model for i, model in enumerate(_items(self.fields.get(_MODELS)))})
            )
            weights = [interp.new(ListObject(default_item=UNKNOWN))] if name == "save_state" else []
            call_hook(interp, hook, [models, *weights, folder], node)
        return UNKNOWN


def _items(value: Value | None) -> tuple[Value, ...]:
    """Return the items of a field that holds a tuple; none if paths disagree on it."""
    return value.items if isinstance(value, TupleValue) else ()


def _accelerator(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``Accelerator(...)``, ``Fabric(...)``; without automatic placement, the device of prepared objects is unknown."""
    on_cpu = keywords.get("cpu") == Const(True) or keywords.get("accelerator") == Const("cpu")
    automatic = keywords.get("device_placement", Const(True)) == Const(True) and "**" not in keywords
    device = CPU if on_cpu else interp.scenario.best_device
    input_device = device if automatic else UNKNOWN_DEVICE
    point = interp.point(node)
    fields: dict[str, Value] = {"device": DeviceValue(device)}
    return interp.new(AcceleratorObject(name, fields=fields, allocated_at=point, input_device=input_device))


def _send_to_device(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``send_to_device(x, device)`` and its counterparts in Ignite and PyTorch/XLA.

    Ignite's ``convert_tensor`` returns its argument unchanged if it gets no device.
    """
    target = keywords.get("device", args[1] if len(args) > 1 else None)
    device = interp.scenario.best_device
    if target is not None:
        device = named_device(interp, target) or UNKNOWN_DEVICE
    elif name.endswith("convert_tensor"):
        return args[0] if args else UNKNOWN
    return prepare(interp, args[0], device, node) if args else UNKNOWN


OVERLAYS: dict[str, TransferFunction] = {
    "accelerate.Accelerator": _accelerator,
    "accelerate.utils.send_to_device": _send_to_device,
    "ignite.distributed.auto_model": _send_to_device,
    "ignite.utils.convert_tensor": _send_to_device,
    "lightning.Fabric": _accelerator,
    "torch_xla.distributed.parallel_loader.MpDeviceLoader": _send_to_device,
    "torch_xla.distributed.parallel_loader.ParallelLoader": _send_to_device,
}
