"""``getattr``, ``setattr``, ``hasattr``, ``isinstance``, ``vars``, ``locals``, ``type``, and ``enum.auto``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores
from devfix.analysis.domain.narrowing import has, is_known_tensor
from devfix.analysis.domain.objects import Container, Mapping, Module, module_at, object_at
from devfix.analysis.domain.values import (
    ACCELERATOR,
    NONE,
    UNKNOWN,
    Bound,
    ClassValue,
    Const,
    DeviceValue,
    External,
    Function,
    IterableOf,
    Keywords,
    Number,
    Parameters,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.stdlib.containers import DictObject
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.stdlib.texts import known_start
from devfix.analysis.torch import checkpoints, module_tree, modules
from devfix.analysis.torch.batch_objects import BatchObject
from devfix.models.index import lookup
from devfix.models.names import NN_MODULE_METHODS, TELL_TENSORS

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["HANDLERS", "OVERLAYS", "set_named_attribute", "update_attributes"]


def _getattr(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if len(args) < 2:
        return UNKNOWN
    names = [name.value for name in alternatives(args[1]) if isinstance(name, Const) and isinstance(name.value, str)]
    if not names or len(names) != len(alternatives(args[1])):
        owner = interp.heap_object(args[0]) if isinstance(args[0], Pointer) else None
        if isinstance(owner, Module):
            return _computed_part(owner, node.args[1] if len(node.args) > 1 else None)
        if isinstance(args[0], Pointer) and isinstance(owner, InstanceObject):
            return attribute_stores.computed_attribute(interp, args[0])
        return External(f"{args[0].name}.any") if isinstance(args[0], External) else UNKNOWN
    found = join(interp.attribute(args[0], name, node) for name in names)
    missing = isinstance(found, Unknown) and len(args) > 2
    return join((found, args[2])) if missing else found


def _computed_part(module: Module, name: ast.expr | None) -> Value:
    """Return a part under a computed name: one whose name begins so, or one with another computed name."""
    if module_tree.COMPUTED in module.fields:
        return module.fields[module_tree.COMPUTED]
    start = known_start(name) if name is not None else ""
    parts = [(key, value) for key, value in module.fields.items() if isinstance(value, (Pointer, Union))]
    named = [value for key, value in parts if start and key.startswith(start)]
    return join(named or module_tree.computed_parts(module))


def set_named_attribute(interp: Interpreter, owner: Value, args: list[Value], node: ast.Call) -> Value:
    """Execute ``owner.__setattr__(name, value)``."""
    return _setattr(interp, [owner, *args], {}, node)


def _setattr(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if len(args) == 3:
        for option in alternatives(args[0]):
            names = [str(name.value) for name in alternatives(args[1]) if isinstance(name, Const)]
            if len(names) > 1 and isinstance(option, Pointer):
                interp.base.computed.add(option.id)
            if len(names) == len(alternatives(args[1])):
                fields = interp.heap_object(option).fields if isinstance(option, Pointer) else {}
                for name in [name for name in names if name in fields] or names:
                    source = node.args[-1] if len(node.args) in (2, 3) else None
                    interp.set_attribute(option, name, args[2], node, weak=len(names) > 1, source=source)
            elif isinstance(option, Pointer) and module_at(interp, option) is not None:
                modules.attach(interp, option, None, args[2], node, weak=True)
            elif isinstance(option, Pointer) and object_at(interp, option, InstanceObject) is not None:
                interp.base.computed.add(option.id)
                interp.escape([option])  # any attribute may change
    return NONE


def _hasattr(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if len(args) == 2 and isinstance(args[0], Pointer) and isinstance(args[1], Const):
        obj = interp.heap_object(args[0])
        if str(args[1].value) in obj.fields:
            return Const(True)
        if args[1].value == "module" and isinstance(obj, Module):
            return Const(obj.data_parallel)
        if isinstance(obj, Module) and args[1].value in NN_MODULE_METHODS:
            return Const(True)
    if len(args) == 2 and isinstance(args[1], Const) and args[1].value in TELL_TENSORS:
        return _known(has(interp, option, args[1].value) for option in alternatives(args[0]))
    if len(args) == 2 and isinstance(args[1], Const) and lookup(f"torch.Tensor.{args[1].value}") is not None:
        return _known(_has_as_tensor(interp, option) for option in alternatives(args[0]))
    return UNKNOWN


def _has_as_tensor(interp: Interpreter, value: Value) -> bool | None:
    """Return whether a value has an attribute of tensors, which others may have, too; ``None`` if unknown."""
    return False if value == NONE else is_known_tensor(interp, value) or None


def _known(outcomes: Iterable[bool | None]) -> Value:
    """Return the outcome of a test for all alternatives of a value."""
    found = set(outcomes)
    outcome = found.pop() if len(found) == 1 else None
    return UNKNOWN if outcome is None else Const(outcome)


def _isinstance(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if len(args) != 2:
        return UNKNOWN
    value, classes = args
    wanted = classes.items if isinstance(classes, TupleValue) else (classes,)
    return _known(_is_any_of(interp, option, wanted) for option in alternatives(value))


def _is_any_of(interp: Interpreter, value: Value, classes: Iterable[Value]) -> bool | None:
    """Return whether a value is an instance of one of several classes; ``None`` if unknown."""
    outcomes = {_is_a(interp, value, cls) for cls in classes}
    if True in outcomes:
        return True
    return False if outcomes == {False} else None


def _is_a(interp: Interpreter, value: Value, cls: Value) -> bool | None:
    name = cls.name if isinstance(cls, External) else ""
    name = "torch.Tensor" if name in _OLD_TENSORS else name
    if isinstance(value, Tensor):
        if not value.is_certain or value.maybe_container:
            return None
        is_typed = name.startswith("torch.") and name.endswith("Tensor") and name != "torch.Tensor"
        return _is_of_typed_class(value, name) if is_typed else name == "torch.Tensor"
    if isinstance(value, TupleValue):
        return name in ("builtins.tuple", "collections.abc.Sequence", "typing.Sequence")
    if isinstance(value, Const) and name in _PLAIN_TYPES:
        return isinstance(value.value, _PLAIN_TYPES[name])
    if isinstance(value, Number) and name in _PLAIN_TYPES:
        if value.is_float:
            return name in ("builtins.float", "numbers.Number")
        return None if name in _NUMBERS else False
    if isinstance(value, (ClassValue, Function, Bound)) and name in _PLAIN_TYPES:
        return False
    if isinstance(value, Text) and name in _PLAIN_TYPES:
        return name == "builtins.str"
    if isinstance(value, (Text, Const)) and isinstance(cls, External) and _is_of_package(name):
        return False
    if isinstance(value, (Text, Number, Const, DeviceValue)):
        return False if name in ("torch.Tensor", "torch.nn.Module") else None
    if isinstance(value, (IterableOf, Parameters)):
        return False if name in ("torch.Tensor", "torch.nn.Module") else None
    if isinstance(value, Pointer):
        return interp.heap_object(value).is_a(cls, name)
    return None


def _is_of_package(name: str) -> bool:
    """Return whether a class is not Python's own: no literal is an instance of it, ``isinstance(None, np.ndarray)``."""
    package, _, last = name.partition(".")
    return bool(last) and package not in sys.stdlib_module_names


