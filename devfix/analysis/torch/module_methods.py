"""Methods of ``nn.Module`` objects: moves, parameters and submodules, registration, loading."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import scenarios
from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.objects import Module, module_at
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    Bound,
    Const,
    Function,
    IterableOf,
    Keywords,
    Origin,
    Parameters,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations.execution import ModuleMoved
from devfix.analysis.stdlib import containers
from devfix.analysis.stdlib.containers import DictObject
from devfix.analysis.torch import batch_objects, checkpoints, module_hooks, module_moves, module_tree, modules
from devfix.analysis.transfer.device_arguments import MOVE_METHODS, move_method_target, to_targets, type_target
from devfix.models.index import root_of
from devfix.models.names import INFERENCE_METHODS, MODULE_METHODS
from devfix.syntax.tree import names_in

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["call_parallel", "module_method", "set_mode", "set_trained"]

_TENSOR_ONLY_METHODS = frozenset("numpy tolist item detach clone view reshape squeeze unsqueeze contiguous".split())


def module_method(
    interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Call ``module.name(...)``."""
    obj = module_at(interp, pointer)
    assert obj is not None
    if name == "to" or name in MOVE_METHODS or name == "to_empty":
        devices = (
            [move_method_target(interp, name, args, keywords)]
            if name in MOVE_METHODS
            else to_targets(interp, args, keywords)
        )
        known = [device for device in devices if device is not None]
        if obj.is_opaque and obj.parents and _gets_tensor_method(interp, node):
            return join(Tensor(device, is_certain=False) for device in known)
        for device in known:
            is_empty = not module_tree.may_hold_state(interp, pointer)
            scenarios.record_placement(interp, node, device, moves_nothing=is_empty)
            module_moves.move(interp, pointer, device, node)
            module_moves.forget_wrappers(interp, pointer)
        interp.observe(ModuleMoved(pointer, tuple(known), node))
        if len(known) > 1:
            for _, part in module_tree.named_modules(interp, pointer):
                interp.now.update(part, devices=frozenset(known))
        return pointer
    if name == "type" and args:
        target = type_target(args[0])
        if target is not None:
            scenarios.record_placement(interp, node, target)
            module_moves.move(interp, pointer, target, node)
        return pointer
    if name in ("eval", "train"):
        mode = Const(False) if name == "eval" else args[0] if args else keywords.get("mode", Const(True))
        training = mode.value if isinstance(mode, Const) and isinstance(mode.value, bool) else None
        for _, part in module_tree.named_modules(interp, pointer):
            interp.now.set_mode(part, training)
        set_mode(interp, pointer, mode, node, own=name == "eval")
        return pointer
    if name == "requires_grad_":
        if args and args[0] == Const(False):
            for _, part in module_tree.named_modules(interp, pointer):
                interp.now.update(part, frozen=True)
        return pointer
    if name in ("parameters", "named_parameters", "buffers", "named_buffers"):
        held = frozenset(part.id for _, part in module_tree.named_modules(interp, pointer))
        return Parameters(pointer, named=name.startswith("named"), module_ids=held)
    if name in ("children", "modules", "named_children", "named_modules"):
        listed = _listed_children(interp, pointer, name)
        if listed is not None:
            return listed
        inner = _submodules(interp, pointer, deep="modules" in name)
        return IterableOf(TupleValue((Text(), inner)) if name.startswith("named") else inner)
    if name == "apply" and args:
        interp.call(args[0], [pointer], {}, node)
        return pointer
    if name == "load_state_dict":
        on_accelerator = any(
            ACCELERATOR in interp.heap_object(part).devices for _, part in module_tree.named_modules(interp, pointer)
        )
        for value in args:
            for tensor in checkpoints.loaded_tensors(interp, value):
                checkpoints.note_use(interp, tensor, "module", node, on_accelerator)
        if keywords.get("assign") == Const(True):  # the weights are those of the state dict, where these are
            module_moves.replace_weights(interp, pointer)
        return UNKNOWN
    if name in ("register_buffer", "register_parameter") and (args or "name" in keywords):
        kind = "buffer" if name == "register_buffer" else "parameter"
        value = args[1] if len(args) > 1 else keywords.get("tensor" if kind == "buffer" else "param", UNKNOWN)
        point = interp.point(node, with_state=True)
        for tensor in checkpoints.loaded_tensors(interp, value):
            checkpoints.note_use(interp, tensor, "module", node, False)
        if kind == "parameter":
            _share(interp, pointer, value, node)
        _register(interp, pointer, args[0] if args else keywords["name"], value, kind, point)
        return NONE
    if name in ("add_module", "register_module") and len(args) == 2:
        key = str(args[0].value) if isinstance(args[0], Const) else None
        modules.attach(interp, pointer, key, args[1], node, weak=key is None)
        return NONE
    if name in ("append", "extend", "insert") and args:
        return _grow(interp, pointer, name, args, node)
    if name == "forward":
        if obj.data_parallel and (obj.cls is None or find_member(interp, obj.cls, name) is None):
            return call_parallel(interp, obj, args, keywords, node)
        return interp.call_forward(pointer, args, keywords, node)
    if name == "__call__" or (name == "update" and root_of(obj.name) == "Metric"):
        return interp.call(pointer, args, keywords, node)
    if name in INFERENCE_METHODS and obj.is_opaque:
        return modules.call_leaf(interp, pointer, args, keywords, node)
    if name in ("reset_classifier", "reset_head"):
        own = frozenset({interp.default_device})
        head = type(obj)(f"{obj.name}.{name}", devices=own, weights=True, allocated_at=interp.point(node))
        modules.attach(interp, pointer, "head", interp.new(head), node)
        return NONE
    if name == "get_submodule" and args and isinstance(args[0], Const):
        found: Value = pointer
        for part_name in str(args[0].value).split("."):
            found = interp.attribute(found, part_name, node)
        return found
    if name in ("keys", "values", "items", "pop", "update"):
        return containers.container_method(interp, pointer, name, args, keywords, node)
    if name == "state_dict":
        parameter = Tensor(module_tree.weights_device(interp, pointer), (Origin("parameter", pointer.id),))
        return interp.new(DictObject(default_item=parameter))
    if name == "get_classifier":
        return module_tree.opaque_child(interp, pointer, "head")
    if module_hooks.register(interp, pointer, name, args, node):
        return UNKNOWN
    is_hook = name.startswith("register_")  # returns a handle
    return pointer if name in MODULE_METHODS and not is_hook else UNKNOWN


