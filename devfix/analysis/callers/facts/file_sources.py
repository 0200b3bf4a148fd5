"""Sources in one file: what each function reads, returns and stores, before any name is resolved."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import field
from weakref import WeakKeyDictionary

from devfix.analysis.callers.facts.certain_tensors import CertainTensors
from devfix.analysis.callers.facts.value_sources import (
    BUILT,
    CREATED,
    MOVES,
    RESULT,
    SourceCollector,
    built_here,
    called,
    is_factory,
)
from devfix.analysis.callers.file_names import FileNames, names_of
from devfix.analysis.domain.records import dataclass
from devfix.analysis.torch.library_modules import MODULE_CONTAINERS
from devfix.syntax.tree import SourceTree, called_name, children, position, text_of, walk

__all__ = ["ClassSources", "FileSources", "Function", "FunctionSources", "sources_of"]

Function = ast.FunctionDef | ast.AsyncFunctionDef

_BUILDERS = frozenset({"__init__", "__post_init__", "setup", "build"})  # they run before the module is moved
_MODE = "train"  # what it computes from weights, ahead of an evaluation, stays where they were then
_WITH_GRADIENTS = "torch.autograd.Function"
_GROWS = frozenset({"append", "add", "insert", "extend", "update", "setdefault"})
_PLAIN = (ast.Name, ast.Constant)
_CONTAINERS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Tuple, ast.Set, ast.SetComp)


@dataclass
class FunctionSources:
    """The sources in one function, without its local names.

    It refers to no node, so that it remains when the tree is released.

    Attributes:
        name: the name of the function.
        place: its line and column.
        is_method: whether it is a method.
        uses: the sources of what meets an operand or an argument.
        returns: the sources of the result.
        mentions: attributes of the instance that it reads or calls.
        stores: those of each attribute that it sets; ``self.x`` of the instance, ``.x`` of another object.
        operations: those of each operand of an operation, by its source.
        passes: those of modules that it builds and passes to functions, which may call them.

    """

    name: str
    place: tuple[int, int]
    is_method: bool
    uses: frozenset[str] = frozenset()
    returns: frozenset[str] = frozenset()
    stores: dict[str, frozenset[str]] = field(default_factory=dict)
    mentions: frozenset[str] = frozenset()
    operations: dict[str, tuple[frozenset[str], ...]] = field(default_factory=dict)
    passes: frozenset[str] = frozenset()

    @property
    def builds(self) -> bool:
        """Return whether it runs before the module is moved."""
        return self.is_method and self.name in _BUILDERS


@dataclass
class ClassSources:
    """A class, the names of its bases, its methods, and the sources of what its body binds."""

    bases: tuple[str, ...]
    is_module: bool
    methods: list[FunctionSources] = field(default_factory=list)
    bound: dict[str, frozenset[str]] = field(default_factory=dict)


@dataclass
class FileSources:
    """The functions and classes of a file, and the sources of what its top level binds.

    Attributes:
        functions, classes: its functions and classes.
        bound: the sources of the names of its top level.
        imports: its import statements.
        defined: the names of its functions and classes.
        factories: the names that stand for a factory: ``zeros = torch.zeros``.

    """

    functions: list[FunctionSources] = field(default_factory=list)
    classes: dict[str, ClassSources] = field(default_factory=dict)
    bound: dict[str, frozenset[str]] = field(default_factory=dict)
    imports: tuple[ast.Import | ast.ImportFrom, ...] = ()
    defined: frozenset[str] = frozenset()
    factories: frozenset[str] = frozenset()


_known: WeakKeyDictionary[SourceTree, FileSources] = WeakKeyDictionary()


def sources_of(tree: SourceTree) -> FileSources:
    """Return the sources in a file (cached)."""
    found = _known.get(tree)
    if found is None:
        found = _known[tree] = _Reader(names_of(tree)).read(tree)
    return found


class _Reader:
    def __init__(self, names: FileNames) -> None:
        self._names = names
        self._creations: dict[str, str] = {}
        self._found = FileSources()
        self._top = SourceCollector(names, frozenset(), self._creations)

    def read(self, tree: SourceTree) -> FileSources:
        self._found.imports = tuple(node for node in tree.nodes if isinstance(node, (ast.Import, ast.ImportFrom)))
        self._body(tree.tree.body, None)
        names = self._names
        self._found.defined = frozenset({*names.functions, *names.classes})
        factories = (name for name, value in names.aliases.items() if is_factory(names.full_name(value)))
        self._found.factories = frozenset(factories)
        return self._found

    def _body(self, body: Iterable[ast.stmt], owner: ClassSources | None, node: ast.ClassDef | None = None) -> None:
        for stmt in body:
            if isinstance(stmt, Function):
                tensors = CertainTensors(stmt, node, self._names)
                function = _Body(stmt, owner, self._names, self._creations, tensors).read()
                (owner.methods if owner is not None else self._found.functions).append(function)
            elif isinstance(stmt, ast.ClassDef):
                inner = ClassSources(tuple(map(_dotted, stmt.bases)), self._names.is_module(stmt))
                self._found.classes[stmt.name] = inner
                has_gradients = any(self._names.full_name(base) == _WITH_GRADIENTS for base in stmt.bases)
                self._body([each for each in stmt.body if not (has_gradients and _is_for_export(each))], inner, stmt)
            elif isinstance(stmt, (ast.If, ast.Try)):
                self._body([*stmt.body, *stmt.orelse], owner, node)
            elif isinstance(stmt, (ast.Assign, ast.AnnAssign)) and stmt.value is not None:
                found = self._top.sources(stmt.value)
                bound = owner.bound if owner is not None else self._found.bound
                for target in stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]:
                    for name in _names_in(target):
                        bound[name] = bound.get(name, frozenset()) | found


class _Body:
    """One pass over a function, then the closure over its local names."""

    def __init__(
        self,
        node: Function,
        owner: ClassSources | None,
        names: FileNames,
        creations: dict[str, str],
        tensors: CertainTensors,
    ) -> None:
        self._node = node
        self._tensors = tensors
        self._owner = owner
        self._local: dict[str, set[str]] = {}
        self._names = names
        self._plain: set[str] = set()  # names of plain containers
        self._registered: set[str] = set()  # attributes that are containers of modules
        self._returns: set[str] = set()
        self._stores: dict[str, set[str]] = {}
        self._mentions: set[str] = set()
        options = dict(_options(node.args))
        self._collector = SourceCollector(names, frozenset(options), creations, tensors)
        for parameter in walk(node.args):
            if isinstance(parameter, ast.arg):
                default = options.get(parameter.arg)
                self._local[parameter.arg] = set(self._collector.sources(default))

    def read(self) -> FunctionSources:
        for stmt in self._node.body:
            self._statement(stmt)
        closed = {name: self._closure(found) for name, found in self._stores.items()}
        uses = self._closure(self._collector.used)
        returns = self._closure(self._returns)
        identity = self._node.name, position(self._node), self._owner is not None
        found = {name: tuple(map(self._closure, operands)) for operands, name in self._collector.operations.items()}
        operations = {name: operands for name, operands in found.items() if all(operands)}
        passes = self._closure(self._collector.passed)
        return FunctionSources(*identity, uses, returns, closed, frozenset(self._mentions), operations, passes)

    def _statement(self, stmt: ast.AST) -> None:
        parts = children(stmt)
        for part in parts:
            if isinstance(part, ast.expr):
                self._inside(part)
        match stmt:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._bind(target, value)
            case ast.AugAssign(target=target, value=value):
                if not self._tensors.holds(target):
                    self._bind(target, value)
                self._collector.used |= self._value(value) | self._value(target)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                self._bind(target, value)
                self._note_batch(stmt)
            case ast.Return(value=value) if value is not None:
                self._returns |= self._value(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=moved, attr=name))) if name in MOVES:
                self._collector.used |= self._value(moved)  # what is moved in vain stays where it was made
                self._value(stmt.value)
            case ast.Expr(value=ast.Yield(value=value)) if value is not None:
                self._returns |= self._value(value)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                before, self._returns = self._returns, set()
                for argument in walk(stmt):
                    if isinstance(argument, ast.arg):
                        self._local.setdefault(argument.arg, set())
                for inner in stmt.body:
                    self._statement(inner)
                self._local.setdefault(stmt.name, set()).update(self._returns)
                self._returns = before
                return
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    self._inside(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, item.context_expr)
            case _:
                for part in parts:
                    if isinstance(part, ast.expr):
                        self._value(part)
        for part in parts:
            if isinstance(part, ast.stmt):
                self._statement(part)
            elif isinstance(part, (ast.ExceptHandler, ast.match_case)):
                for inner in part.body:
                    self._statement(inner)

    def _note_batch(self, loop: ast.For | ast.AsyncFor) -> None:
        """Note that a loop yields tensors on the host if its body moves one of them."""
        targets = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)}
        receivers = {
            part.id
            for stmt in loop.body
            for node in walk(stmt)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MOVES
            for part in walk(node.func.value)
            if isinstance(part, ast.Name)
        }
        if not targets.isdisjoint(receivers):
            for name in targets:
                self._local.setdefault(name, set()).add(CREATED)

    def _inside(self, node: ast.expr) -> None:
        """Bind what an expression binds inside, and note the objects that it lets grow."""
        for part in () if isinstance(node, _PLAIN) else walk(node):
            if isinstance(part, ast.comprehension):
                self._bind(part.target, part.iter)
            elif isinstance(part, ast.Attribute):
                if isinstance(part.value, ast.Name) and part.value.id == "self":
                    self._mentions.add(part.attr)
            elif isinstance(part, ast.NamedExpr):
                self._bind(part.target, part.value)
            elif isinstance(part, ast.Lambda):
                for each in walk(part.args):
                    if isinstance(each, ast.arg):
                        self._local.setdefault(each.arg, set())
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and called_name(part) in _GROWS:
                for each in part.args:
                    self._store(part.func.value, self._value(each), grows=True)

    def _value(self, node: ast.expr) -> frozenset[str]:
        return self._collector.sources(node)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        found = self._value(value)
        is_plain = isinstance(value, _CONTAINERS) or (isinstance(value, ast.Name) and value.id in self._plain)
        for part in _parts(target):
            if isinstance(part, ast.Name):
                self._local.setdefault(part.id, set()).update(found)
                if is_plain:
                    self._plain.add(part.id)
            else:
                if self._is_registered(value):
                    self._registered.add(text_of(part))
                self._store(part, found, grows=is_plain)

    def _is_registered(self, value: ast.expr) -> bool:
        """Return whether a value is a container whose modules move with it: ``nn.ModuleList()``."""
        return isinstance(value, ast.Call) and self._names.full_name(value.func) in MODULE_CONTAINERS

    def _store(self, target: ast.expr, found: frozenset[str], grows: bool = False) -> None:
        """Note what an attribute or an item is set to; modules in a plain container stay where they are."""
        while isinstance(target, (ast.Subscript, ast.Starred)):
            if isinstance(target, ast.Subscript) and self._value(target.slice):
                self._collector.used |= found | self._value(target.value)  # an index that may be a tensor
            target, grows = target.value, True
        if isinstance(target, ast.Name):
            self._local.setdefault(target.id, set()).update(found)
        elif isinstance(target, ast.Attribute):
            own = isinstance(target.value, ast.Name) and target.value.id == "self"
            kept = self._stores.setdefault(f"self.{target.attr}" if own else f".{target.attr}", set())
            kept |= found
            if own and self._node.name == _MODE and self._owner is not None and self._owner.is_module:
                kept.add(CREATED)
            is_registered = text_of(target) in self._registered or self._tensors.keeps_moving(target)
            if grows and not is_registered and BUILT in self._closure(found):
                kept.add(CREATED)

    def _closure(self, found: Set[str]) -> frozenset[str]:
        """Return sources with local names replaced by what they are bound to."""
        if not found:
            return frozenset()
        closed: set[str] = set()
        pending, seen = list(found), set(found)
        while pending:
            source = pending.pop()
            if source.startswith(RESULT):
                closed.add(source)
                continue
            name, _, attribute = source.lstrip("=()?^").partition(".")
            if not name or name not in self._local or name in ("self", "cls"):
                if not source.startswith("^"):
                    closed.add(source)
            elif not attribute:  # else it is listed as `.attribute`, too
                new = called(self._local[name]) if source[0] in "=?(^" else self._local[name]
                new = built_here(new) if source[0] == "^" else new
                pending += new - seen
                seen |= new
        return frozenset(closed)


def _is_for_export(stmt: ast.stmt) -> bool:
    """Return whether a member of a function with gradients is the one that the ONNX exporter calls, for its graph."""
    return isinstance(stmt, Function) and stmt.name == "symbolic"


def _options(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters that callers may leave out, with their defaults."""
    positional = [*arguments.posonlyargs, *arguments.args]
    optional = positional[len(positional) - len(arguments.defaults) :]
    yield from ((each.arg, default) for each, default in zip(optional, arguments.defaults, strict=True))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield each.arg, default


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _parts(each)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def _names_in(target: ast.expr) -> list[str]:
    return [node.id for node in _parts(target) if isinstance(node, ast.Name)]


def _dotted(node: ast.expr) -> str:
    """Return the name of a base class, also of one with arguments: ``Base[T]``."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
