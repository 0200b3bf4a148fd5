"""A parsed source file: tree, parents, positions in code points, source text of nodes."""

from __future__ import annotations

import ast
from collections import Counter
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import cast

from devfix.model import Span
from devfix.syntax.data_literals import collapse_repeated_literals

__all__ = ["SourceTree", "leaf_conditions", "position", "text_of", "walk"]

_BLOCKS = ("body", "orelse", "finalbody")


def walk(node: ast.AST) -> list[ast.AST]:
    """What ``ast.walk`` gives, in its order, at a third of its price; but not ``Load()``, ``Store()`` and ``Del()``."""
    found = [node]
    for each in found:
        for name in each._fields:
            value = getattr(each, name, None)
            if isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and name != "ctx":
                found.append(value)
    return found


class SourceTree:
    """One file's text and ``ast``, with what rules ask of it.

    ``path`` is the name that findings carry.  With ``thin``, lines of data that are like others are left out of the
    tree, and ``thin`` says whether there are any.  Raises ``SyntaxError`` (also for NUL bytes and nesting that is too
    deep) when the text cannot be parsed.
    """

    def __init__(self, path: str, text: str, thin: bool = False) -> None:
        self.path = path
        self.text = text
        short = collapse_repeated_literals(text) if thin else None
        if short is not None:
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                self.tree = ast.parse(short)
                self.has_collapsed_data = True
                return
        self.has_collapsed_data = False
        try:
            self.tree = ast.parse(text)
        except MemoryError as error:  # also where nesting exhausts the parser's stack
            raise SyntaxError("it is nested too deeply, or takes more memory than there is") from error
        except (ValueError, RecursionError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from error

    @cached_property
    def lines(self) -> list[str]:
        """The lines as ``ast`` counts them (``\\n``, ``\\r\\n`` and ``\\r`` end a line, form feeds do not)."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node, as :func:`walk` gives them."""
        return walk(self.tree)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Every node's parent."""
        found: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    for item in value:
                        if isinstance(item, ast.AST):
                            found[item] = node
                elif isinstance(value, ast.AST):
                    found[value] = node
        return found

    @cached_property
    def repeated_conditions(self) -> frozenset[str]:
        """Conditions that stand in more than one test of the file: worth following separately."""
        counts: Counter[str] = Counter()
        for node in self.nodes:
            if isinstance(node, (ast.If, ast.IfExp)):
                counts.update({text_of(leaf) for leaf in leaf_conditions(node.test)})
        return frozenset(text for text, count in counts.items() if count > 1)

    @cached_property
    def main_block_names(self) -> frozenset[str]:
        """Names of the module that only ``if __name__ == "__main__":`` binds: who imports the file has none of them."""
        inside: set[str] = set()
        outside: set[str] = set()
        for statement in self.tree.body:
            starts = isinstance(statement, ast.If) and "__name__" in text_of(statement.test)
            (inside if starts else outside).update(_bound(statement))
        return frozenset(inside - outside)

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset
        return len(text.encode("utf-8")[:offset].decode("utf-8", errors="ignore"))

    def span(self, node: ast.AST) -> Span:
        """Where a node stands."""
        placed = _placed(node)
        line, end = placed.lineno, placed.end_lineno or placed.lineno
        return Span(line, self._column(line, placed.col_offset), end, self._column(end, placed.end_col_offset or 0))

    def source(self, node: ast.AST) -> str:
        """The exact source of an expression; line breaks inside it are kept."""
        span = self.span(node)
        lines = self.lines[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return "\n".join(lines)

    def line(self, number: int) -> str:
        """One stripped source line (lines from 1)."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def block(self, statement: ast.stmt) -> tuple[ast.AST, list[ast.stmt], int]:
        """The owner of the block in which a statement stands, the block, and the statement's index in it."""
        owner = self.parents[statement]
        for name in _BLOCKS:
            block = getattr(owner, name, None)
            if isinstance(block, list) and any(item is statement for item in block):
                return owner, block, next(i for i, item in enumerate(block) if item is statement)
        raise LookupError(f"{self.path}:{statement.lineno}: statement outside a block")

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """Parents from the nearest to the module."""
        chain: list[ast.AST] = []
        while node in self.parents:
            node = self.parents[node]
            chain.append(node)
        return chain

    def function(self, node: ast.AST) -> ast.AST:
        """The function that holds a node, or the module."""
        for parent in self.ancestors(node):
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
                return parent
        return self.tree


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds in its own scope."""
    found: set[str] = set()
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        pending.extend(ast.iter_child_nodes(node))
    return found


@lru_cache(maxsize=65536)
def position(node: ast.AST) -> tuple[int, int]:
    """Line and column of a node, as ``ast`` counts them.  Raises `AttributeError` for one that has no place."""
    placed = _placed(node)
    return placed.lineno, placed.col_offset


def _placed(node: ast.AST) -> ast.expr:
    # typeshed gives a position to each kind of node that has one, and no base class that all of them share
    return cast("ast.expr", node)


@lru_cache(maxsize=65536)
def text_of(node: ast.AST) -> str:
    """The normal form of an expression's source; asked for again and again, so kept."""
    if isinstance(node, ast.Name):  # most are chains of names, which `ast.unparse` takes ten times as long for
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return f"{text_of(node.value)}.{node.attr}"
    return ast.unparse(node)


def leaf_conditions(test: ast.expr) -> list[ast.expr]:
    """The conditions that ``and``, ``or`` and ``not`` combine."""
    if isinstance(test, ast.BoolOp):
        return [leaf for value in test.values for leaf in leaf_conditions(value)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return leaf_conditions(test.operand)
    return [test]
