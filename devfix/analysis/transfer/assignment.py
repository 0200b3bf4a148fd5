"""Assignment to targets: names, attributes, items, unpacking."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores, host_access
from devfix.analysis.domain.classes import find_property_setter
from devfix.analysis.domain.objects import BatchPart, Container, Module, module_at, moves_item, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.splits import share_sides
from devfix.analysis.domain.values import (
    ACCELERATOR,
    UNKNOWN,
    UNKNOWN_DEVICE,
    UNNAMED,
    Builtin,
    ClassValue,
    Const,
    Device,
    External,
    IterableOf,
    Namespace,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    anywhere,
    join,
)
from devfix.analysis.observations import Binding, ModuleReference
from devfix.analysis.observations.execution import AttributeStored
from devfix.analysis.stdlib import numpy_
from devfix.analysis.stdlib.containers import DictObject, ListObject, new_list
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch import module_moves, module_tree, modules, optimizers
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.device_check import check_same_device, tensor_operands
from devfix.models.flags import NO_VISIBLE_DEVICES, VISIBLE_DEVICES
from devfix.syntax.tree import implicit_call, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "assign",
    "containers",
    "delete",
    "record_binding",
    "set_attribute",
    "set_item",
    "settle_items",
]


def assign(
    interp: Interpreter, target: ast.expr, value: Value, kind: str = "assign", source: ast.expr | None = None
) -> None:
    """Bind ``value`` to a target; ``kind`` is that of :class:`devfix.analysis.observations.Binding`."""
    if interp.watch is not None:
        interp.watch(interp, target, value)
    match target:
        case ast.Name(id=name):
            record_binding(interp, name, value, kind, target, source)
            interp.bind(name, value)
            if isinstance(value, Union) and interp.activation is not None:
                share_sides(interp.now, interp.activation.env, name, value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack(interp, elts, value, kind, source)
        case ast.Starred(value=inner):
            assign(interp, inner, value, kind)
        case ast.Attribute():
            base = interp.evaluate(target.value)
            if isinstance(value, Const):
                base = _as_object(interp, target.value, base)
            for option in alternatives(base):
                set_attribute(interp, option, target.attr, value, target, isinstance(base, Union), source)
            if target.attr == "data" and isinstance(base, Tensor) and not modules.is_registered(base):
                _replace_memory(interp, target.value, base, value)
        case ast.Subscript():
            base = interp.evaluate(target.value)
            key = interp.evaluate(target.slice)
            for option in alternatives(base):
                set_item(interp, option, key, value, target)
            if source is not None and numpy_.is_array(base):
                _note_copy_to_array(interp, target, value, source)
            optimizers.note_state_written(interp, target, value)


def _as_object(interp: Interpreter, place: ast.expr, value: Value) -> Value:
    """Return the owner of a setting: what a library returned is an object then, and keeps it under this name."""
    if not isinstance(value, Unknown) or not isinstance(place, ast.Name) or not _is_named(value):
        return value
    found = interp.new_opaque(value.symbol, place)
    interp.bind(place.id, found)
    return found


def _is_named(value: Unknown) -> bool:
    return bool(value.symbol) and not value.symbol.startswith(UNNAMED)


def _set_in_scope(interp: Interpreter, owner: Namespace | ClassValue, name: str, value: Value, weak: bool) -> None:
    """Execute ``settings.device = value`` of a module of the project, whose own binding comes first, or of a class."""
    if isinstance(owner, Namespace):
        scope, old = owner.module.env, interp.global_name(owner.module, name)
    else:
        scope, old = owner.scope, interp.now.lookup(owner.scope, name)
    interp.now.bind(scope, name, join((old, value)) if weak and old is not None else value)


def _replace_memory(interp: Interpreter, place: ast.expr, tensor: Tensor, value: Value) -> None:
    """Execute ``x.data = x.data.cuda()``: the tensor is on another device, with all its names, which are not known."""
    is_moved = _device_of_tensors(value) != tensor.device
    if is_moved and isinstance(place, (ast.Name, ast.Attribute, ast.Subscript)):
        assign(interp, place, replace(tensor, device=UNKNOWN_DEVICE, origins=()))


def record_binding(
    interp: Interpreter, name: str, value: Value, kind: str, node: ast.AST, source: ast.expr | None = None
) -> None:
    """Record that a name is bound to an item of a batch, or to a container of items."""
    for origin in dict.fromkeys(_origins(interp, value)):
        if interp.observations.is_new(Binding, origin, name, kind, node, interp.point(node).call_path, visits=2):
            interp.observations.bindings.append(
                Binding(origin, name, kind, interp.point(node, with_state=True), source)
            )


def _origins(interp: Interpreter, value: Value) -> list[Origin]:
    """Return the origins of a value that is a batch item on the CPU, or a container of such items."""
    origins: list[Origin] = []
    for option in alternatives(value):
        if isinstance(option, Tensor) and len(option.origins) == 1 and option.device != ACCELERATOR:
            if option.origins[0].kind in ("batch", "load", "made"):
                origins.append(option.origins[0])
        elif isinstance(option, TupleValue):
            inner = [origin for item in option.items for origin in _origins(interp, item) if origin.path]
            containers = {
                Origin(origin.kind, origin.site_id, origin.path[:-1]) for origin in inner if origin.kind == "batch"
            }
            origins.extend(containers if len(containers) == 1 else ())
        elif isinstance(option, IterableOf):
            inner = [origin for origin in _origins(interp, option.element) if origin.kind == "batch" and origin.path]
            origins.extend(Origin(origin.kind, origin.site_id, origin.path[:-1]) for origin in inner)
        elif (part := object_at(interp, option, BatchPart)) is not None and part.position is not None:
            origins.append(Origin("batch", *part.position))
    return origins


def _unpack(interp: Interpreter, targets: list[ast.expr], value: Value, kind: str, source: ast.expr | None) -> None:
    kind = "unpack" if kind == "assign" else kind
    sources: list[ast.expr | None] = [None] * len(targets)
    if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(targets):
        sources, kind = list(source.elts), "assign"
    starred = next((index for index, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if starred is not None:
        items = _around_star(interp, value, len(targets), starred, targets[starred])
    elif isinstance(value, Union):
        parts = [
            [iteration.unpack(interp, option, len(targets))[i] for option in value.alternatives]
            for i in range(len(targets))
        ]
        items = [join(part) for part in parts]
    else:
        items = iteration.unpack(interp, value, len(targets))
    for target, item, item_source in zip(targets, items, sources, strict=False):
        assign(interp, target, item, kind, item_source)


def _around_star(interp: Interpreter, value: Value, count: int, starred: int, node: ast.expr) -> list[Value]:
    """Return the values of ``first, *rest = value``; the starred target gets a list."""
    known = interp.elements(value, node)
    after = count - starred - 1
    if known is None or len(known) < count - 1:
        item = interp.element(value, node)
        rest = interp.new(ListObject(default_item=item))
        return [*([item] * starred), rest, *([item] * after)]
    end = len(known) - after
    return [*known[:starred], new_list(interp, known[starred:end]), *known[end:]]


def set_attribute(
    interp: Interpreter,
    base: Value,
    name: str,
    value: Value,
    node: ast.AST,
    weak: bool = False,
    source: ast.expr | None = None,
) -> None:
    """Execute ``base.name = value``; with ``weak``, the old value remains an alternative."""
    if isinstance(base, Tensor) and name == "data":
        device = _device_of_tensors(value)
        for origin in base.origins:
            if origin.kind == "parameter" and origin.site_id and device != base.device:
                module_moves.move(interp, Pointer(origin.site_id), device, node)
    if isinstance(base, Builtin) and name == "data" and module_at(interp, base.receiver) is not None:
        _replace_weight(interp, base.receiver, value, node)
    if isinstance(base, (Namespace, ClassValue)):
        _set_in_scope(interp, base, name, value, weak)
    if not isinstance(base, Pointer):
        return
    if value == UNKNOWN:  # methods in other files ask for it, too
        value = Unknown(f"{UNNAMED}#{base.id}.{name}")
    obj = interp.heap_object(base)
    if name == "data" and isinstance(obj, Module):
        return
    setter = find_property_setter(interp, obj, name)
    if setter is not None:
        interp.call(setter, [base, value], {}, implicit_call(node, "setter"))
        return
    if isinstance(obj, Module):
        modules.attach(interp, base, name, value, node, weak, source)
        return
    value = obj.adopt(name, value)
    record_binding(interp, text_of(node) if isinstance(node, ast.Attribute) else name, value, "attribute", node, source)
    if obj.cls is not None and isinstance(obj, InstanceObject):
        value = attribute_stores.note_store(interp, base, name, value, node, source)
    interp.observe(AttributeStored(base, name, value, node))
    for option in alternatives(value):
        if isinstance(option, Pointer) and module_at(interp, option) is not None:
            interp.observations.module_references.append(ModuleReference(option, interp.point(node)))
    old = obj.fields.get(name)
    interp.now.set_field(base, name, join((old, value)) if weak and old is not None else value)


def _device_of_tensors(value: Value) -> Device:
    """Return where a value is, whose tensors are on one device; what else it may be says nothing."""
    devices = {option.device for option in alternatives(value) if isinstance(option, Tensor)}
    return devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE


def _replace_weight(interp: Interpreter, module: Value, value: Value, node: ast.AST) -> None:
    """Execute ``module.weight_ih.data = value``: the weights of a library module are on one device."""
    assert isinstance(module, Pointer)
    device = value.device if isinstance(value, Tensor) else UNKNOWN_DEVICE
    while isinstance(value, Builtin):  # ``other.weight_ih_l0.data``
        value = value.receiver
    if isinstance(value, Pointer) and module_at(interp, value) is not None:
        device = module_tree.weights_device(interp, value)
    module_moves.move(interp, module, device, node)


def set_item(interp: Interpreter, base: Value, key: Value, value: Value, node: ast.AST) -> None:
    """Execute ``base[key] = value``."""
    if isinstance(base, Tensor):
        _check_written_values(interp, base, key, value, node)
        _set_batch_item(interp, base, key, value, node)
        return
    if isinstance(base, TupleValue):
        _set_tuple_item(interp, base, key, value, node)
        return
    if isinstance(base, External) and base.name == "os.environ":
        _set_variable(interp, key, value)
        return
    if isinstance(base, Pointer):
        interp.heap_object(base).set_item(interp, base, key, value, node)


def _set_variable(interp: Interpreter, key: Value, value: Value) -> None:
    """Set an environment variable: one hides all accelerators from PyTorch, which reads it when it first uses one."""
    if isinstance(key, Const) and key.value in VISIBLE_DEVICES:
        hides = isinstance(value, Const) and value.value in NO_VISIBLE_DEVICES
        interp.now.set_runtime(sees_accelerators=not hides)


def _index_parts(target: ast.Subscript) -> list[ast.expr]:
    return target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]


def _note_copy_to_array(interp: Interpreter, target: ast.Subscript, value: Value, source: ast.expr) -> None:
    """Record that ``array[0:3] = x`` reads ``x`` on the host; with an integer as the index, a number is converted."""
    parts = _index_parts(target)
    tensors = [option for option in alternatives(value) if isinstance(option, Tensor)]
    if any(isinstance(part, ast.Slice) for part in parts) and not any(tensor.maybe_zero_dim for tensor in tensors):
        host_access.note_access(interp, target, f"{text_of(target)} = ...", value, source)


def _check_written_values(interp: Interpreter, base: Tensor, key: Value, value: Value, node: ast.AST) -> None:
    """Check ``x[index] = values``: with a tensor index, the values must be on the device of ``x``.

    With numbers and slices as the index, the values are copied to that device.
    """
    keys = key.items if isinstance(key, TupleValue) else (key,)
    has_tensor_index = any(
        isinstance(part, Tensor) and not part.maybe_zero_dim and not part.maybe_container for part in keys
    )
    if (
        has_tensor_index
        and isinstance(node, ast.Subscript)
        and isinstance(value, Tensor)
        and not (value.maybe_zero_dim or base.maybe_container)
    ):
        check_same_device(
            interp, node, "index", [tensor_operands(base, text_of(node.value)), tensor_operands(value, "…")]
        )


def _set_tuple_item(interp: Interpreter, base: TupleValue, key: Value, value: Value, node: ast.AST) -> None:
    """Replace an item of a collated batch, which is a list at run time, and rebind the batch's name."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return
    items = list(base.items)
    if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
        items[key.value] = value
    elif all(moves_item(item, value) or item == value for item in items):
        items = [value] * len(items)
    else:
        items = [join((item, value)) for item in items]
    interp.bind(node.value.id, TupleValue(tuple(items)))