def _listed_children(interp: Interpreter, pointer: Pointer, name: str) -> Value | None:
    """Return the submodules of ``children()`` or ``named_children()`` one by one; ``None`` if unknown or too many."""
    obj = module_at(interp, pointer)
    if obj is None or "modules" in name or obj.is_opaque or obj.default_item is not None:
        return None
    pairs = list(module_tree.named_children(interp, obj))
    if not 0 < len(pairs) <= 8:
        return None
    return TupleValue(
        tuple(TupleValue((Const(key), part)) if name.startswith("named") else part for key, part in pairs)
    )


def _submodules(interp: Interpreter, pointer: Pointer, deep: bool) -> Value:
    found = [part for path, part in module_tree.named_modules(interp, pointer) if path and (deep or "." not in path)]
    obj = module_at(interp, pointer)
    if obj is not None and obj.is_opaque:
        found.append(module_tree.opaque_child(interp, pointer, "*children"))
    return join(found) if found else UNKNOWN


def _share(interp: Interpreter, pointer: Pointer, value: Value, node: ast.Call) -> None:
    """Let a module move another one whose parameter it registers: ``for p in layer.parameters(): ...``."""
    origins = [origin for each in alternatives(value) if isinstance(each, Tensor) for origin in each.origins]
    owners = {origin.site_id for origin in origins if origin.kind == "parameter"} - {0, pointer.id}
    for owner in sorted(owners):
        if interp.now.has(owner) and module_at(interp, Pointer(owner)) is not None:
            modules.attach(interp, pointer, None, Pointer(owner), node, weak=True)


def _register(interp: Interpreter, pointer: Pointer, key: Value, value: Value, kind: str, point: ProgramPoint) -> None:
    if isinstance(key, Const):
        registered = join(_registered(interp, pointer, option, kind, point) for option in alternatives(value))
        interp.now.set_field(pointer, str(key.value), registered)
    elif isinstance(value, Tensor):  # ``f"mask_{i}"``: one field for all computed names
        interp.now.set_field(pointer, module_tree.COMPUTED, Tensor(value.device, (Origin(kind, pointer.id),)))
    if isinstance(key, Const) and kind == "buffer":
        module = module_at(interp, pointer)
        if module is not None:
            interp.now.update(pointer, buffers=module.buffers | {str(key.value)})


