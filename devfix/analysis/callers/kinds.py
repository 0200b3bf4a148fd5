"""Kinds of the arguments of a function, from the strongest evidence that there is."""

from __future__ import annotations

import ast
from functools import cached_property

from devfix.analysis.callers.annotations import annotation_kind, type_comments
from devfix.analysis.callers.arguments import UNKNOWN, Argument, Evidence, Kind
from devfix.analysis.callers.calls import KEYWORDS
from devfix.analysis.callers.defaults import default_kind
from devfix.analysis.callers.docstrings import docstring_kinds
from devfix.analysis.callers.file_names import names_of
from devfix.analysis.callers.uses import uses_of
from devfix.analysis.callers.verdicts import Place, may_be_namesake, with_uses
from devfix.analysis.callers.votes import Votes
from devfix.analysis.domain.records import dataclass, replace
from devfix.models.protocols import hook_arguments
from devfix.syntax.tree import SourceTree, walk

__all__ = ["Argument", "Evidence", "Kind", "argument_kinds"]

_MOST_FORWARDS = 2  # functions that pass an argument on before it is used
_NO_CLASS = frozenset({"Any", "object", "typing.Any"})  # annotations that say nothing
_TENSOR_LIBRARIES = frozenset({"torch"})
_ARRAY_LIBRARIES = frozenset("numpy PIL cv2 pandas scipy jax tensorflow mlx cupy skimage".split())

_UNPACKED = (Kind.UNKNOWN, Kind.LIST)

_PASSED = {"batch": Kind.BATCH, "module": Kind.MODULE, "number": Kind.NUMBER}

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def argument_kinds(function: _Function, owner: ast.ClassDef | None, tree: SourceTree) -> dict[str, Argument]:
    """Return the kind of each argument by name (cached).

    ``self`` and ``cls`` are left out.  ``*args`` of tensors is ``TENSORS`` and ``**kwargs`` of tensors ``TENSOR_DICT``.

    Args:
        function: a function or method of the file.
        owner: the class of a method.
        tree: the file.

    """
    return tree.derived(_File).all_kinds(function, owner)


@dataclass(frozen=True)
class _Evidence:
    """What the function itself says of one argument: ``said`` by annotation, docstring or default, and its uses."""

    said: Argument
    votes: Votes