def _set_batch_item(interp: Interpreter, base: Tensor, key: Value, value: Value, node: ast.AST) -> None:
    """Replace an item of a batch of unknown structure, usually by its copy on the accelerator."""
    if not base.maybe_container or not isinstance(node, ast.Subscript):
        return
    if isinstance(node.value, ast.Attribute):
        _set_part(interp, node.value, base, value)
        return
    if not isinstance(node.value, ast.Name):
        return
    is_index = isinstance(key, Tensor) and not iteration.is_element(key, base)
    if is_index or any(isinstance(part, ast.Slice) for part in _index_parts(node)):
        return  # ``x[0:3] = y`` copies to the device of ``x``, which is a tensor
    if isinstance(key, Const):
        batch: Value = interp.new(DictObject(fields={str(key.value): value}, default_item=base))
    elif isinstance(value, Tensor):
        batch = Tensor(value.device, is_certain=False, maybe_container=True)
    else:
        batch = UNKNOWN
    interp.bind(node.value.id, batch)
    if base.origins:
        _replace_everywhere(interp, base, batch)
        if isinstance(value, Tensor) and value.device != base.device:
            _forget_whole(interp, base)


def _forget_whole(interp: Interpreter, item: Tensor) -> None:
    """Forget where a batch is in which an item was changed: ``for row in batch: row["x"] = row["x"].to(device)``."""
    whole = iteration.whole_of(item)
    if whole is not None:
        _replace_everywhere(interp, whole, Tensor(UNKNOWN_DEVICE, is_certain=False, maybe_container=True))


