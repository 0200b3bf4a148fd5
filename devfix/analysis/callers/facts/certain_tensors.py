"""Certain tensors: expressions of one function that are tensors whatever its callers pass, told by syntax alone.

The operands of an operation are on one device, or it fails.  So the result of an operation is where any of its tensors
is, if that is known to be a tensor: a number says nothing about a device.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Set
from functools import cached_property
from typing import Any

from devfix.analysis.callers.file_names import FileNames
from devfix.analysis.torch.library_modules import MODULE_CONTAINERS
from devfix.models.index import has_weights, is_operation
from devfix.syntax.tree import position, text_of, walk

__all__ = ["CertainTensors"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_VIEWS = frozenset({"T", "mT", "H", "mH", "data", "real", "imag"})
_TENSORS = frozenset({"Tensor", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor"})
_PARAMETER = "torch.nn.Parameter"
_CALLED = frozenset({"forward", "__call__"})


class CertainTensors:
    """The certain tensors of a function.

    Args:
        function: the function.
        owner: its class.
        names: the names of its file.

    """

    def __init__(self, function: _Function, owner: ast.ClassDef | None, names: FileNames) -> None:
        self._function = function
        self._owner = owner if owner is not None and names.is_module(owner) else None
        self._names = names
        self.place = "{}:{}".format(*position(function))

    def holds(self, node: ast.AST) -> bool:
        """Return whether an expression is a tensor, if it can be evaluated at all."""
        return self._is_tensor(node, self._certain)

    def _is_tensor(self, node: ast.AST, names: Set[str]) -> bool:
        """Return whether an expression is a tensor if these names are."""
        match node:
            case ast.Name(id=name):
                return name in names
            case ast.Attribute(value=base, attr=name):
                return self._class_of(node) == _PARAMETER or (name in _VIEWS and self._is_tensor(base, names))
            case ast.Call():
                return self._is_result(node, names)
            case ast.BinOp(left=left, op=operator, right=right):
                is_product = isinstance(operator, ast.MatMult) and self._owner is not None
                return is_product or self._is_tensor(left, names) or self._is_tensor(right, names)
            case ast.UnaryOp(op=ast.USub(), operand=inner) | ast.Subscript(value=inner) | ast.NamedExpr(value=inner):
                return self._is_tensor(inner, names)
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_tensor(body, names) and self._is_tensor(orelse, names)
        return False

    def is_layer(self, node: ast.expr) -> bool:
        """Return whether an expression is a layer with weights of its own: what it gets must be where they are."""
        return has_weights(self._class_of(node))

    def keeps_moving(self, node: ast.expr) -> bool:
        """Return whether what a container gets here moves with the module: ``forward`` runs after the last move."""
        return self._class_of(node) in MODULE_CONTAINERS and not self._runs_late

    @cached_property
    def _runs_late(self) -> bool:
        """Return whether the function runs when the module is called."""
        name = self._function.name
        found = self._names.method(self._owner, "forward") if self._owner is not None else None
        forward = walk(found[0]) if found is not None else []
        return name in _CALLED or any(isinstance(each, ast.Attribute) and each.attr == name for each in forward)

    def _is_result(self, call: ast.Call, names: Set[str]) -> bool:
        func = call.func
        if is_operation(self._names.full_name(func)):
            return True
        if not isinstance(func, ast.Attribute):
            return False
        if isinstance(func.value, ast.Name) and func.value.id == "self":
            is_part = self._owner is not None and self._names.sets(self._owner, func.attr)
            return self.is_layer(func) or (is_part and any(self._is_tensor(each, names) for each in call.args))
        return is_operation(f"torch.Tensor.{func.attr}") and self._is_tensor(func.value, names)

    def _class_of(self, node: ast.expr) -> str:
        """Return the class of an attribute of the module; ``""`` for another expression, or if it is not known."""
        if self._owner is None or not isinstance(node, ast.Attribute) or text_of(node.value) != "self":
            return ""
        return self._names.attribute_class(self._owner, node.attr)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return walk(self._function)

    @cached_property
    def _certain(self) -> frozenset[str]:
        """Return the names that are bound to tensors only; of loops, those that are so by their other bindings."""
        parameters = [each for each in walk(self._function.args) if isinstance(each, ast.arg)]
        bound: dict[str, list[ast.expr]] = {each.arg: [] for each in parameters if self._is_declared(each)}
        other = {each.arg for each in parameters} - set(bound)
        for node in self._nodes:
            binder = _BINDERS.get(type(node))
            for target, value in binder(node) if binder is not None and node is not self._function else ():
                for name in _names_in(target):
                    if value is None:
                        other.add(name)
                    elif not (isinstance(value, ast.Constant) and value.value is None):
                        bound.setdefault(name, []).append(value)
        names, before = set(bound) - other, -1
        while before != len(names):
            before = len(names)
            names = {name for name in names if all(self._is_tensor(value, names) for value in bound[name])}
        return frozenset(names)

    def _is_declared(self, parameter: ast.arg) -> bool:
        """Return whether a parameter is a tensor by its annotation, or because a layer gets it."""
        if parameter.annotation is not None:
            return text_of(parameter.annotation).strip("'\"") in _TENSORS
        return parameter.arg in self._given_to_layers

    @cached_property
    def _given_to_layers(self) -> frozenset[str]:
        calls = (node for node in self._nodes if isinstance(node, ast.Call) and self.is_layer(node.func))
        return frozenset(each.id for call in calls for each in call.args if isinstance(each, ast.Name))


_Bindings = Iterable[tuple[ast.AST, ast.expr | None]]


def _assigned(node: Any) -> _Bindings:
    return [(target, node.value) for target in node.targets]


def _annotated(node: Any) -> _Bindings:
    return [(node.target, node.value)] if node.value is not None else []


def _iterated(node: Any) -> _Bindings:
    return [(node.target, None)]


def _entered(node: Any) -> _Bindings:
    return [(node.optional_vars, None)] if node.optional_vars is not None else []


def _defined(node: Any) -> _Bindings:
    """Return the name that a definition, handler or pattern binds, and parameters, which hide the function's names."""
    names = [node.name] if getattr(node, "name", None) else []
    names += [each.arg for each in walk(node.args) if isinstance(each, ast.arg)] if hasattr(node, "args") else []
    return [(ast.Name(name), None) for name in names]


def _imported(node: Any) -> _Bindings:
    return [(ast.Name(node.asname or node.name.partition(".")[0]), None)]


#: What a node binds, with the values; ``None`` for a value that is not told apart.
_BINDERS: dict[type[ast.AST], Callable[[Any], _Bindings]] = {
    ast.Assign: _assigned,
    ast.AnnAssign: _annotated,
    ast.NamedExpr: _annotated,
    ast.For: _iterated,
    ast.AsyncFor: _iterated,
    ast.comprehension: _iterated,
    ast.withitem: _entered,
    ast.FunctionDef: _defined,
    ast.AsyncFunctionDef: _defined,
    ast.ClassDef: _defined,
    ast.Lambda: _defined,
    ast.ExceptHandler: _defined,
    ast.MatchAs: _defined,
    ast.MatchStar: _defined,
    ast.alias: _imported,
}


def _names_in(target: ast.AST) -> Iterable[str]:
    """Return the names that a target binds; what is set in an object keeps its name."""
    match target:
        case ast.Name(id=name):
            return [name]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return [name for item in items for name in _names_in(item)]
        case ast.Starred(value=inner):
            return _names_in(inner)
    return []
