"""Command lines that are declared as classes: each annotated attribute is an option, its value the default.

https://github.com/swansonk14/typed-argument-parser, https://brentyi.github.io/tyro/,
https://github.com/lebrice/SimpleParsing, https://github.com/eladrich/pyrallis, https://github.com/dlwh/draccus and
https://huggingface.co/docs/transformers/internal/trainer_utils#transformers.HfArgumentParser
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.objects import HeapObject, object_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import UNKNOWN, Builtin, ClassValue, Const, Keywords, Pointer, TupleValue, Value
from devfix.analysis.stdlib.argparse_ import option_of_class
from devfix.analysis.stdlib.instances import InstanceObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "TypedParserObject"]


@dataclass(frozen=True)
class TypedParserObject(InstanceObject):
    """An instance of a project subclass of ``tap.Tap``, which is both the parser and its result."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: ``parse_args`` fills the attributes."""
        if name != "parse_args":
            return super().method(interp, pointer, name, args, keywords, node)
        _set_options(interp, pointer)
        return pointer

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return an attribute, or the inherited method that parses the command line."""
        return Builtin(pointer, name) if name == "parse_args" else super().other_attribute(interp, pointer, name, node)


@dataclass(frozen=True)
class ClassParserObject(HeapObject):
    """A ``transformers.HfArgumentParser``: a parser for the options of one class or several."""

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: parse the command line, or a file in its place."""
        classes = self.fields.get("0", UNKNOWN)
        if not name.startswith("parse_"):
            return UNKNOWN
        each = classes.items if isinstance(classes, TupleValue) else (classes,)
        return TupleValue(tuple(_parsed(interp, cls, node) for cls in each))


def _parse(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``tyro.cli(Args)``: return an instance with the options of the command line."""
    return _parsed(interp, args[0] if args else keywords.get("config_class", UNKNOWN), node)


def _parser(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``HfArgumentParser((ModelArguments, DataArguments))``."""
    classes = args[0] if args else keywords.get("dataclass_types", UNKNOWN)
    return interp.new(ClassParserObject(name, fields={"0": classes}))


def _parsed(interp: Interpreter, cls: Value, node: ast.Call) -> Value:
    """Return an instance of a class of options; what a class outside the project has is unknown."""
    made = interp.call(cls, [], {}, ast.copy_location(ast.Call(node.func, [], []), node))
    if isinstance(cls, ClassValue) and isinstance(made, Pointer):
        _set_options(interp, made)
    return made


def _set_options(interp: Interpreter, instance: Pointer) -> None:
    """Replace the defaults of an instance by what the command line may say."""
    obj = object_at(interp, instance, InstanceObject)
    for name, default in _options(interp, obj.cls) if obj is not None and obj.cls is not None else ():
        known = interp.heap_object(instance).fields.get(name, default)
        if object_at(interp, known, InstanceObject) is not None:
            assert isinstance(known, Pointer)
            _set_options(interp, known)  # a group of options
        elif known == default:
            interp.now.set_field(instance, name, option_of_class(interp, name, default))


def _options(interp: Interpreter, cls: ClassValue) -> Iterator[tuple[str, Value]]:
    """Yield the annotated attributes of a class and its bases in the project, with their values in the class."""
    for base in reversed(list(mro(cls))):
        if not isinstance(base, ClassValue):
            continue
        for stmt in base.node.body:
            if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name):
                yield stmt.target.id, _default(interp, base, stmt)


def _default(interp: Interpreter, cls: ClassValue, stmt: ast.AnnAssign) -> Value:
    assert isinstance(stmt.target, ast.Name)
    if isinstance(stmt.value, ast.Call):  # ``field(default=False)``
        defaults = (keyword.value for keyword in stmt.value.keywords if keyword.arg == "default")
        return next((Const(each.value) for each in defaults if isinstance(each, ast.Constant)), UNKNOWN)
    return interp.now.lookup(cls.scope, stmt.target.id) or UNKNOWN


OVERLAYS: dict[str, TransferFunction] = {
    "tyro.cli": _parse,
    "simple_parsing.parse": _parse,
    "pyrallis.parse": _parse,
    "draccus.parse": _parse,
    "transformers.HfArgumentParser": _parser,
}