def _replace_everywhere(interp: Interpreter, old: Value, new: Value) -> None:
    """Replace a batch under all names of the functions that are running: they mean the object that has changed."""
    activation = interp.activation
    while activation is not None:
        for name, value in interp.now.names(activation.env).items():
            options = alternatives(value)
            if value == old or old in options:
                interp.now.bind(activation.env, name, join(new if option == old else option for option in options))
        activation = activation.parent


def containers(interp: Interpreter, name: str) -> dict[int, Container]:
    """Return the containers that a name may mean, by their identifiers."""
    value = interp.lookup(name)
    found = {}
    for option in () if value is None else alternatives(value):
        obj = object_at(interp, option, Container)
        if isinstance(option, Pointer) and obj is not None:
            found[option.id] = obj
    return found


def settle_items(interp: Interpreter, name: str, before: dict[int, Container]) -> None:
    """Leave a loop that sets items of a batch under its keys: what it moved on one path only has no known device.

    A condition in the loop, or a caught error, chooses what can be moved, and usually all tensors can.  ``before`` has
    the containers as they were: items that the loop has not changed are left alone.
    """
    value = interp.lookup(name) if interp.alive else None
    options = () if value is None else alternatives(value)
    batches = [option for option in options if isinstance(option, Tensor) and option.maybe_container]
    if len({batch.device for batch in batches}) > 1:
        for batch in batches:
            _forget_whole(interp, batch)
            _replace_everywhere(interp, batch, Tensor(UNKNOWN_DEVICE, is_certain=False, maybe_container=True))
    for option in options:
        obj = object_at(interp, option, Container)
        if not isinstance(option, Pointer) or obj is None:
            continue
        old = before.get(option.id)
        kept = old.fields if old is not None else {}
        fields = {key: item if kept.get(key) == item else _settled(item) for key, item in obj.fields.items()}
        rest = obj.default_item
        if rest is not None and (old is None or old.default_item != rest):
            rest = _settled(rest)
        if fields != obj.fields or rest != obj.default_item:
            interp.now.update(option, fields=fields, default_item=rest)


