"""Device facts: which functions can make a difference between devices at all, found without interpretation.

With all arguments and all weights on one accelerator, an operation fails only if something creates a tensor elsewhere,
or reads memory on the host: a factory without the device of an argument, a move to the CPU, a NumPy function, a tensor
that a module keeps outside its buffers.  A function in which none of this happens, nor in what it names, returns
results where its inputs are: it is transparent, and need not be interpreted.

The search goes by names, within a file and through its imports.  It may take a transparent function for another one,
but not the reverse, except through attributes of objects that other code has set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis.torch.factories import OVERLAYS
from devfix.models.index import ModelIndex, built_in, is_module

if TYPE_CHECKING:
    from devfix.analysis.program import Program, PythonModule
    from devfix.syntax.tree import SourceTree

__all__ = ["DeviceFacts"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_MOVES = frozenset({"to", "type_as", "cuda"})
_REGISTERS = frozenset({"Parameter", "register_buffer", "register_parameter", "Buffer"})
_READS = frozenset({"numpy", "cpu", "pin_memory", "__array__"})


class DeviceFacts:
    """The functions of a program's files that can make a difference between devices."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._files: dict[str, _File | None] = {}

    def may_matter(self, module: PythonModule, function: _Function) -> bool:
        """Return whether a function or method of a file can make a difference between devices."""
        return function in self._file(module).functions

    def _file(self, module: PythonModule) -> _File:
        known = self._files.get(module.path)
        if known is not None:
            return known
        if module.path in self._files:  # a cycle of imports
            return _File()
        self._files[module.path] = None
        found = _search(module.tree, frozenset(self._imported(module).items()))
        self._files[module.path] = found
        return found

    def _imported(self, module: PythonModule) -> dict[str, frozenset[str]]:
        """Return, for each name that a file imports, the names of it that matter; ``""`` stands for the name itself."""
        found: dict[str, frozenset[str]] = {}
        for stmt in _imports(module.tree):
            if isinstance(stmt, ast.ImportFrom):
                source = self._program.find(stmt.module or "", module, stmt.level)
                file = self._file(source) if source is not None else _File()
                for alias in stmt.names:
                    inner = self._program.find(f"{stmt.module or ''}.{alias.name}".lstrip("."), module, stmt.level)
                    if alias.name in file.names:
                        found[alias.asname or alias.name] = frozenset({""})
                    elif alias.name == "*":
                        found |= dict.fromkeys(file.names, frozenset({""}))
                    elif source is not None and inner is not None and inner is not source:
                        found[alias.asname or alias.name] = frozenset(self._file(inner).names)
            else:
                for alias in stmt.names:
                    source = self._program.find(alias.name, module)
                    if source is not None:
                        found[alias.asname or alias.name.split(".")[0]] = frozenset(self._file(source).names)
        return found


@lru_cache(maxsize=2048)
def _imports(tree: SourceTree) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(node for node in ast.walk(tree.tree) if isinstance(node, (ast.Import, ast.ImportFrom)))


@lru_cache(maxsize=2048)
def _search(tree: SourceTree, imported: frozenset[tuple[str, frozenset[str]]]) -> _File:
    return _Search(tree.tree, dict(imported)).file


@dataclass
class _File:
    """What matters in a file: names of the top level, and functions."""

    names: set[str] = field(default_factory=set)
    functions: set[_Function] = field(default_factory=set)


@dataclass
class _Body:
    """What one function names.

    Attributes:
        node: the function.
        owner: the class of a method.
        creates: it creates a tensor on the host, or reads one there.
        names: names that it reads, and ``a.b`` for an attribute of a name.
        attributes: attributes that it reads.
        stores: attributes that it sets, with the names that the values come from.
        created: attributes that it sets to what is created on the host.

    """

    node: _Function
    owner: ast.ClassDef | None
    creates: bool = False
    names: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    stores: dict[str, set[str]] = field(default_factory=dict)
    created: set[str] = field(default_factory=set)

    @property
    def builds(self) -> bool:
        """Return whether it runs before the module is moved."""
        return self.owner is not None and self.node.name in ("__init__", "__post_init__", "setup", "build")


