"""``nn.Module`` objects: attribute assignment, and calls of library modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from devfix.analysis import attribute_stores
from devfix.analysis.domain.objects import Container, Mapping, Module, Opaque, module_at, object_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    UNKNOWN_DEVICE,
    WIDENING_LIMIT,
    Const,
    Device,
    DeviceValue,
    IterableOf,
    Origin,
    Pointer,
    Tensor,
    TupleValue,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import Operand
from devfix.analysis.observations.execution import AttributeStored
from devfix.analysis.stdlib.items import named_by_index
from devfix.analysis.torch import optimizers
from devfix.analysis.torch.module_tree import assume_module, named_children, weighted_modules
from devfix.analysis.transfer.bound_call import BoundCall, bind
from devfix.analysis.transfer.device_check import OperandSet, check_same_device, tensors_in, weight_operands
from devfix.models.index import lookup
from devfix.models.names import NN_MODULE_METHODS
from devfix.syntax.tree import argument_texts, position, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.models.signatures import Word

__all__ = [
    "as_parameter",
    "attach",
    "call_leaf",
    "call_sequential",
    "is_registered",
    "note_late_tensor",
]

_REGISTERED = ("parameter", "buffer")


def _at(interp: Interpreter, pointer: Pointer) -> Module:
    """Return the module at a pointer."""
    module = module_at(interp, pointer)
    assert module is not None
    return module


def as_parameter(value: Value) -> Value:
    """Return what a list of parameters makes of a value: tensors become parameters."""
    is_plain = isinstance(value, Tensor) and not is_registered(value)
    return replace(value, origins=(Origin("parameter"),)) if isinstance(value, Tensor) and is_plain else value


def is_registered(value: Value) -> TypeGuard[Tensor]:
    """Return whether the value of a module's attribute is a parameter or a buffer."""
    return isinstance(value, Tensor) and any(
        origin.kind in _REGISTERED and not origin.attribute_id for origin in value.origins
    )


def attach(
    interp: Interpreter,
    parent: Pointer,
    name: str | None,
    value: Value,
    node: ast.AST,
    weak: bool = False,
    source: ast.expr | None = None,
) -> None:
    """Execute ``parent.name = value`` or ``parent[name] = value`` for a module.

    Args:
        interp: the interpreter.
        parent: the module.
        name: attribute or key; ``None`` if unknown.
        value: the assigned value.
        node: the target.
        weak: the old value remains an alternative.
        source: the assigned expression.

    """
    point = interp.point(node, with_state=True)
    interp.observe(AttributeStored(parent, name, value, node))
    obj = interp.heap_object(parent)
    name = named_by_index(obj, name)
    for option in alternatives(value):
        if name in NN_MODULE_METHODS or name == "forward":
            break  # a method is replaced on the object
        if not isinstance(option, Pointer):
            continue
        given = object_at(interp, option, Opaque)
        module = module_at(interp, option)
        is_module = (module is not None and not _is_assumed(interp, module)) or (
            given is not None and given.constructed
        )
        if assume_module(interp, option) is not None:
            interp.now.update(option, attached_at=point, parents=frozenset({parent}))
            old = interp.heap_object(parent).fields.get(name) if name is not None else None
            is_restored = _at(interp, option).name.endswith(f".{name}")  # an attribute of unknown code that was kept
            if not is_restored and (is_module or _is_known_module(interp, old)):
                optimizers.note_attach(interp, parent, option, old, point)
    obj = _at(interp, parent)
    is_library_tensor = obj.cls is None or (name in _LAYER_TENSORS and name not in obj.fields)
    if is_library_tensor and obj.weights and _shares_weights(name, value):  # the layer shares weights of another one
        interp.now.update(parent, devices=frozenset({value.device if isinstance(value, Tensor) else UNKNOWN_DEVICE}))
    elif isinstance(value, Tensor) and name in obj.buffers:
        if value.device != CPU or obj.last_moved_at is None:  # the value becomes the buffer
            value = replace(value, origins=(Origin("buffer", parent.id),))
    elif parameters := [option for option in alternatives(value) if _is_parameter(option, source)]:
        devices = frozenset(parameter.device for parameter in parameters)
        for device in devices:
            note_late_tensor(interp, parent, device, point)
        origins = (Origin("parameter", parent.id),)
        value = join(
            replace(option, origins=origins) if option in parameters and isinstance(option, Tensor) else option
            for option in alternatives(value)
        )
        interp.now.update(parent, weights=True, devices=obj.devices | devices if obj.weights else devices)
    elif name is not None and obj.cls is not None:
        value = attribute_stores.note_store(interp, parent, name, value, node, source, point)
    if name is None and obj.cls is not None and obj.name.endswith(".Module"):
        _register_with_computed_name(interp, parent, value)
    elif name is None:
        obj = interp.heap_object(parent)
        interp.now.update(parent, default_item=value if obj.default_item is None else join((obj.default_item, value)))
    else:
        old = obj.fields.get(name)
        interp.now.set_field(parent, name, join((old, value)) if weak and old is not None else value)


