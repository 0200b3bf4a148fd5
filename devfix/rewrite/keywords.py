"""Add keyword arguments to a call, in the layout of its existing arguments."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devfix.rewrite.source import Source
from devfix.rewrite.splices import Splices

__all__ = ["add_keywords", "opening_parenthesis"]

_SPACES = " \t\f"


def add_keywords(source: Source, splices: Splices, call: cst.Call, keywords: Sequence[str]) -> None:
    """Add ``keywords`` (``name=value`` each) after the last argument of ``call``, but before any ``**mapping``."""
    mapping = next((arg for arg in call.args if arg.star == "**"), None)
    if not call.args:
        _add_first(source, splices, call, keywords)
    elif mapping:
        _add_before(source, splices, call, mapping, keywords)
    else:
        _add_after(source, splices, call, call.args[-1], keywords)


def opening_parenthesis(source: Source, call: cst.Call) -> int:
    """Return the offset of the parenthesis that opens the arguments of ``call``."""
    return source.extent(call.whitespace_after_func)[1]


def _add_first(source: Source, splices: Splices, call: cst.Call, keywords: Sequence[str]) -> None:
    """Add keywords to a call without arguments; a comment between the parentheses stays above them."""
    start, end = source.extent(call)
    opening, closing = opening_parenthesis(source, call) + 1, end - 1
    if opening == closing or not source.text[opening:closing].isspace():
        line = source.line_start(closing)
        if line <= opening:
            splices.after(opening, start, [", ".join(keywords)])
            return
        indent = source.prefix(closing) + source.module.default_indent
        newline = source.newline_near(opening)
        splices.after(line, start, [f"{indent}{keyword},{newline}" for keyword in keywords])
    else:
        splices.replace(opening, closing, [", ".join(keywords)])


def _add_before(source: Source, splices: Splices, call: cst.Call, arg: cst.Arg, keywords: Sequence[str]) -> None:
    offset = source.extent(arg)[0]
    indent = _own_line_indent(source, call, arg)
    separator = ", " if indent is None else f",{source.newline_near(offset)}{indent}"
    splices.before(offset, source.extent(call)[1], [keyword + separator for keyword in keywords])


def _add_after(source: Source, splices: Splices, call: cst.Call, last: cst.Arg, keywords: Sequence[str]) -> None:
    start = source.extent(call)[0]
    arg_start, arg_end = source.extent(last)
    if _is_bare_generator(last):
        splices.before(arg_start, arg_end, ["("])
        splices.after(arg_end, arg_start, [")"])
    has_comma = isinstance(last.comma, cst.Comma)
    end = source.text.index(",", source.extent(last.comma)[0]) + 1 if isinstance(last.comma, cst.Comma) else arg_end
    indent = _own_line_indent(source, call, last)
    line_end = source.line_end(end)
    rest = source.text[end:line_end].strip(_SPACES + "\r\n")
    newline = source.newline_near(end)
    if indent is None or (rest and not rest.startswith("#")):  # arguments share lines, or the call ends on this line
        gap = " " if indent is None else newline + indent
        splices.after(end, start, [f"{gap}{keyword}," if has_comma else f",{gap}{keyword}" for keyword in keywords])
        return
    if not has_comma:
        splices.after(end, start, [","])
    lines = f",{newline}".join(indent + keyword for keyword in keywords)
    splices.after(line_end, start, [lines, f",{newline}" if has_comma else newline])


def _own_line_indent(source: Source, call: cst.Call, arg: cst.Arg) -> str | None:
    """Return the whitespace before ``arg`` if each argument starts on its own line, else ``None``."""
    lines = [source.line_start(source.extent(other)[0]) for other in call.args]
    start = source.extent(arg)[0]
    before = source.text[source.line_start(start) : start]
    return before if len(set(lines)) == len(lines) and not before.strip(_SPACES) else None


def _is_bare_generator(arg: cst.Arg) -> bool:
    return isinstance(arg.value, cst.GeneratorExp) and not arg.value.lpar