class _Search:
    """One pass over a file, then a fixpoint over its names."""

    def __init__(self, tree: ast.Module, imported: dict[str, frozenset[str]]) -> None:
        self.file = _File()
        self._imported = imported
        self._hosts = _host_names(tree)
        self._bodies: list[_Body] = []
        self._classes: dict[str, ast.ClassDef] = {}
        self._read(tree.body, None)
        self._settle()

    def _read(self, body: list[ast.stmt], owner: ast.ClassDef | None) -> None:
        for stmt in body:
            if isinstance(stmt, _Function):
                self._bodies.append(self._body(stmt, owner))
            elif isinstance(stmt, ast.ClassDef):
                self._classes[stmt.name] = stmt
                self._read(stmt.body, stmt)
            elif isinstance(stmt, (ast.If, ast.Try)):
                self._read([*stmt.body, *stmt.orelse], owner)
            elif isinstance(stmt, (ast.Assign, ast.AnnAssign)) and self._creates_any(stmt.value):
                targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
                named = (node for each in targets for node in ast.walk(each))
                self.file.names |= {node.id for node in named if isinstance(node, ast.Name)}

    def _creates_any(self, value: ast.expr | None) -> bool:
        return value is not None and any(self._creates(call, set()) for call in _calls(value))

    def _body(self, node: _Function, owner: ast.ClassDef | None) -> _Body:
        body = _Body(node, owner)
        given = {each.arg for each in (*node.args.posonlyargs, *node.args.args)[-len(node.args.defaults) or 10**6 :]}
        options = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        given |= {each.arg for each, default in options if default is not None}
        moved = {id(each) for call in _calls(node) if (each := _moved_along(call)) is not None}
        local: set[str] = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and id(part) not in moved and self._creates(part, given):
                body.creates = True
            elif isinstance(part, ast.Name):
                body.names.add(part.id)
            elif isinstance(part, ast.Attribute):
                if isinstance(part.ctx, ast.Load):
                    body.attributes.add(part.attr)
                if isinstance(part.value, ast.Name):
                    body.names.add(f"{part.value.id}.{part.attr}")
            elif isinstance(part, ast.Assign):
                self._note_stores(body, part.targets, part.value, local, given, moved)
            elif isinstance(part, ast.AnnAssign) and part.value is not None:
                self._note_stores(body, [part.target], part.value, local, given, moved)
        return body

    def _note_stores(
        self,
        body: _Body,
        targets: list[ast.expr],
        value: ast.expr,
        local: set[str],
        given: set[str],
        moved: set[int],
    ) -> None:
        parts = list(_unregistered(value))
        read = {each.id for each in parts if isinstance(each, ast.Name)}
        calls = (each for each in parts if isinstance(each, ast.Call) and id(each) not in moved)
        creates = bool(read & local) or any(self._creates(call, given) for call in calls)
        for target in targets:
            for each in ast.walk(target):
                if isinstance(each, ast.Name) and creates:
                    local.add(each.id)
                elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                    body.stores.setdefault(each.attr, set()).update(read)
                    if creates:
                        body.created.add(each.attr)

    def _creates(self, call: ast.Call, given: set[str]) -> bool:
        """Return whether a call creates a tensor on the host, reads one there, or builds a module."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        root = _root(call.func)
        if root in self._hosts or name in _READS:
            return True
        if name == "to":
            return any(isinstance(each, ast.Constant) and each.value == "cpu" for each in ast.walk(call))
        if name in _factories():
            return not _follows(call, given)
        return root in ("nn", "torch") and name[:1].isupper() and is_module(f"torch.nn.{name}")

    # --- the fixpoint -----------------------------------------------------------------------------------------
    def _settle(self) -> None:
        names, functions = self.file.names, self.file.functions
        names |= {name for name, inner in self._imported.items() if "" in inner}
        dotted = {f"{name}.{each}" for name, inner in self._imported.items() for each in inner if each}
        attributes: set[str] = set().union(*(body.created for body in self._bodies))
        methods: set[str] = set()
        size = -1
        while size != len(names) + len(functions) + len(attributes):
            size = len(names) + len(functions) + len(attributes)
            for body in self._bodies:
                for attribute, read in body.stores.items():
                    if not read.isdisjoint(names):
                        attributes.add(attribute)
                if body.node in functions:
                    continue
                if not body.builds and (
                    body.creates
                    or not body.names.isdisjoint(names)
                    or not body.names.isdisjoint(dotted)
                    or not body.attributes.isdisjoint(attributes)
                    or not body.attributes.isdisjoint(methods)
                ):
                    functions.add(body.node)
                    if body.owner is None:
                        names.add(body.node.name)
                    else:
                        names.add(body.owner.name)
                        methods.add(body.node.name)
            for name, cls in self._classes.items():
                if any(_root(base) in names for base in cls.bases):
                    names.add(name)
        for body in self._bodies:  # what a base keeps is not known here
            owner = body.owner
            if owner is not None and any(_root(base) in names or _inherits(base) in dotted for base in owner.bases):
                functions.add(body.node)


def _inherits(base: ast.expr) -> str:
    return (
        f"{base.value.id}.{base.attr}" if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name) else ""
    )


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def _unregistered(value: ast.expr) -> Iterator[ast.AST]:
    """Yield the parts of a value that do not become parameters or buffers."""
    pending: list[ast.AST] = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if name in _REGISTERS:
                continue
        yield part
        pending.extend(ast.iter_child_nodes(part))


def _moved_along(call: ast.Call) -> ast.expr | None:
    """Return what a call moves to the device of something else: ``x`` in ``x.to(y.device)``."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES):
        return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return call.func.value if call.func.attr != "to" or not all(map(_is_dtype, given)) else None


