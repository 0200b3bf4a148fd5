"""Devices that a program reads from a tensor or module, as opposed to devices it chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import HeapObject, module_at
from devfix.analysis.domain.values import ClassValue, Pointer, Tensor, alternatives
from devfix.analysis.scenarios import device_argument_of
from devfix.analysis.scopes import value_of
from devfix.syntax.tree import text_of

__all__ = ["is_computed_device", "is_derived_device", "passed_device", "restores_device"]


def passed_device(point: ProgramPoint, device_argument: ast.expr) -> tuple[CallFrame, ast.expr]:
    """Return the expression that a device parameter stands for, and the frame of the call that passes it.

    A device that is no parameter, or whose call is not found, is returned with its own frame.
    """
    frames = list(point.call_stack)
    while len(frames) > 1 and isinstance(device_argument, ast.Name):
        passed = _argument_of(frames[-1], frames[-2].stmt, device_argument.id)
        if passed is None:
            break
        frames.pop()
        device_argument = passed
    return frames[-1], device_argument


def _argument_of(frame: CallFrame, calling: ast.stmt, name: str) -> ast.expr | None:
    """Return what ``calling`` passes for the parameter ``name`` of the function of ``frame``."""
    function = frame.activation.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    if name not in (*names, *(parameter.arg for parameter in function.args.kwonlyargs)):
        return None
    positional = names[1:] if names[:1] in (["self"], ["cls"]) else names
    for call in (node for node in ast.walk(calling) if isinstance(node, ast.Call)):
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called != function.name:
            continue
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        if name in positional and positional.index(name) < len(call.args):
            return call.args[positional.index(name)]
    return None


def is_computed_device(point: ProgramPoint, device_argument: ast.expr) -> bool:
    """Return whether a device is the result of a property, which goes by where the modules of an object are.

    ``device = self._execution_device`` follows the program's own moves, unless the property asks for accelerators.
    """
    frame, node = passed_device(point, device_argument)
    if isinstance(node, ast.Name):
        bound = [value for names, value in _bindings(frame.activation.node) if node.id in names]
        node = bound[0] if len(bound) == 1 else node
    match node:
        case ast.Attribute(value=of, attr=name):
            pass
        case ast.Call(func=ast.Name(id="getattr"), args=[of, ast.Constant(value=str(name)), _]):
            pass  # with a default, for an attribute that only some mode sets
        case _:
            return False
    state = point.state
    owner = value_of(point, frame, of) if state is not None else None
    if owner is None or state is None:
        return False
    owners = [state.heap_object(option) for option in alternatives(owner) if isinstance(option, Pointer)]
    return bool(owners) and all(_computes(each, name, isinstance(node, ast.Call)) for each in owners)


def _computes(owner: HeapObject, name: str, has_default: bool) -> bool:
    """Return whether an object of a project class computes an attribute that it does not store, or has a default."""
    if owner.cls is None or (name in owner.fields and not has_default):
        return False
    bodies = (base.node.body for base in mro(owner.cls) if isinstance(base, ClassValue))
    functions = (stmt for body in bodies for stmt in body if isinstance(stmt, ast.FunctionDef))
    found = next((function for function in functions if function.name == name), None)
    return has_default if found is None else "is_available" not in text_of(found)


def restores_device(moved: ProgramPoint) -> bool:
    """Whether a value is moved to a saved device: back to where it was before."""
    device_argument = device_argument_of(moved.node) if isinstance(moved.node, ast.Call) else None
    return (
        isinstance(device_argument, ast.Name) and moved.state is not None and is_derived_device(moved, device_argument)
    )


def is_derived_device(moved: ProgramPoint, device_argument: ast.expr) -> bool:
    """Whether a device is that of a tensor or module (``old = next(model.parameters()).device``), not a choice.

    Definitions are looked up in the function of the move.
    """
    bindings = list(_bindings(moved.tree.function(moved.node)))
    names, visited = {node.id for node in ast.walk(device_argument) if isinstance(node, ast.Name)}, set[str]()
    while names - visited:
        name = min(names - visited)
        visited.add(name)
        for value in (value for target, value in bindings if name in target):
            inside = list(ast.walk(value))
            if any(isinstance(node, ast.Attribute) and _is_device_of_value(moved, node) for node in inside):
                return True
            names |= {node.id for node in inside if isinstance(node, ast.Name)}
    return False


def _bindings(function: ast.AST) -> Iterator[tuple[set[str], ast.expr]]:
    """Yield the names that each assignment and loop of a function binds, with the bound value."""
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, (ast.For, ast.AnnAssign, ast.NamedExpr)):
            targets = [node.target]
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        if targets and value is not None:
            yield {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}, value


def _is_device_of_value(moved: ProgramPoint, node: ast.Attribute) -> bool:
    """Whether ``….device`` may be the device of a tensor or module; ``args.device`` is not."""
    if node.attr != "device":
        return False
    value, state = value_of(moved, moved.call_frame, node.value), moved.state
    assert state is not None  # checked by the caller
    if value is None:
        return True
    return any(isinstance(option, Tensor) or module_at(state, option) is not None for option in alternatives(value))