def _register_with_computed_name(interp: Interpreter, parent: Pointer, value: Value) -> None:
    """Execute ``parent.add_module(f"layer{i}", value)``: modules that one call has created are under one name.

    So many may be registered that one union of them all would forget them.
    """
    for option in alternatives(value):
        part = module_at(interp, option)
        if part is None:
            continue
        fields = interp.heap_object(parent).fields
        name = f"*{position(part.allocated_at.node)}" if part.allocated_at is not None else "*"
        while name in fields and len(known := alternatives(fields[name])) >= WIDENING_LIMIT and option not in known:
            name += "*"
        interp.now.set_field(parent, name, join((fields[name], option)) if name in fields else option)


def _is_assumed(interp: Interpreter, module: Module) -> bool:
    """Return whether a value is taken for a module without evidence: what unknown code returns, or an object's part."""
    owners = [owner for parent in module.parents if (owner := module_at(interp, parent)) is not None]
    is_part = any(owner.is_opaque and module.name.startswith(f"{owner.name}.") for owner in owners)
    return module.is_opaque and (is_part or module.devices == {UNKNOWN_DEVICE})


def _is_known_module(interp: Interpreter, value: Value | None) -> bool:
    """Return whether an attribute holds a module, not the result of code that cannot be read."""
    found = [module_at(interp, option) for option in alternatives(value or UNKNOWN)]
    return any(module is not None and not module.is_opaque for module in found)


_LAYER_TENSORS = ("weight", "bias", "running_mean", "running_var")


def _shares_weights(name: str | None, value: Value) -> bool:
    """Return whether a library layer gets weights or statistics that may not be on the CPU."""
    if isinstance(value, Tensor):
        return value.device != CPU
    return name in _LAYER_TENSORS and not isinstance(value, (Const, Pointer))


def _is_parameter(value: Value, source: ast.expr | None) -> TypeGuard[Tensor]:
    if isinstance(source, ast.IfExp):
        return _is_parameter(value, source.body) and _is_parameter(value, source.orelse)
    return (
        isinstance(value, Tensor)
        and any(origin.kind == "parameter" for origin in value.origins)
        and not attribute_stores.is_plain_tensor(value.origins, source)
    )


def note_late_tensor(interp: Interpreter, pointer: Pointer, device: Device, point: ProgramPoint) -> None:
    """Record that a module gets a parameter or buffer on the CPU after it was moved."""
    obj = interp.heap_object(pointer)
    if device == CPU and obj.last_moved_at is not None and ACCELERATOR in obj.devices:
        interp.now.update(pointer, attached_at=point)


