"""Patterns of ``match``: whether a value fits, and what the names of a pattern are bound to."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import is_named_tuple, mro
from devfix.analysis.domain.objects import HeapObject, Mapping, object_at
from devfix.analysis.domain.values import (
    UNKNOWN,
    ClassValue,
    Const,
    IterableOf,
    Number,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Value,
)
from devfix.analysis.stdlib.containers import DictObject, new_list
from devfix.syntax.node_caches import node_cache

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["bind", "matches"]


def matches(interp: Interpreter, subject: Value, pattern: ast.pattern) -> bool | None:
    """Return whether a ``case`` pattern matches; ``None`` if unknown."""
    if isinstance(subject, Union):
        outcomes = {matches(interp, option, pattern) for option in subject.alternatives}
        return outcomes.pop() if len(outcomes) == 1 else None
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
        return True
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant) and isinstance(subject, Const):
        return bool(subject.value == pattern.value.value)
    if isinstance(pattern, ast.MatchClass):
        return _is_of_class(interp, subject, ast.unparse(pattern.cls).split(".")[-1])
    if isinstance(pattern, ast.MatchOr):
        parts = {matches(interp, subject, part) for part in pattern.patterns}
        return True if True in parts else None if None in parts else False
    return None


def _is_of_class(interp: Interpreter, subject: Value, name: str) -> bool | None:
    type_names: dict[type, tuple[str, ...]] = {
        Tensor: ("Tensor",),
        TupleValue: ("tuple", "list", "Sequence"),
        Text: ("str",),
        Number: ("int", "float"),
        IterableOf: ("list", "tuple", "Sequence"),
    }
    if isinstance(subject, Pointer):
        return interp.heap_object(subject).matches_class(name)
    if isinstance(subject, Tensor) and (subject.maybe_container or not subject.is_certain):
        return None
    names = type_names.get(type(subject))
    return name in names if names is not None else None


def bind(interp: Interpreter, pattern: ast.pattern, value: Value) -> None:
    """Bind the names of a pattern to the parts of a value."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                bind(interp, inner, value)
            if name is not None:
                interp.bind(name, value)
        case ast.MatchSequence(patterns=patterns):
            _bind_items(interp, patterns, value)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            found = object_at(interp, value, Mapping)
            items = found.fields if found is not None else {}
            names = [str(key.value) if isinstance(key, ast.Constant) else "" for key in keys]
            for name, inner in zip(names, patterns, strict=True):
                missing = found.default_item if found is not None else None
                bind(interp, inner, items.get(name) or missing or UNKNOWN)
            if rest is not None:
                fields = {key: item for key, item in items.items() if key not in names}
                missing = found.default_item if found is not None else UNKNOWN
                interp.bind(rest, interp.new(DictObject(fields=fields, default_item=missing)))
        case ast.MatchClass(patterns=patterns, kwd_attrs=attributes, kwd_patterns=named):
            positional = _positional_names(interp, value)
            for name, inner in zip([*positional, *[""] * len(patterns)], patterns, strict=False):
                bind(interp, inner, interp.attribute(value, name, pattern) if name else _itself(value, patterns))
            for name, inner in zip(attributes, named, strict=True):
                bind(interp, inner, interp.attribute(value, name, pattern))
        case ast.MatchOr(patterns=patterns):
            for inner in patterns:
                if matches(interp, value, inner) is not False:
                    bind(interp, inner, value)
                    break


def _bind_items(interp: Interpreter, patterns: list[ast.pattern], value: Value) -> None:
    starred = next((index for index, each in enumerate(patterns) if isinstance(each, ast.MatchStar)), None)
    known = interp.elements(value, patterns[0]) if patterns else []
    is_known = known is not None and (len(known) == len(patterns) or starred is not None)
    for index, inner in enumerate(patterns):
        if isinstance(inner, ast.MatchStar):
            if inner.name is not None:
                end = len(known) - (len(patterns) - index - 1) if known is not None else 0
                rest = new_list(interp, known[index:end]) if known is not None else IterableOf(UNKNOWN)
                interp.bind(inner.name, rest)
        elif is_known and known is not None and len(known) >= len(patterns) - 1:
            place = index if starred is None or index < starred else index - len(patterns)
            bind(interp, inner, known[place])
        else:
            bind(interp, inner, interp.element(value, inner))


def _positional_names(interp: Interpreter, value: Value) -> tuple[str, ...]:
    """Return the attributes that positional patterns of a class stand for: the fields of a data class."""
    instance = object_at(interp, value, HeapObject)
    if instance is None or instance.cls is None:
        return ()
    if not instance.cls.dataclass and not (isinstance(value, Pointer) and is_named_tuple(interp, value)):
        return ()
    bases = [base for base in reversed(list(mro(instance.cls))) if isinstance(base, ClassValue)]
    return tuple(name for base in bases for name in _fields(base.node))


@node_cache(1024)
def _fields(node: ast.ClassDef) -> tuple[str, ...]:
    declared = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
    return tuple(target.id for target in declared if isinstance(target, ast.Name))


def _itself(value: Value, patterns: list[ast.pattern]) -> Value:
    """Return what the one positional pattern of a built-in class stands for: ``str(name)``."""
    return value if len(patterns) == 1 and not isinstance(value, Pointer) else UNKNOWN
