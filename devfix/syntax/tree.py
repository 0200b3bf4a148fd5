"""A parsed source file: tree, parents, positions in code points, source text of nodes."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar, cast

from devfix.model import Event, Span
from devfix.syntax.data_literals import collapse_repeated_literals
from devfix.syntax.node_caches import node_cache

__all__ = [
    "SourceTree",
    "argument_texts",
    "called_name",
    "children",
    "implicit_call",
    "leaf_conditions",
    "names_in",
    "outline",
    "position",
    "short_text",
    "text_of",
    "walk",
]

_BLOCKS = ("body", "orelse", "finalbody")
_Derived = TypeVar("_Derived")


#: Fields that hold no node with a position: texts, numbers and flags, and whether a name is read or written.
_PLAIN_FIELDS = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "name", "simple"}
    | {"type_comment"}
)
_inner_fields: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields in which nodes of a class may hold nodes."""
    names_node = kind.__name__ == "TypeAlias"  # since Python 3.12; the name of a function or a class is a text
    fields = (name for name in kind._fields if name not in _PLAIN_FIELDS or (name == "name" and names_node))
    inner = _inner_fields[kind] = tuple(fields)
    return inner


def walk(node: ast.AST) -> list[ast.AST]:
    """Return the nodes of ``ast.walk`` in its order, without ``Load()``, ``Store()`` and ``Del()``; 6 times as fast."""
    found = [node]
    known, append = _inner_fields, found.append
    for each in found:
        kind = type(each)
        for name in known[kind] if kind in known else _fields_of(kind):
            value = getattr(each, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        append(item)
            elif isinstance(value, ast.AST):
                append(value)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes of ``ast.iter_child_nodes`` in its order, without ``Load()``, ``Store()`` and ``Del()``."""
    kind, found = type(node), list[ast.AST]()
    for name in _inner_fields[kind] if kind in _inner_fields else _fields_of(kind):
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


class SourceTree:
    """The text and ``ast`` of one file, with parents, spans and blocks.

    ``path`` appears in findings.  With ``collapse_data``, the tree leaves out repeated lines of data
    (:mod:`devfix.syntax.data_literals`); ``has_collapsed_data`` says whether there were any.  Raises ``SyntaxError`` if
    the text cannot be parsed, also for NUL bytes and nesting that is too deep.

    A tree takes 40 times the memory of its text.  :meth:`release` frees it; it is parsed again when it is needed.
    """

    def __init__(self, path: str, text: str, collapse_data: bool = False) -> None:
        self.path = path
        self.text = text
        self.has_collapsed_data = False
        self._collapse_data = collapse_data
        self.tree = self._parse()

    @cached_property
    def tree(self) -> ast.Module:
        """Return the parsed text."""
        return self._parse()

    def _parse(self) -> ast.Module:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes, ``1if x``: Python reports them to the owner of the file
            return self._parsed()

    def _parsed(self) -> ast.Module:
        collapsed = collapse_repeated_literals(self.text) if self._collapse_data else None
        if collapsed is not None:
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                tree = ast.parse(collapsed)
                self.has_collapsed_data = True
                return tree
        try:
            return ast.parse(self.text)
        except MemoryError as error:  # also if nesting exhausts the parser's stack
            raise SyntaxError("too deeply nested, or too large for the available memory") from error
        except (ValueError, RecursionError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from error

    @property
    def is_loaded(self) -> bool:
        """Return whether the nodes are in memory."""
        return "tree" in vars(self)

    def release(self) -> None:
        """Free the nodes and what is derived from them.  Nodes taken before are not those of a later access."""
        for name in vars(self).keys() - _KEPT:
            del self.__dict__[name]

    @cached_property
    def _known(self) -> dict[Callable[[SourceTree], Any], Any]:
        return {}

    def derived(self, derive: Callable[[SourceTree], _Derived]) -> _Derived:
        """Return ``derive(self)``, computed once and freed with the nodes."""
        if derive not in self._known:
            self._known[derive] = derive(self)
        return cast("_Derived", self._known[derive])

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines as ``ast`` counts them (``\\n``, ``\\r\\n`` and ``\\r`` end a line, form feeds do not)."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Return every node in the order of :func:`walk`."""
        return walk(self.tree)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Map every node to its parent."""
        parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:
            for child in children(node):
                parents[child] = node
        return parents

    @cached_property
    def repeated_conditions(self) -> frozenset[str]:
        """Return conditions that occur in more than one test of the file: the analysis splits paths on them."""
        counts: Counter[str] = Counter()
        for node in self.nodes:
            if isinstance(node, (ast.If, ast.IfExp)):
                counts.update({text_of(leaf) for leaf in leaf_conditions(node.test)})
        return frozenset(text for text, count in counts.items() if count > 1)

    @cached_property
    def main_block_names(self) -> frozenset[str]:
        """Return module names bound only under ``if __name__ == "__main__":``; importers do not see them."""
        inside: set[str] = set()
        outside: set[str] = set()
        for statement in self.tree.body:
            is_main_block = isinstance(statement, ast.If) and "__name__" in text_of(statement.test)
            (inside if is_main_block else outside).update(_bound_names(statement))
        return frozenset(inside - outside)

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset
        return len(text.encode("utf-8")[:offset].decode("utf-8", errors="ignore"))

    def span(self, node: ast.AST) -> Span:
        """Return the span of a node; columns count code points."""
        located = _located(node)
        line, end = located.lineno, located.end_lineno or located.lineno
        return Span(line, self._column(line, located.col_offset), end, self._column(end, located.end_col_offset or 0))

    def event(self, kind: str, node: ast.AST, note: str) -> Event:
        """Return the event of an expression or statement."""
        span = self.span(node)
        end = span.end_column if span.end_line == span.line else 0
        return Event(kind, self.path, span.line, span.column, self.line(span.line), note, end)

    def source(self, node: ast.AST) -> str:
        """Return the exact source of an expression, line breaks included."""
        span = self.span(node)
        lines = self.lines[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return "\n".join(lines)

    def line(self, number: int) -> str:
        """Return one source line, stripped; ``number`` counts from 1.  Returns ``""`` outside the file."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the innermost statement that contains a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def block(self, statement: ast.stmt) -> tuple[ast.AST, list[ast.stmt], int]:
        """Return the owner of the statement's block, the block, and the statement's index in it.

        Raises ``LookupError`` if the statement is in no block.
        """
        owner = self.parents[statement]
        for name in _BLOCKS:
            block = getattr(owner, name, None)
            if isinstance(block, list) and any(item is statement for item in block):
                return owner, block, next(i for i, item in enumerate(block) if item is statement)
        raise LookupError(f"{self.path}:{statement.lineno}: statement outside a block")

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """Return the parents of a node, nearest first, up to the module."""
        chain: list[ast.AST] = []
        while node in self.parents:
            node = self.parents[node]
            chain.append(node)
        return chain

    def function(self, node: ast.AST) -> ast.AST:
        """Return the innermost function that contains a node, or the module."""
        for parent in self.ancestors(node):
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
                return parent
        return self.tree


_KEPT = frozenset({"path", "text", "has_collapsed_data", "_collapse_data"})


def _bound_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds in its own scope."""
    names: set[str] = set()
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        pending.extend(children(node))
    return names


@node_cache(65536)
def position(node: ast.AST) -> tuple[int, int]:
    """Return line and column of a node as ``ast`` counts them.  Raises ``AttributeError`` if the node has none."""
    located = _located(node)
    return located.lineno, located.col_offset


def _located(node: ast.AST) -> ast.expr:
    # typeshed has no common base class of the nodes that have a position
    return cast("ast.expr", node)


def called_name(call: ast.Call) -> str:
    """Return the last name of what is called; ``""`` if it has none."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def implicit_call(node: ast.AST, name: str = "iterated") -> ast.Call:
    """Return a call expression at ``node`` for a call that is not written there: of ``__iter__``, of a setter."""
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [], []), node)