class _File:
    """The evidence in one file."""

    def __init__(self, tree: SourceTree) -> None:
        self.names = names_of(tree)
        self.lines = tree.lines if "# type:" in tree.text else []
        self._torch = self.names.names_from(_TENSOR_LIBRARIES)
        self._arrays = self.names.names_from(_ARRAY_LIBRARIES)
        self._evidence: dict[ast.AST, dict[str, _Evidence]] = {}
        self._uses_arrays: dict[ast.AST, bool] = {}
        self._kinds: dict[tuple[ast.AST, int], dict[str, Argument]] = {}
        self._all_kinds: dict[ast.AST, dict[str, Argument]] = {}

    def all_kinds(self, function: _Function, owner: ast.ClassDef | None) -> dict[str, Argument]:
        """Return the kinds of arguments; one that nothing is known of is what its namesakes in the file are."""
        if function not in self._all_kinds:
            found = dict(self.kinds(function, owner, _MOST_FORWARDS))
            for name, argument in found.items():
                evidence = self._evidence[function].get(name)
                if argument.kind is not Kind.UNKNOWN or evidence is None or function.name == "__init__":
                    continue
                if name not in self._shared_names:
                    continue
                is_object = self._is_object(name, evidence.votes)
                if evidence.said.evidence is Evidence.NONE and may_be_namesake(name, evidence.votes, is_object):
                    found[name] = replace(argument, kind=Kind.TENSOR, evidence=Evidence.NAME)
            self._all_kinds[function] = found
        return self._all_kinds[function]

    @cached_property
    def _shared_names(self) -> frozenset[str]:
        """Return the names of arguments that are tensors, and nothing else, wherever the file shows what they are."""
        tensors: set[str] = set()
        others: set[str] = set()
        for function, owner in self.names.all_functions():
            for name, argument in self.kinds(function, owner, _MOST_FORWARDS).items():
                if argument.kind is Kind.TENSOR and not argument.alternatives:
                    tensors.add(name)
                elif argument.kind is not Kind.UNKNOWN or argument.evidence is Evidence.ANNOTATION:
                    others.add(name)
        return frozenset(tensors - others)

    def kinds(self, function: _Function, owner: ast.ClassDef | None, forwards: int) -> dict[str, Argument]:
        """Return the kinds of arguments that at most ``forwards`` functions pass on."""
        key = (function, forwards)
        if key not in self._kinds:
            self._kinds[key] = self._infer(function, owner, forwards)
        return self._kinds[key]

    def _infer(self, function: _Function, owner: ast.ClassDef | None, forwards: int) -> dict[str, Argument]:
        if function not in self._evidence:
            self._evidence[function] = self._collect(function, owner)
        is_method = owner is not None and self.names.is_module(owner)
        is_forward = is_method and function.name == "forward"
        has_arrays = self._has_arrays(function)
        is_numpy_only = bool(self._torch) and has_arrays and not self._uses_torch(function)
        found: dict[str, Argument] = {}
        for index, (name, evidence) in enumerate(self._evidence[function].items()):
            if evidence.said.evidence is Evidence.ANNOTATION and not evidence.votes.parts:
                found[name] = evidence.said
                continue
            if name in KEYWORDS:
                found[name] = Argument(KEYWORDS[name], evidence.said.optional, evidence=Evidence.NAME)
                continue
            received = self._received(evidence.votes, forwards - 1) if forwards else []
            is_object = self._is_object(name, evidence.votes)
            place = Place(name, index, is_forward, is_method, is_object, has_arrays, is_numpy_only)
            is_declared = evidence.said.evidence is Evidence.ANNOTATION
            found[name] = evidence.said if is_declared else with_uses(evidence.said, evidence.votes, received, place)
            if found[name].kind in _UNPACKED:
                found[name] = self._with_parts(found[name], evidence.votes, forwards, place)
        return found | self._rest(function.args) | self._passed_by_framework(function, owner, found)

    def _is_object(self, name: str, votes: Votes) -> bool:
        """Return whether an argument may be an instance of the class that is named like it, as far as its uses say."""
        cls = self.names.named_like(name)
        is_module = cls is not None and self.names.is_module(cls)
        return self.names.may_be_object(name) and not (is_module and Kind.MODULE not in votes.possible)

    def _with_parts(self, argument: Argument, votes: Votes, forwards: int, whole: Place) -> Argument:
        """Return an argument with what its parts are, if uses show that one of them is a tensor."""
        parts = tuple(
            with_uses(
                UNKNOWN,
                part,
                self._received(part, forwards - 1) if forwards else [],
                Place(name, -1, False, False, self._is_object(name, part), whole.has_arrays, whole.is_numpy_only),
            )
            for name, part in votes.parts
        )
        is_shown = any(part.kind is Kind.TENSOR and part.evidence is not Evidence.NAME for part in parts)
        return replace(argument, kind=Kind.LIST, parts=parts, evidence=Evidence.USE) if is_shown else argument

    def _passed_by_framework(
        self, function: _Function, owner: ast.ClassDef | None, found: dict[str, Argument]
    ) -> dict[str, Argument]:
        """Return the arguments that the framework of a base class passes, unless an annotation says what they are."""
        bases = (base for each in self.names.lineage(owner) for base in each.bases) if owner is not None else ()
        words = next(filter(None, (hook_arguments(self.names.full_name(base), function.name) for base in bases)), ())
        return {
            name: Argument(_PASSED[word], evidence=Evidence.PROTOCOL)
            for (name, argument), word in zip(found.items(), words, strict=False)
            if word and not (argument.evidence is Evidence.ANNOTATION and argument.kind is not Kind.UNKNOWN)
        }

    def _has_arrays(self, function: _Function) -> bool:
        """Return whether arrays outside PyTorch may be meant in a function."""
        if function not in self._uses_arrays:
            self._uses_arrays[function] = not self._torch or (
                bool(self._arrays)
                and any(isinstance(node, ast.Name) and node.id in self._arrays for node in walk(function))
            )
        return self._uses_arrays[function]

    def _uses_torch(self, function: _Function) -> bool:
        """Return whether the body of a function uses PyTorch."""
        nodes = (node for stmt in function.body for node in ast.walk(stmt))
        return any(isinstance(node, ast.Name) and node.id in self._torch for node in nodes)

    def _received(self, votes: Votes, forwards: int) -> list[Argument]:
        """Return what the functions that receive an argument say of it."""
        found = []
        for forward in votes.forwards:
            kinds = self.kinds(forward.function, forward.owner, forwards)
            place = forward.place
            if isinstance(place, int):
                names = [parameter.arg for parameter in _parameters(forward.function, forward.owner)]
                place = names[place] if place < len(names) else ""
            if place in kinds:
                found.append(kinds[place])
        return found

    def _collect(self, function: _Function, owner: ast.ClassDef | None) -> dict[str, _Evidence]:
        parameters = _parameters(function, owner)
        names = [parameter.arg for parameter in parameters]
        comments = type_comments(function, self.lines, parameters) if self.lines else {}
        annotated = {parameter.arg: parameter.annotation or comments.get(parameter.arg) for parameter in parameters}
        defaults = _defaults(function.args)
        documented: dict[str, Argument] | None = None
        votes: dict[str, Votes] | None = None
        found: dict[str, _Evidence] = {}
        for name in names:
            annotation = annotated[name]
            said = UNKNOWN
            if annotation is not None and self.names.full_name(annotation) not in _NO_CLASS:
                said = annotation_kind(annotation, self.names)
            if said.kind is Kind.UNKNOWN:  # no annotation, or a name that this file does not explain
                if documented is None:
                    documented = self._documented(function, owner, frozenset(names))
                said = documented.get(name, replace(UNKNOWN, optional=said.optional))
            if name in defaults:
                said = default_kind(said, defaults[name])
            is_open = said.evidence is not Evidence.ANNOTATION or (
                said.kind is Kind.LIST and isinstance(annotation, (ast.Name, ast.Attribute))  # ``pair: tuple``
            )
            if is_open and votes is None:
                votes = uses_of(function, owner, names, self.names)
            found[name] = _Evidence(said, votes[name] if is_open and votes is not None else Votes())
        return found

    def _documented(
        self, function: _Function, owner: ast.ClassDef | None, parameters: frozenset[str]
    ) -> dict[str, Argument]:
        """Return what the docstring says; that of the class, too, of arguments of its constructor."""
        found: dict[str, Argument] = {}
        nodes = [owner, function] if owner is not None and function.name == "__init__" else [function]
        for node in nodes:
            docstring = ast.get_docstring(node)
            if docstring is not None:
                found |= docstring_kinds(docstring, parameters, self.names)
        return found

    def _rest(self, arguments: ast.arguments) -> dict[str, Argument]:
        """Return the kinds of ``*args`` and ``**kwargs`` with an annotation."""
        found: dict[str, Argument] = {}
        for parameter, packed in ((arguments.vararg, Kind.TENSORS), (arguments.kwarg, Kind.TENSOR_DICT)):
            if parameter is None:
                continue
            element = UNKNOWN if parameter.annotation is None else annotation_kind(parameter.annotation, self.names)
            is_tensor = element.kind is Kind.TENSOR and not element.alternatives
            found[parameter.arg] = replace(element, kind=packed, optional=False) if is_tensor else UNKNOWN
        return found


def _parameters(function: _Function, owner: ast.ClassDef | None) -> list[ast.arg]:
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
