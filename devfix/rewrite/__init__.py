"""Apply edits to the text of a file; every byte outside the edits stays as it is.

In: a file's text and the `Edit`s of one or more fixes. Out: the new text, or `RewriteError`. The package may import
`devfix.model` and `devfix.syntax` only.

LibCST's tree has the tokens that `ast` drops: comments, semicolons, commas, parentheses, the footer of a block. The
tree only gives positions; the text is never generated from it. Everything outside an edit is therefore byte-identical
by construction, even if LibCST does not round-trip the file (form feeds).

The engine imports the package on first use because importing LibCST is slow.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from devfix.model import AppendCode, Edit, InsertStatement, MoveStatements, ReplaceStatement
from devfix.rewrite.errors import RewriteError
from devfix.rewrite.expressions import write_expressions
from devfix.rewrite.quotes import match_quotes
from devfix.rewrite.source import Source
from devfix.rewrite.splices import Splices
from devfix.rewrite.statements import write_statements
from devfix.syntax.inplace_writes import find_lost_writes

__all__ = ["RewriteError", "Rewriter", "rewrite"]


def rewrite(text: str, edits: Sequence[Edit]) -> str:
    """Return ``text``, the text of one file, with all ``edits`` applied in one pass.

    Spans refer to ``text`` as ``ast`` reports them, with columns in code points. Edits at the same anchor keep their
    order; nested edits compose. New string literals use the file's predominant quotes.

    Raises:
        RewriteError: a span matches no node, edits overlap, a write would go to a copy of the tensor, or the result
            does not compile. Nothing is applied then.

    """
    return Rewriter(text).rewrite(edits)


class Rewriter:
    """Apply several alternative sets of edits to one text, which is parsed only once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._source: Source | None = None

    def rewrite(self, edits: Sequence[Edit]) -> str:
        """Return the text with ``edits`` applied; see :func:`rewrite`."""
        if not edits:
            return self._text
        if self._source is None:
            self._source = Source(self._text)
        return _apply_edits(self._source, self._text, edits)


def _apply_edits(source: Source, text: str, edits: Sequence[Edit]) -> str:
    for target in find_lost_writes(text, [edit for edit in edits if isinstance(edit, AppendCode)]):
        raise RewriteError(f"the edit would write to a copy of `{target}`")
    splices = Splices(source.text)
    edits = [match_quotes(source, edit) for edit in edits]
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
    """Raise `RewriteError` if ``result`` does not compile.

    If ``original`` does not compile either, it is enough that ``result`` parses.
    """
    problem = _compile_problem(result)
    if problem and (_compile_problem(original) is None or _compile_problem(result, ast.PyCF_ONLY_AST)):
        raise RewriteError(f"the result does not compile ({problem})")


def _compile_problem(text: str, flags: int = 0) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escape sequences in the user's strings are not reported here
            compile(text, "<rewrite>", "exec", flags=flags, dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return None
