"""Expression edits: append code, add keywords to calls, replace expressions."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

import libcst as cst

from devfix.model import AddKeyword, AppendCode, ReplaceExpression, Span
from devfix.rewrite.errors import RewriteError
from devfix.rewrite.keywords import add_keywords, opening_parenthesis
from devfix.rewrite.source import Extent, Source, describe
from devfix.rewrite.splices import Splices

__all__ = ["ExpressionEdit", "write_expressions"]

ExpressionEdit = AppendCode | AddKeyword | ReplaceExpression

# Expressions that accept a trailer such as `.to(device)` without parentheses.
_PRIMARY = (
    cst.Attribute,
    cst.Call,
    cst.Dict,
    cst.DictComp,
    cst.FormattedString,
    cst.List,
    cst.ListComp,
    cst.Name,
    cst.Set,
    cst.SetComp,
    cst.SimpleString,
    cst.Subscript,
)
# Expressions that need no parentheses in any context.
_ATOMS = (ast.Attribute, ast.Call, ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Name, ast.Subscript)


def write_expressions(source: Source, splices: Splices, edits: Sequence[ExpressionEdit]) -> None:
    """Add the splices of ``edits``; edits of the same expression are combined."""
    found = _look_up(source, {_span(edit) for edit in edits})
    appended: dict[Extent, str] = {}
    keywords: dict[Extent, list[AddKeyword]] = {}
    replaced: dict[Extent, str] = {}
    for edit in edits:
        extent = source.extent_of(_span(edit))
        if extent not in found:
            raise RewriteError(f"there is no expression at {describe(_span(edit))}")
        if isinstance(edit, AppendCode):
            appended[extent] = appended.get(extent, "") + _validate_trailer(edit.code)
        elif isinstance(edit, AddKeyword):
            keywords.setdefault(extent, []).append(edit)
        elif extent in replaced:
            raise RewriteError("two edits replace the same expression")
        else:
            replaced[extent] = edit.code
    if not replaced.keys().isdisjoint(appended.keys() | keywords.keys()):
        raise RewriteError("the edits overlap")
    _check_formatted_strings(source, edits)
    for extent, code in appended.items():
        _append(source, splices, found[extent], code)
    for extent, added in keywords.items():
        add_keywords(source, splices, *_validate_keywords(found[extent], added))
    for extent, code in replaced.items():
        node = found[extent]
        target = source.extent(node) if isinstance(node, cst.GeneratorExp) and not node.lpar else extent
        splices.replace(*target, [_replacement(source, target, code)])


def _span(edit: ExpressionEdit) -> Span:
    return edit.call if isinstance(edit, AddKeyword) else edit.expression


# Lookup


def _look_up(source: Source, spans: set[Span]) -> dict[Extent, cst.BaseExpression]:
    """Return the expressions at ``spans``, found in one pass over the tree."""
    extents = {source.extent_of(span) for span in spans}
    return {extent: node for extent, node in _expressions(source) if extent in extents} if extents else {}


def _expressions(source: Source) -> Iterator[tuple[Extent, cst.BaseExpression]]:
    """Yield every expression with the extent that ``ast`` gives it: tuples and generators include their parentheses."""
    for node in source.positions:
        if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:
            yield (source.extent(node.lpar[-1])[0], source.extent(node.rpar[0])[1]), node
        elif isinstance(node, cst.BaseExpression) and not isinstance(node, (cst.GeneratorExp, cst.StarredElement)):
            yield source.extent(node), node
        if isinstance(node, cst.Call) and len(node.args) == 1:
            value = node.args[0].value
            if isinstance(value, cst.GeneratorExp) and not value.lpar:
                yield (opening_parenthesis(source, node), source.extent(node)[1]), value


def _check_formatted_strings(source: Source, edits: Sequence[ExpressionEdit]) -> None:
    """Reject quotes, backslashes, newlines and comments inside an f-string: Python 3.11 does not accept them."""
    fields = [source.extent(node) for node in source.positions if isinstance(node, cst.FormattedStringExpression)]
    for edit in edits:
        start, end = source.extent_of(_span(edit))
        code = edit.value if isinstance(edit, AddKeyword) else edit.code
        if not set(code).isdisjoint("'\"\\\n#") and any(low <= start and end <= high for low, high in fields):
            raise RewriteError(f"{code!r} is not allowed inside an f-string")


# New code


def _append(source: Source, splices: Splices, node: cst.BaseExpression, code: str) -> None:
    start, end = source.extent(node)
    if node.lpar:
        start, end = source.extent(node.lpar[0])[0], source.extent(node.rpar[-1])[1]
    if node.lpar or isinstance(node, _PRIMARY):
        splices.after(end, start, [code])
    else:
        splices.before(start, end, ["("])
        splices.after(end, start, [")" + code])


def _validate_trailer(code: str) -> str:
    node = _parsed(f"_{code}", code)
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not (isinstance(node, ast.Name) and node.id == "_") or "#" in code:
        raise RewriteError(f"{code!r} cannot be appended to an expression")
    return code


def _validate_keywords(node: cst.BaseExpression, edits: Sequence[AddKeyword]) -> tuple[cst.Call, list[str]]:
    if not isinstance(node, cst.Call):
        raise RewriteError(f"there is no call at {describe(edits[0].call)}")
    existing = {arg.keyword.value for arg in node.args if arg.keyword}
    code = []
    for edit in edits:
        if edit.keyword in existing:
            raise RewriteError(f"the call already has {edit.keyword}=")
        existing.add(edit.keyword)
        code.append(f"{edit.keyword}={edit.value}")
        call = _parsed(f"_({code[-1]})", code[-1])
        is_single = isinstance(call, ast.Call) and not call.args and len(call.keywords) == 1
        if not is_single or not edit.keyword.isidentifier():
            raise RewriteError(f"{code[-1]!r} is not a keyword argument")
    return node, code


def _replacement(source: Source, extent: Extent, code: str) -> str:
    """Return ``code`` as written at ``extent``, with spaces or parentheses if its neighbors require them."""
    start, end = extent
    before, after = source.text[start - 1 : start], source.text[end : end + 1]
    alone = not (_is_word(before) or _is_word(after) or before in {"{", "."} or after in {"}", "."})
    if isinstance(_parsed(code, code), _ATOMS) and alone and "\n" not in code:
        return code
    head, tail = source.text[:start], source.text[end:]
    safe = _dump_tree(f"{head}({code}){tail}")
    left, right = " " * (_is_word(before) or before == "{"), " " * (_is_word(after) or after == "}")
    variants = (code, left + code, code + right, left + code + right)
    return next((one for one in variants if _dump_tree(head + one + tail) == safe), f"({code})")


def _parsed(code: str, shown: str) -> ast.expr:
    try:
        return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RewriteError(f"{shown!r} does not parse") from error


def _dump_tree(text: str) -> str | None:
    """Return the dump of a program's syntax tree, or ``None`` if the text does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_word(character: str) -> bool:
    return character.isalnum() or character in {"_", '"', "'"}
