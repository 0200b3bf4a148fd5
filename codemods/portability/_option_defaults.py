"""Tests of options and flags, as they come out if no option is given and every parameter has its default."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from devfix.syntax import project_flags
from devfix.syntax.bindings import defaults
from devfix.syntax.project_flags import UNKNOWN, is_list_of_indices
from devfix.syntax.tree import SourceTree, walk

__all__ = ["outcome_by_default"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WORDS = ("cuda", "gpu")
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}


def outcome_by_default(tree: SourceTree, test: ast.expr) -> bool | None:
    """Return how a test comes out by default; ``None`` if it depends on anything but options, flags and constants.

    A flag is a parameter for CUDA, by its name, and an attribute that keeps one.  Those that some call gives an answer
    to a query for CUDA already follow the machine.
    """
    value = _value(tree, test)
    if value is UNKNOWN or not any(isinstance(node, (ast.Attribute, ast.Name)) for node in ast.walk(test)):
        return None
    return bool(value)


def _value(tree: SourceTree, node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return _value_of_parameter(tree, node, name)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return _value_of_own(tree, node, name)
        case ast.Attribute(value=ast.Attribute(attr="device")):
            return UNKNOWN  # ``x.device.type`` is no option
        case ast.Attribute(attr=name):
            return project_flags.current().options.get(name, UNKNOWN)
        case ast.Call(func=ast.Name(id="len"), args=[listed]):
            value = _value(tree, listed)
            return value.count(",") + 1 if is_list_of_indices(value) else UNKNOWN
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[], keywords=[]):
            answer = _returned_expression(tree, name)
            return UNKNOWN if answer is None else _value(tree, answer)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = _value(tree, operand)
            return value if value is UNKNOWN else not value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.BoolOp(op=op, values=values):
            found = [_value(tree, each) for each in values]
            decides = isinstance(op, ast.Or)
            if any(each is not UNKNOWN and bool(each) == decides for each in found):
                return decides
            return UNKNOWN if any(each is UNKNOWN for each in found) else not decides
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            sides = _value(tree, left), _value(tree, right)
            if any(side is UNKNOWN for side in sides):
                return UNKNOWN
            if any(map(is_list_of_indices, sides)) and not all(isinstance(side, str) for side in sides):
                return UNKNOWN
            try:
                return _COMPARISONS[type(op)](*sides)
            except TypeError:
                return UNKNOWN
    return UNKNOWN


def _returned_expression(tree: SourceTree, name: str) -> ast.expr | None:
    """Return the expression that the only method of this name returns, if it does nothing else."""
    methods = [node for node in tree.nodes if isinstance(node, _FUNCTIONS) and node.name == name]
    match methods:
        case [ast.FunctionDef(body=[ast.Return(value=ast.expr() as answer)])]:
            return answer
    return None


def _value_of_parameter(tree: SourceTree, node: ast.Name, name: str) -> Any:
    """Return the default of the parameter that a name is, if it is a flag that nothing else binds."""
    function = next((outer for outer in tree.ancestors(node) if isinstance(outer, _FUNCTIONS)), None)
    own = function.args if function is not None else ast.arguments([], [], None, [], [], None, [])
    if all(argument.arg != name for argument in (*own.posonlyargs, *own.args, *own.kwonlyargs)):
        return _value_of_global(tree, name)
    if function is None or not _is_flag(name):
        return UNKNOWN
    bound = (each for each in walk(function) if isinstance(each, ast.Name) and each.id == name)
    if any(not isinstance(each.ctx, ast.Load) for each in bound):
        return UNKNOWN
    flags = project_flags.current()
    if _may_be_answer(tree, node):
        return UNKNOWN
    if name in flags.passed:
        values = [flags.options.get(attribute, UNKNOWN) for attribute in flags.passed[name]]
        return values[0] if all(value == values[0] for value in values) else UNKNOWN
    default = _default(function, name)
    is_given = not default and flags.answers.is_given(node, tree.ancestors(node))  # calls turn it on
    return UNKNOWN if is_given else default


def _value_of_global(tree: SourceTree, name: str) -> Any:
    """Return the value of a name that a file binds once, to a flag: ``cuda = args.gpu_mode``, ``not args.no_cuda``."""
    bound = [node for node in tree.nodes if isinstance(node, ast.Name) and node.id == name]
    stored = [node for node in bound if not isinstance(node.ctx, ast.Load)]
    stmt = tree.parents[stored[0]] if len(stored) == 1 else None
    if any(isinstance(node, ast.arg) and node.arg == name for node in tree.nodes):
        return UNKNOWN  # a parameter of a function or lambda around the test
    if not isinstance(stmt, ast.Assign) or stmt.targets != stored or _may_be_answer(tree, stored[0]):
        return UNKNOWN
    is_of_module = not any(isinstance(outer, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)) for outer in tree.ancestors(stmt))
    if not is_of_module or not isinstance(tree.parents[stmt], (ast.Module, ast.If)):
        return UNKNOWN
    match stmt.value:
        case ast.Attribute() | ast.Constant() | ast.UnaryOp(op=ast.Not(), operand=ast.Attribute()):
            return _value(tree, stmt.value)
    return UNKNOWN


def _may_be_answer(tree: SourceTree, node: ast.expr) -> bool:
    return project_flags.current().answers.may_decide(node, tree.ancestors(node))


def _value_of_own(tree: SourceTree, node: ast.Attribute, name: str) -> Any:
    """Return the value of an attribute of an object that its constructor takes from a flag or an option.

    A setter may assign it, too.
    """
    owner = next((outer for outer in tree.ancestors(node) if isinstance(outer, ast.ClassDef)), None)
    found: Any = UNKNOWN
    is_assigned = False
    for function in owner.body if owner is not None else ():
        for each in walk(function) if isinstance(function, _FUNCTIONS) else ():
            if not isinstance(each, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or not _assigns(each, name):
                continue
            assert isinstance(function, _FUNCTIONS)
            is_assigned = True
            if not isinstance(each, ast.Assign) or not isinstance(each.value, (ast.Name, ast.Attribute)):
                return UNKNOWN
            if function.name != "__init__":
                parameters = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
                if _may_be_answer(tree, each.value):
                    return UNKNOWN
                if found is UNKNOWN and is_list_of_indices(listed := _value(tree, each.value)):
                    found = listed  # a base class of models whose constructor is another method
                    continue
                if not isinstance(each.value, ast.Name) or each.value.id not in parameters:
                    return UNKNOWN
                continue
            if found is not UNKNOWN or (isinstance(each.value, ast.Attribute) and _is_own(each.value)):
                return UNKNOWN
            found = _value(tree, each.value)
            if found is UNKNOWN:
                return UNKNOWN
    inherited = project_flags.current().options.get(name, UNKNOWN) if not is_assigned else UNKNOWN
    return inherited if is_list_of_indices(inherited) else found


def _assigns(stmt: ast.Assign | ast.AugAssign | ast.AnnAssign, name: str) -> bool:
    targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
    return any(isinstance(target, ast.Attribute) and target.attr == name and _is_own(target) for target in targets)


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_flag(name: str) -> bool:
    return any(word in name.lower() for word in _WORDS)


def _default(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Any:
    """Return the default of a parameter if it is a truth value or a number."""
    for argument, default in defaults(function.args).items():
        if argument.arg == name and isinstance(default, ast.Constant) and isinstance(default.value, (bool, int)):
            return default.value
    return UNKNOWN