def _is_dtype(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and (node.attr == "dtype" or _root(node) == "torch")


def _follows(call: ast.Call, given: set[str]) -> bool:
    """Return whether the device of a new tensor is given, other than by an argument that callers may leave out."""
    for keyword in call.keywords:
        if keyword.arg is None:
            return True
        if keyword.arg == "device":
            return not isinstance(keyword.value, ast.Constant) and getattr(keyword.value, "id", "") not in given
    return False


@lru_cache(maxsize=1)
def _factories() -> frozenset[str]:
    """Return the last names of functions that create tensors on a device of their own."""
    protocols = (name for name in (*OVERLAYS, "torch.load") if name not in ("torch.device", "torch.manual_seed"))
    legacy = (name for name in built_in().names() if name.startswith("torch.") and name.endswith("Tensor"))
    return frozenset((*_names_with("Fresh", built_in()), *(name.rpartition(".")[2] for name in (*protocols, *legacy))))


@lru_cache(maxsize=1)
def _host_packages() -> frozenset[str]:
    """Return the packages, except PyTorch, whose functions read host memory."""
    found = {name.split(".")[0] for name in built_in().names() if _takes_host(name)}
    return frozenset(found - {"torch", "torchvision", ""})


def _takes_host(name: str) -> bool:
    model = built_in().exact(name)
    return model is not None and any(
        parameter.word.name == "Host" for signature in model.signatures for parameter in signature.parameters
    )


def _names_with(word: str, index: ModelIndex) -> Iterator[str]:
    for name in index.names():
        model = index.exact(name)
        if model is not None and any(word in str(signature.result) for signature in model.signatures):
            yield name.rpartition(".")[2]


def _host_names(tree: ast.Module) -> frozenset[str]:
    """Return the names under which a file imports packages that read host memory."""
    found: set[str] = set()
    for stmt in ast.walk(tree):
        if isinstance(stmt, ast.Import):
            for alias in stmt.names:
                if alias.name.split(".")[0] in _host_packages():
                    found.add(alias.asname or alias.name.split(".")[0])
        elif isinstance(stmt, ast.ImportFrom) and (stmt.module or "").split(".")[0] in _host_packages():
            found |= {alias.asname or alias.name for alias in stmt.names}
    return frozenset(found)
