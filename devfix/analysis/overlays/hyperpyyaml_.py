"""HyperPyYAML: the objects that a configuration file of the project constructs.

https://github.com/speechbrain/HyperPyYAML: ``!new:module.Class`` calls a class, ``!name:module.function`` binds
arguments to a function, ``!apply:`` calls it, and ``!ref <key>`` is the value of another key.  The file is read as
data; nothing in it is executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from devfix.analysis.domain.location import ConfiguredCall
from devfix.analysis.domain.values import (
    UNKNOWN,
    External,
    Keywords,
    Number,
    Partial,
    Pointer,
    TupleValue,
    Unknown,
    Value,
)
from devfix.analysis.overlays.configuration_files import Tagged, best_files, read_file
from devfix.analysis.stdlib.containers import DictObject, ListObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]

_REFERENCE = re.compile(r"<([^<>]+)>")
_PART = re.compile(r"[^\[\].]+")
_MOST_NODES = 4_000
_DEEPEST = 40


class _Document:
    """The values of one file, each evaluated on first use."""

    def __init__(self, interp: Interpreter, content: Mapping[object, object], node: ast.Call) -> None:
        self._interp = interp
        self._content = {str(key): item for key, item in content.items()}
        self._node = node
        self._known: dict[str, Value] = {}
        self._pending: set[str] = set()
        self._nodes = 0

    def mapping(self) -> Pointer:
        """Return the dictionary that loading the file yields."""
        fields = {key: self.value(key) for key in self._content}
        return self._interp.new(DictObject(fields=fields, default_item=UNKNOWN))

    def value(self, key: str) -> Value:
        """Return the value of a top-level key; unknown if there is none, or if it refers to itself."""
        if key not in self._known:
            if key in self._pending or key not in self._content:
                return UNKNOWN
            self._pending.add(key)
            self._known[key] = self._of(self._content[key], key, 0)
            self._pending.discard(key)
        return self._known[key]

    def _of(self, item: object, path: str, depth: int) -> Value:
        self._nodes += 1
        if self._nodes > _MOST_NODES or depth > _DEEPEST:
            return UNKNOWN
        match item:
            case Tagged(tag, content):
                return self._tagged(tag, content, path, depth)
            case dict():
                fields = {str(key): self._of(each, f"{path}.{key}", depth + 1) for key, each in item.items()}
                return self._interp.new(DictObject(fields=fields))
            case list():
                items = {str(i): self._of(each, f"{path}.{i}", depth + 1) for i, each in enumerate(item)}
                return self._interp.new(ListObject(fields=items))
            case str():
                return self._interp.evaluate(ast.copy_location(ast.Constant(item), self._node))
            case int() | float() if not isinstance(item, bool):
                return Number(f"hparams.{path}")
        return Unknown(f"hparams.{path}")  # a switch, or nothing: the command line may override it

    def _tagged(self, tag: str, content: object, path: str, depth: int) -> Value:
        kind, _, name = tag.partition(":")
        if kind == "ref" or kind == "copy":
            return self._reference(str(content), path, copied=kind == "copy", depth=depth)
        if kind == "tuple" and isinstance(content, list):
            return TupleValue(tuple(self._of(each, path, depth + 1) for each in content))
        if kind not in ("new", "name", "apply") or not name:
            return Unknown(f"hparams.{path}")
        args, keywords = self._arguments(content, path, depth)
        function = self._resolved(name)
        if kind == "name":
            return Partial(function, tuple(args), tuple(keywords.items())) if args or keywords else function
        return self._interp.call(function, args, keywords, self._call_node(name, keywords, path))

    def _arguments(self, content: object, path: str, depth: int) -> tuple[list[Value], dict[str, Value]]:
        if isinstance(content, dict):
            return [], {str(key): self._of(each, f"{path}.{key}", depth + 1) for key, each in content.items()}
        if isinstance(content, list):
            return [self._of(each, path, depth + 1) for each in content], {}
        return [], {}

    def _reference(self, text: str, path: str, copied: bool, depth: int) -> Value:
        """Return what ``<key>`` or ``<key[part]>`` refers to; an expression of several is a number or a string."""
        found = _REFERENCE.fullmatch(text.strip())
        if found is None:
            return Unknown(f"hparams.{path}")
        key, *parts = _PART.findall(found[1])
        if copied and not parts and key in self._content and key not in self._pending:
            return self._of(self._content[key], path, depth + 1)
        value = self.value(key)
        for part in parts:
            obj = self._interp.heap_object(value) if isinstance(value, Pointer) else None
            value = obj.fields.get(part, UNKNOWN) if obj is not None else UNKNOWN
        return value

    def _resolved(self, name: str) -> Value:
        """Return a class or function by its full name: of the project, or of a library."""
        interp = self._interp
        assert interp.activation is not None
        parts = name.split(".")
        if len(parts) == 1:
            return External(f"builtins.{name}")
        for count in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:count])
            if interp.program.find(module, interp.activation.module) is not None:
                value = interp.imported(module)
                for part in parts[count:]:
                    value = interp.attribute(value, part, self._node)
                return value
        return External(name)

    def _call_node(self, name: str, keywords: Keywords, path: str) -> ast.Call:
        named = [ast.keyword(key, ast.Constant(None)) for key in keywords]
        call = ConfiguredCall(ast.Name(name.rpartition(".")[2], ast.Load()), [], named)
        call.entry = path
        return ast.copy_location(call, self._node)


def _load(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``load_hyperpyyaml(stream, overrides)``: one of the files beside the script that fit it."""
    assert interp.activation is not None
    program = interp.program
    paths = best_files(program, interp.activation.module.tree, ("!new:", "!name:"))
    program.configurations = max(program.configurations, len(paths))
    content = read_file(program, paths[min(program.configuration, len(paths) - 1)]) if paths else None
    if content is None:
        return interp.new_opaque(name, node)
    return _Document(interp, content, node).mapping()


OVERLAYS: dict[str, TransferFunction] = {"hyperpyyaml.load_hyperpyyaml": _load}