def _is_of_typed_class(tensor: Tensor, name: str) -> bool | None:
    """Return whether a tensor is a ``torch.cuda.FloatTensor``: it names the device; its dtype is mostly meant."""
    if not tensor.device.known:
        return None
    if name.startswith("torch.cuda.") != (tensor.device == ACCELERATOR):
        return False
    return name.rpartition(".")[2] in ("FloatTensor", "LongTensor") or None


_OLD_TENSORS = ("torch.autograd.Variable", "torch.autograd.variable.Variable")  # what is one is a tensor
_NUMBERS = ("builtins.int", "builtins.float", "builtins.bool", "builtins.complex", "numbers.Number")
_PLAIN_TYPES: dict[str, type | tuple[type, ...]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.bool": bool,
    "builtins.complex": complex,
    "numbers.Number": (int, float, complex),
    "builtins.str": str,
    "builtins.bytes": bytes,
    "builtins.list": list,
    "builtins.tuple": tuple,
    "builtins.dict": dict,
}


def _vars(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Pointer):
        obj = interp.heap_object(args[0])
        if isinstance(obj, InstanceObject) and obj.cls is not None:
            return args[0]
        return interp.new(DictObject(fields=dict(obj.fields), default_item=UNKNOWN))
    return UNKNOWN


def _locals(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    assert interp.activation is not None
    return interp.new(DictObject(fields=interp.now.names(interp.activation.env)))


def update_attributes(
    interp: Interpreter, owner: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """Execute ``module.__dict__.update(mapping, name=value)``, which registers nothing; return ``None``.

    What the module has already may become anything else: the paths that lead here are joined.
    """
    checkpoints.note_kept(interp, args, node)
    known = interp.heap_object(owner).fields
    given = [found for value in args if (found := object_at(interp, value, Mapping)) is not None]
    entries = {name: value for mapping in given for name, value in mapping.fields.items()} | dict(keywords)
    for name, value in entries.items():
        if name == "**" or value == owner:  # ``locals()`` has ``self``, too
            continue
        is_other = name in known and known[name] != value
        interp.now.set_field(owner, name, join((known[name], UNKNOWN)) if is_other else value)
    return NONE


def _type(interp: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if len(args) == 1 and isinstance(args[0], Pointer) and interp.heap_object(args[0]).cls is not None:
        return interp.heap_object(args[0]).cls or UNKNOWN
    if len(args) == 1 and isinstance(args[0], Tensor) and args[0].is_certain and not args[0].maybe_container:
        tensor = External("torch.Tensor")
        return join((tensor, External("torch.nn.Parameter"))) if args[0].grad else tensor
    if len(args) == 1 and (graph := object_at(interp, args[0], BatchObject)) is not None and graph.name:
        return External(graph.name)
    container = object_at(interp, args[0], Container) if len(args) == 1 else None
    return External(f"builtins.{container.builtin}") if container is not None else UNKNOWN


HANDLERS: dict[str, Callable[[Interpreter, list[Value], Keywords, ast.Call], Value]] = {
    "getattr": _getattr,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "locals": _locals,
    "setattr": _setattr,
    "type": _type,
    "vars": _vars,
}


def _is_dataclass(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``dataclasses.is_dataclass``: no tensor, layer of a library, number, string, tuple or container is one."""
    given = args[0] if args else keywords.get("obj", UNKNOWN)
    return Const(False) if all(_is_no_dataclass(interp, option) for option in alternatives(given)) else UNKNOWN


def _is_no_dataclass(interp: Interpreter, value: Value) -> bool:
    module = module_at(interp, value)
    return (module is not None and module.cls is None) or is_known_tensor(interp, value) is not None


def _cast(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``typing.cast(np.ndarray, x)``: the value itself, of which more may be known."""
    if len(args) < 2:
        return UNKNOWN
    return numpy_.array(node) if args[0] == External("numpy.ndarray") else args[1]


def _auto(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``enum.auto()``: a number of its own for each member of a class."""
    return Const(node.lineno)


OVERLAYS: dict[str, Callable[[Interpreter, str, list[Value], Keywords, ast.Call], Value]] = {
    "dataclasses.is_dataclass": _is_dataclass,
    "enum.auto": _auto,
    "typing.cast": _cast,
}
