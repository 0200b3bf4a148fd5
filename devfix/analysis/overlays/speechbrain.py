"""SpeechBrain's ``Brain``: it moves its modules, and calls the methods that a recipe overrides.

https://speechbrain.readthedocs.io/en/latest/API/speechbrain.core.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.objects import Mapping, object_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    Bound,
    Device,
    DeviceValue,
    External,
    Function,
    IterableOf,
    Keywords,
    Number,
    Pointer,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.overlays.framework import FrameworkInstance
from devfix.analysis.overlays.placement import call_hook
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch import batch_objects, module_moves, module_objects
from devfix.analysis.torch.data import LoaderObject
from devfix.analysis.transfer.device_arguments import named_device

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "BrainObject"]

_PADDED_BATCH = "speechbrain.dataio.batch.PaddedBatch"
_PARAMETERS = ("modules", "opt_class", "hparams", "run_opts", "checkpointer", "profiler")


@dataclass(frozen=True)
class BrainObject(FrameworkInstance):
    """An instance of a project subclass of ``Brain``."""

    library_methods: ClassVar[frozenset[str]] = frozenset({"fit", "evaluate", "make_dataloader"})

    def construct(
        self, interp: Interpreter, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> None:
        """``Brain(modules, opt_class, hparams, run_opts, checkpointer)``: moves the modules to the device."""
        given = dict(zip(_PARAMETERS, args, strict=False)) | keywords
        device = _device(interp, given)
        fields = {
            "device": DeviceValue(device, text=True),
            "modules": _modules(interp, given.get("modules", NONE), device, node),
            "hparams": _namespace(interp, given.get("hparams", UNKNOWN)),
            "opt_class": given.get("opt_class", NONE),
            "checkpointer": given.get("checkpointer", NONE),
        }
        for name, value in fields.items():
            interp.now.set_field(pointer, name, value)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``fit`` and ``evaluate`` call those that the project overrides."""
        if name == "fit":
            names = ("epoch_counter", "train_set", "valid_set")
            given = dict(zip(names, args, strict=False)) | keywords
            return self._fit(interp, pointer, given.get("train_set", UNKNOWN), given.get("valid_set", NONE), node)
        if name == "evaluate":
            data = args[0] if args else keywords.get("test_set", UNKNOWN)
            _call(interp, pointer, "on_evaluate_start", [], node)
            _stage(interp, pointer, "test", data, NONE, node)
            return UNKNOWN
        if name == "make_dataloader":
            data = args[0] if args else keywords.get("dataset", UNKNOWN)
            return data if object_at(interp, data, LoaderObject) else IterableOf(_batch(interp, data, node))
        return super().method(interp, pointer, name, args, keywords, node)

    def run(self, interp: Interpreter, pointer: Pointer, node: ast.Call) -> None:
        """Train, and evaluate."""
        self._fit(interp, pointer, UNKNOWN, UNKNOWN, node)
        _stage(interp, pointer, "test", UNKNOWN, NONE, node)

    def _fit(self, interp: Interpreter, pointer: Pointer, train: Value, valid: Value, node: ast.Call) -> Value:
        if not _call(interp, pointer, "on_fit_start", [], node):
            _call(interp, pointer, "init_optimizers", [], node)
        epoch = Number("epoch")
        _stage(interp, pointer, "train", train, epoch, node)
        if valid != NONE:
            _stage(interp, pointer, "valid", valid, epoch, node)
        return NONE


def _stage(interp: Interpreter, pointer: Pointer, name: str, data: Value, epoch: Value, node: ast.Call) -> None:
    """Call the methods of one stage: its start, one batch, its end."""
    stage = Unknown(f"speechbrain.Stage.{name}")
    _call(interp, pointer, "on_stage_start", [stage, epoch], node)
    batch = _batch(interp, data, node)
    arguments = [batch] if name == "train" else [batch, stage]
    if not _call(interp, pointer, "fit_batch" if name == "train" else "evaluate_batch", arguments, node):
        method = _member(interp, pointer, "compute_forward")
        if method is not None:
            predictions = interp.call(method, [batch, stage], {}, node)
            _call(interp, pointer, "compute_objectives", [predictions, batch, stage], node)
    _call(interp, pointer, "on_stage_end", [stage, Number("stage_loss"), epoch], node)


def _member(interp: Interpreter, pointer: Pointer, name: str) -> Value | None:
    cls = interp.heap_object(pointer).cls
    found = find_member(interp, cls, name) if cls is not None else None
    return Bound(found, pointer) if isinstance(found, Function) else None


def _call(interp: Interpreter, pointer: Pointer, name: str, args: list[Value], node: ast.Call) -> bool:
    """Call a method if the project overrides it; return whether it does."""
    method = _member(interp, pointer, name)
    if method is None:
        return False
    call_hook(interp, method, args, node)
    return True


def _batch(interp: Interpreter, data: Value, node: ast.Call) -> Value:
    """Return a batch on the CPU: of a loader, or a ``PaddedBatch``, whose items need not be tensors."""
    if object_at(interp, data, LoaderObject) is not None:
        return interp.element(data, node)
    return _padded_batch(interp, _PADDED_BATCH, [], {}, node)


def _padded_batch(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``PaddedBatch(examples)``: moves as a whole."""
    batch = batch_objects.make(interp, name, node)
    items = interp.heap_object(batch).default_item
    assert isinstance(items, Tensor)
    interp.now.update(batch, default_item=replace(items, is_certain=False))
    return batch


def _device(interp: Interpreter, given: Keywords) -> Device:
    """Return the device of ``run_opts`` or ``hparams``; the command line's default is the accelerator, else the CPU."""
    options = given.get("run_opts", NONE)
    for source in (options, given.get("hparams", NONE)):
        mapping = object_at(interp, source, Mapping)
        named = named_device(interp, mapping.fields["device"]) if mapping and "device" in mapping.fields else None
        if named is not None and named.known:
            return named
    return CPU if options == NONE else interp.scenario.best_device


def _modules(interp: Interpreter, given: Value, device: Device, node: ast.Call) -> Value:
    """Return the modules as a ``ModuleDict`` on the device; modules of a file that is not known are created on use."""
    if object_at(interp, given, Mapping) is None:
        name = "speechbrain.core.Brain.modules"
        return module_objects.make(interp, name, node, device, opaque=True) if given != NONE else given
    made = interp.call(External("torch.nn.ModuleDict"), [given], {}, node)
    for option in alternatives(made):
        if isinstance(option, Pointer):
            module_moves.place(interp, option, device, node)
    return made


def _namespace(interp: Interpreter, given: Value) -> Value:
    mapping = object_at(interp, given, Mapping)
    if mapping is None:
        return UNKNOWN if given != NONE else NONE
    return interp.new(InstanceObject("namespace", fields=dict(mapping.fields)))


OVERLAYS: dict[str, TransferFunction] = {_PADDED_BATCH: _padded_batch}
