"""Kinds of the arguments of a function, from the strongest evidence that there is."""

from __future__ import annotations

import ast
from weakref import WeakKeyDictionary

from devfix.analysis.callers.annotations import annotation_kind, type_comments
from devfix.analysis.callers.arguments import UNKNOWN, Argument, Evidence, Kind
from devfix.analysis.callers.defaults import default_kind
from devfix.analysis.callers.file_names import FileNames, names_of
from devfix.syntax.tree import SourceTree

__all__ = ["Argument", "Evidence", "Kind", "argument_kinds"]

_known: WeakKeyDictionary[SourceTree, dict[ast.AST, dict[str, Argument]]] = WeakKeyDictionary()


def argument_kinds(
    function: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef | None, tree: SourceTree
) -> dict[str, Argument]:
    """Return the kind of each argument by name (cached).

    ``self`` and ``cls`` are left out.  ``*args`` of tensors is ``TENSORS`` and ``**kwargs`` of tensors ``TENSOR_DICT``.

    Args:
        function: a function or method of the file.
        owner: the class of a method.
        tree: the file.

    """
    known = _known.setdefault(tree, {})
    if function not in known:
        known[function] = _infer(function, owner, tree, names_of(tree))
    return known[function]


def _infer(
    function: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef | None, tree: SourceTree, names: FileNames
) -> dict[str, Argument]:
    parameters = _parameters(function, owner)
    comments = type_comments(function, tree.lines, parameters) if "# type:" in tree.text else {}
    defaults = _defaults(function.args)
    is_forward = function.name == "forward" and owner is not None and names.is_module(owner)
    found: dict[str, Argument] = {}
    for index, parameter in enumerate(parameters):
        annotation = parameter.annotation or comments.get(parameter.arg)
        argument = UNKNOWN if annotation is None else annotation_kind(annotation, names)
        default = defaults.get(parameter.arg)
        if default is not None:
            argument = default_kind(argument, default)
        if argument == UNKNOWN and is_forward and index == 0:
            argument = Argument(Kind.TENSOR, evidence=Evidence.NAME)
        found[parameter.arg] = argument
    return found | _rest(function.args, names)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef | None) -> list[ast.arg]:
    """Return the parameters without ``self``, ``cls``, ``*args`` and ``**kwargs``."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)
    if owner is not None and not is_static:
        positional = positional[1:]
    return [*positional, *arguments.kwonlyargs]


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaulted = positional[len(positional) - len(arguments.defaults) :]
    found = {parameter.arg: default for parameter, default in zip(defaulted, arguments.defaults, strict=True)}
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            found[parameter.arg] = default
    return found


_PACKED = {Kind.TENSOR: Kind.TENSORS}
_PACKED_BY_NAME = {Kind.TENSOR: Kind.TENSOR_DICT}


def _rest(arguments: ast.arguments, names: FileNames) -> dict[str, Argument]:
    found: dict[str, Argument] = {}
    for parameter, packed in ((arguments.vararg, _PACKED), (arguments.kwarg, _PACKED_BY_NAME)):
        if parameter is None:
            continue
        element = UNKNOWN if parameter.annotation is None else annotation_kind(parameter.annotation, names)
        kind = packed.get(element.kind) if not element.alternatives else None
        found[parameter.arg] = UNKNOWN if kind is None else Argument(kind, evidence=element.evidence)
    return found