@node_cache(65536)
def text_of(node: ast.AST) -> str:
    """Return the normal form of an expression's source (cached)."""
    if isinstance(node, ast.Name):  # most are chains of names, for which `ast.unparse` takes ten times as long
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return f"{text_of(node.value)}.{node.attr}"
    return ast.unparse(node)


def outline(node: ast.expr) -> str:
    """Return the source of an expression without what its calls and subscripts get: ``torch.zeros(...).to(...)``."""
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            return f"{outline(func)}({'...' if args or keywords else ''})"
        case ast.Attribute(value=value, attr=name):
            return f"{outline(value)}.{name}"
        case ast.Subscript(value=value):
            return f"{outline(value)}[...]"
        case ast.Name(id=name):
            return name
    return "(...)"


def short_text(node: ast.AST) -> str:
    """Return the source of an expression as a message names it: its outline where it is longer than 40 characters."""
    text = text_of(node)
    return outline(node) if len(text) > 40 and isinstance(node, ast.expr) else text


def argument_texts(node: ast.Call) -> tuple[list[str], dict[str, str]]:
    """Return the expressions of a call's arguments, by position and by keyword.

    What is unpacked keeps its asterisks; what ``**`` unpacks has the keyword ``**``.
    """
    named = {each.arg or "**": ("" if each.arg else "**") + text_of(each.value) for each in node.keywords}
    return [text_of(each) for each in node.args], named


@node_cache(65536)
def names_in(node: ast.AST) -> frozenset[str]:
    """Return the plain names in an expression (cached)."""
    return frozenset(inner.id for inner in walk(node) if isinstance(inner, ast.Name))


def leaf_conditions(test: ast.expr) -> list[ast.expr]:
    """Return the conditions that ``and``, ``or`` and ``not`` combine."""
    if isinstance(test, ast.BoolOp):
        return [leaf for value in test.values for leaf in leaf_conditions(value)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return leaf_conditions(test.operand)
    return [test]
