"""Inserted code: check it and lay it out with the file's indentation and newlines."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devfix.rewrite.errors import RewriteError
from devfix.rewrite.source import NEWLINE
from devfix.rewrite.splices import Copy, Part

__all__ = ["MovedCode", "NewCode", "Payload"]

_INDENT = "    "
_COMPOUND = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Match,
    *((ast.TryStar,) if hasattr(ast, "TryStar") else ()),
)


@dataclass(frozen=True)
class NewCode:
    """The code of an edit, to be written as lines or, if ``inline``, between semicolons."""

    code: str
    inline: bool

    @classmethod
    def read(cls, code: str) -> NewCode:
        """Parse ``code``: one or more statements without leading indentation. Raise `RewriteError` if it is invalid."""
        code = NEWLINE.sub("\n", code).strip("\n")
        try:
            body = ast.parse(code).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise RewriteError(f"{code!r} does not parse") from error
        if not body:
            raise RewriteError("there is no statement in the code to insert")
        simple = not any(isinstance(statement, _COMPOUND) for statement in body)
        return cls(code, simple and "\n" not in code and "#" not in code)

    def in_line(self) -> Sequence[Part]:
        """Return the code as written between semicolons."""
        return (self.code,)

    def as_lines(self, prefix: str, unit: str, newline: str) -> Sequence[Part]:
        """Return the code as whole lines after ``prefix``, each level of indentation written as ``unit``."""
        return ("".join(line + newline for line in _indented(self.code, prefix, unit)),)


@dataclass(frozen=True)
class MovedCode:
    """Original statements that are moved: one from between semicolons, or entire lines (``is_lines``)."""

    copy: Copy
    is_lines: bool
    blank: str = ""

    @property
    def inline(self) -> bool:
        """Whether the statement can be written between semicolons."""
        return not self.is_lines

    def in_line(self) -> Sequence[Part]:
        """Return the statement as written between semicolons."""
        return (self.copy,)

    def as_lines(self, prefix: str, unit: str, newline: str) -> Sequence[Part]:
        """Return the statements as whole lines, preceded by the blank lines moved with them."""
        return (self.blank, self.copy) if self.is_lines else (prefix, self.copy, newline)


Payload = NewCode | MovedCode


def _indented(code: str, prefix: str, unit: str) -> Iterator[str]:
    inside_string = _lines_inside_strings(code)
    for number, line in enumerate(code.split("\n"), 1):
        if number in inside_string or not line.strip():
            yield line
            continue
        rest = line.lstrip(" ")
        levels, spaces = divmod(len(line) - len(rest), len(_INDENT))
        yield prefix + unit * levels + " " * spaces + rest


def _lines_inside_strings(code: str) -> set[int]:
    """Return the numbers of lines that begin inside a string, where indentation is content."""
    return {
        line
        for node in ast.walk(ast.parse(code))
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
