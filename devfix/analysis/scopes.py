"""Names that are visible at a program point, and the values that they have there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.analysis.domain.device_parsing import names_device, parse_device
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import (
    ACCELERATOR,
    Const,
    Device,
    DeviceValue,
    Number,
    Origin,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Value,
    alternatives,
)
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import SourceTree, text_of

__all__ = [
    "asks_for_accelerator",
    "condition_of",
    "device_of",
    "devices_differ",
    "is_device",
    "is_index",
    "module_names",
    "serves",
    "value_of",
    "visible",
]

_INDICES = frozenset({"device", "gpu", "gpu_id", "device_id", "gpu_index", "device_index", "cuda_device", "cuda_id"})


def visible(point: ProgramPoint, call_frame: CallFrame) -> dict[str, Value]:
    """Return the names that a statement of a frame can use: local, enclosing and global ones.

    Names that are bound only under ``if __name__ == "__main__":`` are not visible in functions, because the functions
    would fail if their file is imported.  For a function that has returned, the names are those at its return.
    """
    assert point.state is not None
    activation = call_frame.activation
    names: dict[str, Value] = {}
    for env in (activation.module.env, *(activation.function.scope if activation.function else ()), activation.env):
        names.update(point.state.names(env))
        if env == activation.module.env and activation.function is not None:
            names = {
                name: value for name, value in names.items() if name not in activation.module.tree.main_block_names
            }
    if activation.final_locals is not None and activation.env not in point.state.envs:
        names.update(activation.final_locals)
    return names


def is_device(name: str, value: Value) -> bool:
    """Return whether a value is a device that can be the accelerator."""
    found = False
    for option in alternatives(value):
        if isinstance(option, DeviceValue):
            found |= option.device == ACCELERATOR
        elif isinstance(option, Const) and isinstance(option.value, str):
            if not names_device(option.value):
                return False
            found |= parse_device(option.value) == ACCELERATOR
        elif isinstance(option, Number) and name.split(".")[-1].lower() in _INDICES:
            found = True  # an index is a device, too
        elif isinstance(option, (Text, Number)) or option != Const(None):
            return False
    return found


def is_index(value: Value | None) -> bool:
    """Return whether a value is a bare device index, which is valid only if there is an accelerator."""
    found = alternatives(value) if value is not None else ()
    return any(isinstance(option, Number) for option in found) and all(
        isinstance(option, Number) or option == Const(None) for option in found
    )


def asks_for_accelerator(test: ast.expr) -> bool:
    """Return whether a condition is on the accelerator: ``args.cuda``, ``use_gpu``, ``torch.cuda.is_available()``."""
    return bool(set(_WORDS.findall(text_of(test).lower())) & _ACCELERATOR_WORDS)


def condition_of(point: ProgramPoint) -> ast.If | None:
    """Return the outermost ``if`` on more than the accelerator around a program point, inside its function."""
    found = None
    for parent in point.tree.ancestors(point.stmt):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
        if isinstance(parent, ast.If) and not asks_for_accelerator(parent.test):
            found = parent
    return found


_WORDS = re.compile(r"[a-z]+")
_ACCELERATOR_WORDS = {"cuda", "gpu", "gpus", "mps", "accel", "accelerator"}


def serves(point: ProgramPoint, call_frame: CallFrame, text: str) -> bool:
    """Return whether an expression is a device on every machine.

    An index is a device if a condition on the accelerator encloses the statement, or if the program itself uses the
    index unconditionally.  An expression that the program only uses in a choice (``args.device if
    torch.cuda.is_available() else "cpu"``) is not a device.
    """
    if not is_index(value_of(point, call_frame, ast.parse(text, mode="eval").body)):
        return not any(
            _only_if_asked(tree, text) for tree in dict.fromkeys(one.tree for one in (call_frame, *point.call_stack))
        )
    if any(_runs_with_accelerator(test, branch) for test, branch in _conditions(call_frame.tree, call_frame.stmt)):
        return True
    return any(
        _used_uncovered(tree, text) for tree in dict.fromkeys(one.tree for one in (call_frame, *point.call_stack))
    )


def _conditions(tree: SourceTree, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the conditions on the accelerator around a node, inside its function, and the branch that it is in."""
    inner = node
    for parent in tree.ancestors(node):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return
        if isinstance(parent, (ast.If, ast.IfExp)) and inner is not parent.test and asks_for_accelerator(parent.test):
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            yield parent.test, any(inner is part for part in body)
        inner = parent


def _runs_with_accelerator(test: ast.expr, branch: bool) -> bool:
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    return branch is not negated