def _settled(item: Value) -> Value:
    tensors = [option for option in alternatives(item) if isinstance(option, Tensor)]
    if len({tensor.device for tensor in tensors}) < 2:
        return item
    others = [option for option in alternatives(item) if not isinstance(option, Tensor)]
    return join([replace(tensors[0], device=UNKNOWN_DEVICE, origins=()), *others])


def _set_part(interp: Interpreter, part: ast.Attribute, base: Tensor, value: Value) -> None:
    """Execute ``graph.ndata["h"] = value`` on a batch of unknown structure: some of its tensors are elsewhere now."""
    root: ast.expr = part
    while isinstance(root, ast.Attribute):
        root = root.value
    batch = interp.lookup(root.id) if isinstance(root, ast.Name) else None
    is_elsewhere = any(isinstance(option, Tensor) and option.device != base.device for option in alternatives(value))
    if is_elsewhere and isinstance(part.value, ast.Name):
        _forget_attribute(interp, part.value.id, part.attr, base)
    if isinstance(root, ast.Name) and isinstance(batch, Tensor) and batch.maybe_container and is_elsewhere:
        interp.bind(root.id, Tensor(UNKNOWN_DEVICE, is_certain=False, maybe_container=True))


def _forget_attribute(interp: Interpreter, name: str, attribute: str, kept: Tensor) -> None:
    """Forget where an attribute is of which an item has moved: ``self.state[key] = self.state[key].to(device)``."""
    for owner in alternatives(interp.lookup(name) or UNKNOWN):
        value = interp.heap_object(owner).fields.get(attribute) if isinstance(owner, Pointer) else None
        if isinstance(owner, Pointer) and value is not None and kept in alternatives(value):
            interp.now.set_field(owner, attribute, anywhere(value))


def delete(interp: Interpreter, target: ast.expr) -> None:
    """Execute ``del target``."""
    match target:
        case ast.Name(id=name):
            assert interp.activation is not None
            interp.now.unbind(interp.activation.env, name)
        case ast.Attribute():
            for option in alternatives(interp.evaluate(target.value)):
                if isinstance(option, Pointer):
                    interp.now.delete_field(option, target.attr)
        case ast.Subscript():
            key = interp.evaluate(target.slice)
            for option in alternatives(interp.evaluate(target.value)):
                if isinstance(option, Pointer) and isinstance(key, Const):
                    interp.now.delete_field(option, str(key.value))
        case ast.Tuple(elts=elts):
            for element in elts:
                delete(interp, element)
