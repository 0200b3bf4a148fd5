"""Quotes of generated code: the file's predominant style."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

import libcst as cst

from devfix.model import AddKeyword, AppendCode, Edit, InsertStatement, ReplaceExpression, ReplaceStatement
from devfix.rewrite.source import Source

__all__ = ["match_quotes"]

_LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
# Since Python 3.12 an f-string is several tokens.
_OPENS, _CLOSES = getattr(tokenize, "FSTRING_START", None), getattr(tokenize, "FSTRING_END", None)


def match_quotes(source: Source, edit: Edit) -> Edit:
    """Return ``edit`` with its string literals in the file's quotes; literals copied from the file keep theirs."""
    match edit:
        case AppendCode(code=code) | InsertStatement(code=code) | ReplaceExpression(code=code):
            return replace(edit, code=_requote(source, code))
        case AddKeyword(value=code):
            return replace(edit, value=_requote(source, code))
        case ReplaceStatement(code=lines):
            code = _requote(source, "\n".join(lines))
            ends = list(accumulate(len(line) + 1 for line in lines))
            return replace(
                edit, code=tuple(code[end - len(line) - 1 : end - 1] for line, end in zip(lines, ends, strict=True))
            )
    return edit


def _requote(source: Source, code: str) -> str:
    if '"' not in code and "'" not in code:
        return code
    quote, pieces, position = _predominant_quote(source), [], 0
    for start, end, context in _literals(code):
        pieces.append(code[position:start])
        copied = context != code[start:end] and context in source.text
        pieces.append(code[start:end] if copied else _with_quote(quote, code[start:end]))
        position = end
    return "".join((*pieces, code[position:]))


def _predominant_quote(source: Source) -> str:
    """Return the quote of most of the file's literals; a double quote if there is no majority."""
    counted: Counter[str] = Counter()
    for node in source.positions:
        if isinstance(node, cst.SimpleString) and not {"'", '"'} & set(node.raw_value):
            counted[node.quote] += 1
        elif isinstance(node, cst.FormattedString):
            counted[node.start[-1]] += len(node.start.lstrip("fFrR")) == 1
    return "'" if counted["'"] > counted['"'] else '"'


def _literals(code: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and surrounding tokens of each literal; nothing if ``code`` does not tokenize."""
    starts = [0]
    for line in io.StringIO(code):
        starts.append(starts[-1] + len(line))
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(code).readline) if token.type not in _LAYOUT]
    except (tokenize.TokenError, SyntaxError):
        return
    extents: list[tuple[int, int, bool]] = []
    depth = 0
    for token in tokens:
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        if depth:
            extents[-1] = (extents[-1][0], end, True)
        else:
            extents.append((start, end, token.type in (tokenize.STRING, _OPENS)))
        depth += (token.type == _OPENS) - (token.type == _CLOSES)
    for index, (start, end, is_literal) in enumerate(extents):
        if is_literal:
            before, after = extents[max(index - 1, 0)], extents[min(index + 1, len(extents) - 1)]
            yield start, end, code[before[0] : after[1]]


def _with_quote(quote: str, literal: str) -> str:
    """Return a literal with other quotes, unless it is triple-quoted or would need escapes."""
    body = literal.lstrip("bBfFrRuU")
    prefix, inner = literal[: len(literal) - len(body)], body[1:-1]
    if {"'", '"', "\\"} & set(inner) or len(body) < 2:
        return literal
    return f"{prefix}{quote}{inner}{quote}"