@node_cache(1024)
def _used_uncovered(tree: SourceTree, text: str) -> bool:
    """Return whether a file passes an index to PyTorch unconditionally: ``model.cuda(args.gpu)``."""
    for node in tree.nodes:
        if not isinstance(node, ast.Call):
            continue
        named = [keyword.value for keyword in node.keywords if keyword.arg in ("device", "device_ids")]
        takes = isinstance(node.func, ast.Attribute) and node.func.attr in _TAKE_A_DEVICE
        for argument in [*named, *(node.args if takes else [])]:
            items = argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else [argument]
            if any(text_of(item) == text for item in items) and not any(_conditions(tree, node)):
                return True
    return False


@node_cache(1024)
def _only_if_asked(tree: SourceTree, text: str) -> bool:
    """Return whether a file only uses a device in a choice on the accelerator."""
    choices = (node for node in tree.nodes if isinstance(node, ast.IfExp) and asks_for_accelerator(node.test))
    return any(text_of(node.body) == text for node in choices) and not _used_uncovered(tree, text)


_TAKE_A_DEVICE = frozenset({"to", "cuda", "device", "set_device"})


def devices_differ(one: State, two: State, scopes: tuple[int, ...], tensors: bool = False) -> bool:
    """Return whether a name or attribute is a different device on each of two paths.

    With ``tensors``, also whether it is a tensor that is on a different device.
    """
    pairs = [(one.lookup(key, name), two.lookup(key, name)) for key in scopes for name in one.envs.get(key, ())]
    for key in one.branch.written | two.branch.written:
        if one.has(key) and two.has(key) and one.at(key) is not two.at(key):
            theirs = two.at(key).fields
            pairs.extend((value, theirs.get(name)) for name, value in one.at(key).fields.items())
    return any(
        _other_device(mine, theirs) or (tensors and _elsewhere(mine, theirs))
        for mine, theirs in pairs
        if mine is not theirs
    )


def _other_device(one: Value | None, two: Value | None) -> bool:
    devices = [device_of(value) for value in (one, two)]
    return None not in devices and devices[0] != devices[1]


def _elsewhere(one: Value | None, two: Value | None) -> bool:
    return isinstance(one, Tensor) and isinstance(two, Tensor) and one.device.differs(two.device)


def device_of(value: Value | None) -> Device | None:
    """Return the abstract device of a device value or of a string that names one; ``None`` for anything else."""
    if isinstance(value, DeviceValue):
        return value.device
    if isinstance(value, Const) and isinstance(value.value, str):
        return parse_device(value.value)
    return None


def value_of(point: ProgramPoint, call_frame: CallFrame, node: ast.expr) -> Value | None:
    """Return the value of a chain of names, attributes and items at a program point."""
    assert point.state is not None
    if isinstance(node, ast.Name):
        return visible(point, call_frame).get(node.id)
    if not isinstance(node, (ast.Attribute, ast.Subscript)):
        return None
    base = value_of(point, call_frame, node.value)
    if isinstance(node, ast.Attribute):
        key, item = node.attr, f".{node.attr}"
    elif isinstance(node.slice, ast.Constant):
        key = item = str(node.slice.value)
    else:
        return None
    for option in alternatives(base) if base is not None else ():
        if isinstance(option, Pointer):
            obj = point.state.heap_object(option)
            return obj.fields.get(key, obj.default_item)
        if isinstance(option, TupleValue) and key.isdigit() and int(key) < len(option.items):
            return option.items[int(key)]
        if isinstance(option, Tensor) and option.maybe_container:
            origins = tuple(Origin(origin.kind, origin.site_id, (*origin.path, item)) for origin in option.origins)
            return Tensor(option.device, origins, option.is_certain, True)
    return None


def module_names(point: ProgramPoint, call_frame: CallFrame, wanted: set[int]) -> list[str]:
    """Return expressions in a frame for one of the modules with some identities; plain names first."""
    assert point.state is not None
    plain, attributes = [], []
    for name, value in visible(point, call_frame).items():
        for option in alternatives(value):
            if not isinstance(option, Pointer):
                continue
            if option.id in wanted:
                plain.append(name)
            obj = point.state.heap_object(option)
            if isinstance(obj, (InstanceObject, Module)):
                for field, inner in obj.fields.items():
                    if any(isinstance(part, Pointer) and part.id in wanted for part in alternatives(inner)):
                        attributes.append(f"{name}.{field}")
    return list(dict.fromkeys([*plain, *attributes]))
