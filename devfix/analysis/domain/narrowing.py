"""Narrowing: what the outcome of a test says of the tested value, its type, device or presence."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, Module, Opaque, module_at
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.splits import take_side_of_value
from devfix.analysis.domain.values import (
    CPU,
    UNKNOWN_DEVICE,
    Const,
    Device,
    DeviceValue,
    External,
    Number,
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
from devfix.models.index import lookup
from devfix.models.names import NN_MODULE_METHODS, TELL_TENSORS
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["has", "is_known_tensor", "narrow", "tensor_of_rank", "value_without_calls"]


def value_without_calls(interp: Interpreter, node: ast.expr) -> Value:
    """Return the value of a name or attribute chain without evaluating calls."""
    if isinstance(node, ast.Name):
        return interp.lookup(node.id) or Unknown()
    if isinstance(node, ast.Attribute):
        base = value_without_calls(interp, node.value)
        if isinstance(base, (Pointer, Unknown, External)) and not (isinstance(base, Unknown) and not base.symbol):
            return interp.attribute(base, node.attr, node)
    return Unknown()


_SCALAR_TYPES = frozenset(
    {"str", "bytes", "int", "float", "bool", "complex", "Number", "string_classes", "string_types"}
)
# Other classes of which no tensor is an instance
_OTHER_TYPES = frozenset({"ndarray", "list", "tuple", "set", "dict", "Sequence", "Mapping", "Image", "Module"})
_WITHOUT_ITEMS = frozenset({"ndarray", "Image", "Module"})  # those that hold no tensors under keys or indices


def _narrow_type(interp: Interpreter, test: ast.Call, holds: bool) -> None:
    """Narrow ``x`` by ``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)`` or ``hasattr(x, "to")``."""
    if not test.args or not isinstance(test.args[0], ast.Name):
        return
    name, types = test.args[0].id, _tested_types(interp, test, holds)
    value = interp.lookup(name)
    if isinstance(value, Union) and _tests_wrapper(test, types):
        kept = [option for option in value.alternatives if _is_wrapper(interp, option) in (None, holds)]
        if kept and len(kept) < len(value.alternatives):
            interp.bind(name, join(kept))
        return
    if value is None or types is None:
        return
    tests_tensor = types == {"Tensor"}
    if holds and not types <= _SCALAR_TYPES and types <= _SCALAR_TYPES | _OTHER_TYPES:
        options = alternatives(value)
        others = [option for option in options if not (is_known_tensor(interp, option))]
        is_item = types <= _SCALAR_TYPES | _WITHOUT_ITEMS  # what a container holds need not be tensors
        others = [_of_other_type(option, is_item) if isinstance(option, Tensor) else option for option in others]
        if others and others != list(options):
            interp.bind(name, join(others))
    elif not holds and not tests_tensor:
        others = [option for option in alternatives(value) if not _is_of_type(interp, option, types)]
        if 0 < len(others) < len(alternatives(value)):
            interp.bind(name, join(others))
    elif tests_tensor or (holds and types <= _SCALAR_TYPES):
        options = alternatives(value)
        if tests_tensor:
            outcomes = {option: _outcome(interp, test, option) for option in options}
            options = tuple(option for option in options if outcomes[option] in (None, holds)) or options
        else:
            options = tuple(option for option in options if not is_known_tensor(interp, option)) or options
        narrowed = [_narrowed(interp, option, tests_tensor and holds) for option in options]
        if tests_tensor and holds and not text_of(test.func).endswith("hasattr"):  # a module has ``to``, too
            narrowed = [Tensor(UNKNOWN_DEVICE) if isinstance(option, Unknown) else option for option in narrowed]
        if narrowed != list(alternatives(value)):
            interp.bind(name, join(narrowed))


_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel"})


def _tests_wrapper(test: ast.Call, types: set[str] | None) -> bool:
    """Return whether a test asks for ``DataParallel`` and its like: by their classes, or ``hasattr(x, "module")``."""
    match test:
        case ast.Call(func=ast.Name(id="hasattr"), args=[_, ast.Constant(value="module")]):
            return True
    return bool(types and types <= _WRAPPERS)


def _is_wrapper(interp: Interpreter, value: Value) -> bool | None:
    """Return whether a value is a module that scatters its inputs; ``None`` if its class is unknown."""
    module = module_at(interp, value)
    if module is None or "module" in module.fields or (module.cls is None and module.opaque):
        return True if module is not None and module.data_parallel else None
    return module.data_parallel


def _of_other_type(tensor: Tensor, is_item: bool) -> Value:
    return Unknown() if is_item else replace(tensor, is_certain=False)


def _narrow_by_type_name(interp: Interpreter, name: str, word: str, holds: bool) -> None:
    """Narrow ``x`` by ``"torch" in str(type(x))``: a tensor where it holds, and none where it does not."""
    value = interp.lookup(name)
    names_tensor = word in "<class 'torch.Tensor'>"
    if value is None or not (holds or names_tensor):
        return
    is_tensor = holds and names_tensor
    kept = [option for option in alternatives(value) if is_known_tensor(interp, option) in (None, is_tensor)]
    if kept and len(kept) < len(alternatives(value)):
        interp.bind(name, join(kept))


def _is_of_type(interp: Interpreter, value: Value, types: set[str]) -> bool:
    """Return whether a value certainly is of one of these types; a number is a ``float`` by convention."""
    if isinstance(value, TupleValue):
        return "tuple" in types
    if isinstance(value, Number):
        return not types.isdisjoint({"float", "Number"})
    if isinstance(value, Text):
        return "str" in types
    obj = interp.heap_object(value) if isinstance(value, Pointer) else None
    return isinstance(obj, Container) and obj.builtin in types


def _tested_types(interp: Interpreter, test: ast.Call, holds: bool) -> set[str] | None:
    """Return the last names of the tested classes; ``None`` if the call is no type test, or its outcome tells none.

    What other values have, too (``item``), tells a tensor only where it is missing.
    """
    function = text_of(test.func).split(".")[-1]
    if function == "is_tensor":
        return {"Tensor"}
    if function == "isscalar":  # of NumPy
        return set(_SCALAR_TYPES)
    if len(test.args) != 2:
        return None
    if function == "hasattr" and isinstance(test.args[1], ast.Constant):
        name = str(test.args[1].value)
        return {"Tensor"} if name in TELL_TENSORS or not (holds or lookup(f"torch.Tensor.{name}") is None) else None
    if function != "isinstance":
        return None
    types = interp.evaluate(test.args[1])
    classes = types.items if isinstance(types, TupleValue) else (types,)
    names = {cls.name.split(".")[-1] if isinstance(cls, External) else "" for cls in classes}
    return {"Tensor" if name == "Variable" else name for name in names}


def _outcome(interp: Interpreter, test: ast.Call, value: Value) -> bool | None:
    """Return whether a test for tensors holds for a value; ``None`` if unknown."""
    attribute = test.args[1] if text_of(test.func) == "hasattr" else None
    return (
        has(interp, value, attribute.value) if isinstance(attribute, ast.Constant) else is_known_tensor(interp, value)
    )


def has(interp: Interpreter, value: Value, name: object) -> bool | None:
    """Return whether a value has an attribute by which programs tell tensors; ``None`` if unknown."""
    if isinstance(value, Pointer) and isinstance(interp.heap_object(value), Module) and name in NN_MODULE_METHODS:
        return True
    return is_known_tensor(interp, value)


def is_known_tensor(interp: Interpreter, value: Value) -> bool | None:
    """Return whether ``isinstance(value, Tensor)`` holds; ``None`` if unknown."""
    if isinstance(value, Tensor):
        return True if value.is_certain and not value.maybe_container else None
    if isinstance(value, Pointer):
        return False if isinstance(interp.heap_object(value), Container) else None
    return False if isinstance(value, (Text, Number, Const, TupleValue)) else None


def _narrowed(interp: Interpreter, value: Value, is_tensor: bool) -> Value:
    if is_tensor and isinstance(value, Pointer):
        obj = interp.heap_object(value)
        return Tensor(_only_device(obj.devices)) if isinstance(obj, Opaque) else value
    if not isinstance(value, Tensor) or (value.is_certain and not value.maybe_container):
        return value
    if is_tensor:
        return replace(value, is_certain=True, maybe_container=False)
    return Tensor(UNKNOWN_DEVICE, is_certain=False, maybe_container=True)  # a string or a container


def _only_device(devices: frozenset[Device]) -> Device:
    return next(iter(devices)) if len(devices) == 1 else UNKNOWN_DEVICE


def _narrow_device(interp: Interpreter, test: ast.Compare, equal: bool) -> None:
    """Narrow ``x`` by ``x.device == device`` or ``x.type() == y.type()``: where it holds, ``x`` is nowhere else."""
    if not equal:
        return
    sides = (test.left, test.comparators[0])
    for side, other in (sides, sides[::-1]):
        subject = _subject_of_device(side)
        device = _device_of(interp, other) if subject is not None else None
        if subject is not None and device is not None:
            _narrow_tensors(interp, subject, partial(_on_device, device))


def _narrow_length(interp: Interpreter, test: ast.Compare, equal: bool) -> None:
    """``len(result) == 2``: of several tuples, keep those of this length."""
    match test.left, test.comparators[0]:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]), ast.Constant(value=int(length)):
            value = interp.lookup(name)
            options = value.alternatives if isinstance(value, Union) else ()
            kept = [
                each for each in options if not isinstance(each, TupleValue) or (len(each.items) == length) is equal
            ]
            if kept and len(kept) < len(options):
                interp.bind(name, join(kept))


def _on_device(device: Device, tensor: Tensor) -> Tensor | None:
    """Return a tensor that is on a device; ``None`` if it cannot be there."""
    if device.known:
        return None if tensor.device.differs(device) else tensor
    return replace(tensor, device=device)


def _without_dimensions(test: ast.Compare) -> ast.expr | None:
    """Return ``x`` of ``x.dim() == 0``, ``x.ndim == 0``, ``len(x.shape) == 0`` and ``len(x.size()) == 0``."""
    number = test.comparators[0]
    return tensor_of_rank(test.left) if isinstance(number, ast.Constant) and number.value == 0 else None


def tensor_of_rank(node: ast.expr) -> ast.expr | None:
    """Return the tensor whose dimensions are counted: ``x`` of ``x.dim()``, ``x.ndim`` and ``len(x.size())``."""
    match node:
        case ast.Call(func=ast.Attribute(value=subject, attr="dim" | "ndimension"), args=[]):
            return subject
        case ast.Attribute(value=subject, attr="ndim"):
            return subject
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=subject, attr="shape")]):
            return subject
        case ast.Call(func=ast.Name(id="len"), args=[ast.Call(func=ast.Attribute(value=subject, attr="size"))]):
            return subject
    return None


def _of_dimensions(has_some: bool, tensor: Tensor) -> Tensor:
    """Return a tensor that has dimensions or none; other callers pass the one that may have none and does have some."""
    if not has_some:
        return replace(tensor, maybe_zero_dim=True, is_single_number=True)
    if not tensor.maybe_zero_dim:
        return tensor
    return replace(tensor, device=UNKNOWN_DEVICE, origins=(), maybe_zero_dim=False, is_single_number=False)


def _if_cuda(holds: bool, tensor: Tensor) -> Tensor | None:
    return tensor if not tensor.device.known or (tensor.device != CPU) is holds else None


def _subject_of_device(node: ast.expr) -> ast.expr | None:
    """Return ``x`` of ``x.device``, ``x.type()`` and ``x.data.type()``."""
    match node:
        case ast.Attribute(value=subject, attr="device"):
            pass
        case ast.Call(func=ast.Attribute(value=subject, attr="type"), args=[], keywords=[]):
            pass
        case _:
            return None
    return subject.value if isinstance(subject, ast.Attribute) and subject.attr == "data" else subject


def _device_of(interp: Interpreter, node: ast.expr) -> Device | None:
    """Return the device that an expression names, or that of the tensor whose device or type it is."""
    subject = _subject_of_device(node)
    if subject is not None:
        owner = value_without_calls(interp, subject)
        devices = {each.device if isinstance(each, Tensor) else UNKNOWN_DEVICE for each in alternatives(owner)}
        return _only_device(frozenset(devices))
    is_constructed = isinstance(node, ast.Call) and text_of(node.func).endswith("device")  # ``torch.device("cpu")``
    value = interp.evaluate(node) if is_constructed else value_without_calls(interp, node)
    return value.device if isinstance(value, DeviceValue) else None


def _narrow_tensors(interp: Interpreter, place: ast.expr, narrowed: Callable[[Tensor], Tensor | None]) -> None:
    """Narrow the tensors at a place (``x``, ``self.x``); those that become ``None`` go, unless nothing else is left."""
    options = alternatives(value_without_calls(interp, place))
    kept = [narrowed(each) if isinstance(each, Tensor) else each for each in options]
    remaining = [each for each in kept if each is not None]
    if not remaining or remaining == list(options):
        return
    match place:
        case ast.Name(id=name):
            interp.bind(name, join(remaining))
        case ast.Attribute(value=base, attr=attribute):
            owner = value_without_calls(interp, base)
            if isinstance(owner, Pointer):
                interp.now.set_field(owner, attribute, join(remaining))


def _narrow_modules(interp: Interpreter, test: ast.Attribute, holds: bool) -> None:
    """Leave out the modules that ``next(module.parameters()).is_cuda`` contradicts."""
    match test.value:
        case ast.Call(func=ast.Name(id="next"), args=[ast.Call(func=ast.Attribute(value=ast.Name(id=name)))]):
            whole = interp.lookup(name)
        case _:
            return
    if not isinstance(whole, Union):
        return
    possible: list[Value] = []
    elsewhere: list[Value] = []
    for option in whole.alternatives:
        interp.bind(name, option)
        if interp.truth(test) in (holds, None):
            module = module_at(interp, option)
            (elsewhere if holds and module is not None and module.devices == {CPU} else possible).append(option)
    interp.bind(name, join(possible or elsewhere or whole.alternatives))


def narrow(interp: Interpreter, test: ast.expr, holds: bool) -> None:
    """Narrow the value that a single condition tests."""
    if isinstance(test, ast.Call):
        _narrow_type(interp, test, holds)
        return
    if isinstance(test, ast.Attribute) and test.attr == "is_cuda":
        _narrow_tensors(interp, test.value, partial(_if_cuda, holds))
        _narrow_modules(interp, test, holds)
        return
    match test:
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[subject]), ops=[ast.Eq() | ast.Is()], comparators=[cls]
        ) if holds:
            same = ast.Call(ast.Name("isinstance", ast.Load()), [subject, cls], [])
            _narrow_type(interp, ast.copy_location(same, test), holds)
            return
        case ast.Compare(
            left=ast.Constant(value=str(word)),
            ops=[ast.In()],
            comparators=[ast.Call(func=ast.Name(id="str"), args=[ast.Call(func=ast.Name(id="type"), args=[subject])])],
        ) if isinstance(subject, ast.Name):
            _narrow_by_type_name(interp, subject.id, word, holds)
            return
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        equal = holds is isinstance(test.ops[0], ast.Eq)
        _narrow_device(interp, test, equal)
        _narrow_length(interp, test, equal)
        counted = _without_dimensions(test)
        if counted is not None:
            _narrow_tensors(interp, counted, partial(_of_dimensions, not equal))
    is_none = holds
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        name, right = test.left, test.comparators[0]
        if not (isinstance(right, ast.Constant) and right.value is None):
            return
        is_none = holds is isinstance(test.ops[0], ast.Is)
    else:
        name, is_none = test, not holds
    if not isinstance(name, ast.Name):
        return
    value = interp.lookup(name.id)
    if is_none and isinstance(test, ast.Compare) and value is not None and Const(None) not in alternatives(value):
        if any(isinstance(option, Unknown) and not option.symbol for option in alternatives(value)):
            interp.bind(name.id, Const(None))
        return
    if not isinstance(value, Union):
        return
    if is_none and not isinstance(test, ast.Compare):  # what is no module may be empty
        remaining = [option for option in value.alternatives if module_at(interp, option) is None]
    else:
        remaining = [option for option in value.alternatives if (option == Const(None)) is is_none]
    excluded = frozenset(value.alternatives).difference(remaining)
    if remaining and excluded:
        joined: Value | None = value
        while isinstance(joined, Union):
            joined = take_side_of_value(interp.now, joined, excluded)
        interp.bind(name.id, join(remaining))
