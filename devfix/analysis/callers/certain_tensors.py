"""Certain tensors: expressions of one function that are tensors whatever its callers pass, told by syntax alone.

The operands of an operation are on one device, or it fails.  So the result of an operation is where any of its tensors
is, if that is known to be a tensor: a number says nothing about a device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from devfix.analysis.callers.file_names import FileNames
from devfix.analysis.torch.library_modules import MODULE_CONTAINERS
from devfix.models.index import has_weights, is_operation
from devfix.syntax.tree import position, text_of, walk

__all__ = ["CertainTensors"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_VIEWS = frozenset({"T", "mT", "H", "mH", "data", "real", "imag"})
_TENSORS = frozenset({"Tensor", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor"})
_PARAMETER = "torch.nn.Parameter"


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
        match node:
            case ast.Name(id=name):
                return name in self._certain
            case ast.Attribute(value=base, attr=name):
                return self._class_of(node) == _PARAMETER or (name in _VIEWS and self.holds(base))
            case ast.Call():
                return self._is_result(node)
            case ast.BinOp(left=left, op=operator, right=right):
                is_product = isinstance(operator, ast.MatMult) and self._owner is not None
                return is_product or self.holds(left) or self.holds(right)
            case ast.UnaryOp(op=ast.USub(), operand=inner) | ast.Subscript(value=inner) | ast.NamedExpr(value=inner):
                return self.holds(inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self.holds(body) and self.holds(orelse)
        return False

    def is_layer(self, node: ast.expr) -> bool:
        """Return whether an expression is a layer with weights of its own: what it gets must be where they are."""
        return has_weights(self._class_of(node))

    def is_container(self, node: ast.expr) -> bool:
        """Return whether an expression is a container whose modules move with it: ``self.layers``."""
        return self._class_of(node) in MODULE_CONTAINERS

    def _is_result(self, call: ast.Call) -> bool:
        func = call.func
        if is_operation(self._names.full_name(func)):
            return True
        if not isinstance(func, ast.Attribute):
            return False
        if isinstance(func.value, ast.Name) and func.value.id == "self":
            return self._owner is not None and self._names.sets(self._owner, func.attr)  # a part of the module
        return is_operation(f"torch.Tensor.{func.attr}") and self.holds(func.value)

    def _class_of(self, node: ast.expr) -> str:
        """Return the class of an attribute of the module; ``""`` for another expression, or if it is not known."""
        if self._owner is None or not isinstance(node, ast.Attribute) or text_of(node.value) != "self":
            return ""
        return self._names.attribute_class(self._owner, node.attr)

    @cached_property
    def _certain(self) -> frozenset[str]:
        """Return the names that are bound to tensors only."""
        bound: dict[str, list[ast.expr]] = {}
        other = set[str]()
        for node in walk(self._function):
            for target, value in _bindings(node):
                for name in _names_in(target):
                    if value is None:
                        other.add(name)
                    elif not (isinstance(value, ast.Constant) and value.value is None):
                        bound.setdefault(name, []).append(value)
            if isinstance(node, ast.Lambda) or (isinstance(node, _Function) and node is not self._function):
                other |= {each.arg for each in walk(node.args) if isinstance(each, ast.arg)}
        parameters = {each.arg: each for each in walk(self._function.args) if isinstance(each, ast.arg)}
        tensors = {name for name, each in parameters.items() if self._is_declared(each)}
        for name in tensors:
            bound.setdefault(name, [])
        names = set(bound) - other - (set(parameters) - tensors)
        before = -1
        while before != len(names):
            before = len(names)
            self.__dict__["_certain"] = frozenset(names)  # of loops, the names that are so by their other bindings
            names = {name for name in names if all(map(self.holds, bound[name]))}
        return frozenset(names)

    def _is_declared(self, parameter: ast.arg) -> bool:
        """Return whether a parameter is a tensor by its annotation, or because a layer gets it."""
        if parameter.annotation is not None:
            return text_of(parameter.annotation).strip("'\"") in _TENSORS
        return parameter.arg in self._given_to_layers

    @cached_property
    def _given_to_layers(self) -> frozenset[str]:
        calls = (node for node in walk(self._function) if isinstance(node, ast.Call) and self.is_layer(node.func))
        return frozenset(each.id for call in calls for each in call.args if isinstance(each, ast.Name))


def _bindings(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    """Yield the targets that a node binds, with their values; ``None`` for a value that is not told apart."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield target, value
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target) | ast.AsyncFor(target=target) | ast.comprehension(target=target):
            yield target, None
        case ast.withitem(optional_vars=target) if target is not None:
            yield target, None
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield ast.Name(node.name), None


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
