"""Write edits into a file's text: LibCST says where things are, splices change only those places.

LibCST's tree knows what `ast` does not: comments, semicolons, commas, parentheses, the footer of a block.  The text is
never generated from the tree, so everything outside an edit is byte-identical by construction, also where LibCST
itself does not round-trip (form feeds).

The package is imported lazily by the engine, because LibCST is heavy.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from devfix.model import AppendCode, Edit, InsertStatement, MoveStatements, ReplaceStatement
from devfix.rewrite.errors import RewriteError
from devfix.rewrite.expressions import write_expressions
from devfix.rewrite.quotes import in_quotes_of
from devfix.rewrite.source import Source
from devfix.rewrite.splices import Splices
from devfix.rewrite.statements import write_statements
from devfix.syntax.inplace_writes import written_copies

__all__ = ["RewriteError", "Rewriter", "rewrite"]


def rewrite(text: str, edits: Sequence[Edit]) -> str:
    """Apply all ``edits`` to ``text``, the whole text of one file, in one pass, and return the new text.

    Spans refer to ``text`` as ``ast`` reports them, columns in code points.  Edits at one anchor keep their order, and
    edits nested in each other compose.  New string literals get the quotes that the file mostly uses.  Raises
    `RewriteError` where an edit has no such place, where edits overlap, where a write would be lost in a copy, and
    where the result would not compile; there is no partial result.
    """
    return Rewriter(text).rewrite(edits)


class Rewriter:
    """One text that is rewritten in several ways; it is parsed once, and stays as it is."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._source: Source | None = None

    def rewrite(self, edits: Sequence[Edit]) -> str:
        """As :func:`rewrite` does it."""
        if not edits:
            return self._text
        if self._source is None:
            self._source = Source(self._text)
        return _rewritten(self._source, self._text, edits)


def _rewritten(source: Source, text: str, edits: Sequence[Edit]) -> str:
    for written in written_copies(text, [edit for edit in edits if isinstance(edit, AppendCode)]):
        raise RewriteError(f"it would write into a copy of `{written}`")
    splices = Splices(source.text)
    edits = [in_quotes_of(source, edit) for edit in edits]
    statements = [edit for edit in edits if isinstance(edit, (InsertStatement, MoveStatements, ReplaceStatement))]
    if statements:
        write_statements(source, splices, statements)
    expressions = [edit for edit in edits if not isinstance(edit, (InsertStatement, MoveStatements, ReplaceStatement))]
    if expressions:
        write_expressions(source, splices, expressions)
    result = source.restore_end(splices.render())
    _check_compiles(result, text)
    return result


def _check_compiles(result: str, original: str) -> None:
    """Raise `RewriteError` where ``result`` does not compile; where ``original`` does not either, parsing is enough."""
    problem = _compile_problem(result)
    if problem and (_compile_problem(original) is None or _compile_problem(result, ast.PyCF_ONLY_AST)):
        raise RewriteError(f"the result does not compile ({problem})")


def _compile_problem(text: str, flags: int = 0) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape sequence in the user's strings is none of our business
            compile(text, "<rewrite>", "exec", flags=flags, dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return None