def _registered(interp: Interpreter, pointer: Pointer, value: Value, kind: str, point: ProgramPoint) -> Value:
    """Return a value as a parameter or buffer of a module; ``None`` stays."""
    if not isinstance(value, Tensor):
        return value
    modules.note_late_tensor(interp, pointer, value.device, point)
    device = interp.default_device if value.device == CPU else value.device
    return Tensor(device, (Origin(kind, pointer.id),), maybe_zero_dim=value.maybe_zero_dim)


def _grow(interp: Interpreter, pointer: Pointer, name: str, args: list[Value], node: ast.Call) -> Value:
    added = args[-1]
    items = [added]
    if name == "extend":
        known = interp.elements(added, node)
        items = known if known is not None else [interp.element(added, node)]
    if interp.heap_object(pointer).name == "torch.nn.ParameterList":
        items = [modules.as_parameter(item) for item in items]
    for item in items:
        obj = interp.heap_object(pointer)
        counted = pointer.id > interp.round_start and obj.default_item is None
        modules.attach(interp, pointer, str(len(obj.fields)) if counted else None, item, node, weak=not counted)
    return pointer


def _gets_tensor_method(interp: Interpreter, node: ast.Call) -> bool:
    """Return whether the result of a call gets a method that modules lack: ``smpl.parents.cpu().numpy()``."""
    parent = interp.activation.module.tree.parents.get(node) if interp.activation is not None else None
    return isinstance(parent, ast.Attribute) and parent.attr in _TENSOR_ONLY_METHODS


def set_mode(interp: Interpreter, pointer: Pointer, mode: Value, node: ast.Call, *, own: bool = True) -> None:
    """Call the project's own ``train(mode)`` of a module, or of those below it.

    With ``own=False``, the module's own is left out, because it makes the call: ``super().train(mode)``.
    ``torch/nn/modules/module.py``, ``Module.train``.
    """
    pending, seen = [(pointer, own)], set[int]()
    while pending:
        part, is_called = pending.pop()
        obj = module_at(interp, part)
        if obj is None or part.id in seen:
            continue
        seen.add(part.id)
        method = find_member(interp, obj.cls, "train") if is_called and obj.cls is not None else None
        if isinstance(method, Function) and _takes_mode(method):
            interp.call(Bound(method, part), [mode], {}, node)
        else:
            pending.extend((child, True) for _, child in module_tree.named_children(interp, obj))


def _takes_mode(function: Function) -> bool:
    """Return whether a method takes what ``Module.train`` takes, ``mode``: another one trains the module."""
    spec = function.node.args
    return [each.arg for each in (*spec.posonlyargs, *spec.args)][1:] == ["mode"] and not spec.kwonlyargs


def call_parallel(interp: Interpreter, module: Module, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call ``DataParallel``, or ``DistributedDataParallel`` with device ids: these move the inputs."""
    inner, device = module.fields.get("module", UNKNOWN), module.input_device
    if device is None:
        return interp.call(inner, args, keywords, node)
    named = [(each.value, keywords.get(each.arg or "", UNKNOWN)) for each in node.keywords]
    scattered = interp.observations.scattered
    for argument, value in (*zip(node.args, args, strict=False), *named):
        scattered[argument] = join([scattered.get(argument, value), value])
    moved_keywords = {key: batch_objects.move_batch(interp, value, device) for key, value in keywords.items()}
    return interp.call(inner, [batch_objects.move_batch(interp, value, device) for value in args], moved_keywords, node)


def set_trained(interp: Interpreter, parameters: Parameters, stmt: ast.For | ast.AsyncFor) -> None:
    """Record whether modules are trained, if a loop over their parameters does nothing but set that.

    ``for p in net.parameters(): p.requires_grad = False``, or ``p.requires_grad_(False)``.
    """
    match stmt.body:
        case [
            ast.Assign(targets=[ast.Attribute(value=ast.Name(name), attr="requires_grad")], value=ast.Constant(value))
        ]:
            pass
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "requires_grad_"), args=[ast.Constant(value)]))]:
            pass
        case _:
            return
    if isinstance(value, bool) and name in names_in(stmt.target):
        for key in parameters.module_ids:
            interp.now.update(Pointer(key), frozen=not value)