def call_leaf(
    interp: Interpreter, pointer: Pointer, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Call a module whose ``forward`` is not in the project: check its weights against the arguments."""
    obj = _at(interp, pointer)
    if obj.cls is None and obj.name.startswith("torch.nn.") and args and isinstance(args[0], TupleValue):
        return UNKNOWN  # a layer refuses a tuple: this path is not taken
    model = lookup(obj.name)
    called = model.method("__call__") if model is not None and model.kind == "class" else None
    text = text_of(node.func)
    if obj.is_opaque and isinstance(node.func, ast.Attribute) and any(map(_is_whole_batch, args)):
        return UNKNOWN  # ``model.loss(batch)`` may be a method, which moves what it takes out of the batch
    if obj.is_opaque and _gets_device(args, keywords):
        return UNKNOWN  # it moves its arguments there
    bound = bind(called.signatures, args, keywords, node, (pointer, node.func)) if called is not None else None
    if called is not None and bound is None and obj.cls is None and obj.name.startswith("torch.nn."):
        return UNKNOWN  # the call does not fit the signature, so another module is called here
    opaque = obj.is_opaque
    operands = list[OperandSet]()
    for value, argument in _compared(bound, node, args, keywords):
        entries = _entries_meant(interp, value) if opaque else (value,)
        found = [operand for each in entries for operand in tensors_in(interp, each, argument)]
        operands += map(_held, found) if opaque and _is_sequence(interp, value) else found
    if opaque:
        operands = [operand for operand in operands if not _is_length(operand)]
    weights = [weight_operands(interp, part, path) for path, part, _ in weighted_modules(interp, pointer)]
    if opaque and (not operands or _places_arguments(interp, operands)):
        return UNKNOWN
    out = _result(interp, operands, weights, node, text, opaque, maybe_zero_dim=obj.mean)
    if bound is not None:
        return _shaped(bound.signature.result, out)
    return replace(out, maybe_container=True) if opaque else out


def _compared(
    bound: BoundCall | None, node: ast.Call, args: list[Value], keywords: dict[str, Value]
) -> list[tuple[Value, str]]:
    """Return the arguments that are compared with the weights, as pairs of value and text."""
    if bound is not None:
        return [(argument.value, argument.text) for argument in bound.with_word("On", "Scalar")]
    texts, named = argument_texts(node)
    texts = texts[: len(args)] + ["…"] * (len(args) - len(texts))
    others = {name: value for name, value in keywords.items() if not _names_length(name)}
    return [*zip(args, texts, strict=False), *((value, named.get(name, name)) for name, value in others.items())]


def _entries_meant(interp: Interpreter, value: Value) -> Sequence[Value]:
    """Return the entries of a dictionary, without those of a batch that the program leaves where it moves others.

    Code that cannot be read need not use them.
    """
    entries = object_at(interp, value, Mapping)
    if entries is None:
        return (value,)
    is_moved = any(
        isinstance(option, Tensor) and option.device == ACCELERATOR
        for item in entries.contents
        for option in alternatives(item)
    )
    return [item for item in entries.contents if not _is_of_batch(item)] if is_moved else (value,)


def _is_sequence(interp: Interpreter, value: Value) -> bool:
    container = object_at(interp, value, Container)
    return isinstance(value, TupleValue) or (container is not None and not isinstance(container, Mapping))


def _held(operand: OperandSet) -> OperandSet:
    """Return what a sequence holds for code that cannot be read: it may move the parts of a batch that it takes."""
    pairs = [
        (device, replace(each, is_certain=each.is_certain and not _is_of_loader(each)))
        for device, each in operand.alternatives
    ]
    return OperandSet(pairs, operand.maybe_zero_dim, operand.grad, operand.is_single_number)


def _is_of_loader(operand: Operand) -> bool:
    return bool(operand.origins) and all(origin.kind == "batch" for origin in operand.origins)


def _is_of_batch(value: Value) -> bool:
    options = [option for option in alternatives(value) if isinstance(option, Tensor) and option.device == CPU]
    return bool(options) and all(origin.kind == "batch" for option in options for origin in option.origins)


def _is_whole_batch(value: Value) -> bool:
    """Return whether a value is a batch of which nothing is known, not an item of one, or an iterator."""
    match value:
        case Tensor(origins=origins, is_certain=False, maybe_container=True):
            return any(origin.kind == "batch" and not origin.path for origin in origins)
        case TupleValue(items):
            return any(isinstance(item, IterableOf) for item in items)
    return isinstance(value, IterableOf)


def _places_arguments(interp: Interpreter, operands: list[OperandSet]) -> bool:
    """Return whether a module gets tensors on two numbered accelerators: its parts are there, and it moves the rest."""
    moves = list(interp.observations.device_assignments)
    given = {
        _number(moves[origin.site_id])
        for one in operands
        for _, operand in one.alternatives
        for origin in operand.origins
        if origin.kind == "moved"
    }
    return len(given - {None}) > 1


def _number(move: ast.Call) -> str | None:
    """Return the number of the accelerator that a move names: ``x.cuda(1)``, ``x.to("cuda:1")``."""
    match move.args:
        case [ast.Constant(value=int() as number)]:
            return str(number)
        case [ast.Constant(value=str() as name)] if ":" in name:
            return name.partition(":")[2]
    return None


def _gets_device(args: list[Value], keywords: dict[str, Value]) -> bool:
    """Return whether a call passes a device."""
    given = [option for value in (*args, *keywords.values()) for option in alternatives(value)]
    return "device" in keywords or any(isinstance(option, DeviceValue) for option in given)


_LENGTHS = frozenset(("len", "lens", "length", "lengths"))


def _is_length(operand: OperandSet) -> bool:
    """Return whether an operand is called lengths, which code that cannot be read may want on the CPU, or not use."""
    return any(_names_length(each.text) for _, each in operand.alternatives)


def _names_length(text: str) -> bool:
    return not _LENGTHS.isdisjoint(re.findall(r"[a-z]+", text.lower()))


def _shaped(word: Word, tensor: Tensor) -> Value:
    """Return the result of a module as its stub says: ``tuple[On, list[On]]``."""
    if word.name == "tuple":
        return TupleValue(tuple(_shaped(inner, tensor) for inner in word.arguments))
    return replace(tensor, maybe_container=True) if word.name == "list" else tensor


def _result(
    interp: Interpreter,
    operands: list[OperandSet],
    weights: list[OperandSet],
    node: ast.Call,
    text: str,
    opaque: bool = False,
    maybe_zero_dim: bool = False,
) -> Tensor:
    both = [*weights, *operands]
    device, origins = check_same_device(interp, node, text, both, opaque=opaque)
    grad = any(operand.grad for operand in both)
    return Tensor(
        device,
        origins if not weights else _result_origins(origins),
        maybe_zero_dim=maybe_zero_dim,
        grad=grad,
        is_single_number=maybe_zero_dim,
    )


def _result_origins(origins: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """Return the origins of a CPU result of a module with weights: it is not an item of a batch."""
    return tuple(origin for origin in origins if origin.kind not in ("batch", "load"))


def call_sequential(interp: Interpreter, pointer: Pointer, args: list[Value], node: ast.Call) -> Value:
    """Call the children of an ``nn.Sequential`` in order."""
    value = args[0] if args else UNKNOWN
    for _, part in list(named_children(interp, _at(interp, pointer))):
        value = interp.call(part, [value], {}, node)
    return value
