"""Edits of expressions: code appended, keywords added to calls, expressions replaced."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

import libcst as cst

from codemods._rewrite.errors import RewriteError
from codemods._rewrite.splices import Splices
from codemods._rewrite.tree import Tree
from devfix.model import AddKeyword, AppendCode, ReplaceExpression

__all__ = ["ExpressionPlan"]

# What a trailer such as `.to(device)` can follow as it is.
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
_ATOMS = (ast.Attribute, ast.Call, ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Name, ast.Subscript)


class ExpressionPlan:
    """Collects edits of expressions, and writes their splices; edits of one expression are written together."""

    def __init__(self, tree: Tree, splices: Splices) -> None:
        self._tree = tree
        self._splices = splices
        self._appended: dict[cst.BaseExpression, list[str]] = {}
        self._keywords: dict[cst.Call, list[tuple[str, str]]] = {}
        self._replaced: dict[cst.BaseExpression, str] = {}

    def add(self, edit: AppendCode | AddKeyword | ReplaceExpression) -> None:
        """Plan one edit."""
        if isinstance(edit, AddKeyword):
            call = self._tree.expression(edit.call)
            if not isinstance(call, cst.Call):
                raise RewriteError(f"there is no call at line {edit.call.line}, column {edit.call.column}")
            self._keywords.setdefault(call, []).append((edit.keyword, _checked_value(edit.keyword, edit.value)))
            return
        node = self._tree.expression(edit.expression)
        if isinstance(edit, AppendCode):
            self._appended.setdefault(node, []).append(_checked_trailer(edit.code))
        elif node in self._replaced:
            raise RewriteError("the edits replace an expression twice")
        else:
            self._replaced[node] = edit.code

    def finish(self) -> None:
        """Write the splices."""
        for node, code in self._appended.items():
            self._append(node, "".join(code))
        for call, keywords in self._keywords.items():
            self._add_keywords(call, keywords)
        for node, replacement in self._replaced.items():
            self._replace(node, replacement)

    def _append(self, node: cst.BaseExpression, code: str) -> None:
        start, end = self._tree.outer_extent(node)
        if node.lpar or isinstance(node, _PRIMARY):
            self._splices.after(end, start, [code])
        else:
            self._splices.before(start, end, ["("])
            self._splices.after(end, start, [")" + code])

    # Keywords

    def _add_keywords(self, call: cst.Call, keywords: Sequence[tuple[str, str]]) -> None:
        names = [name for name, _ in keywords]
        given = [arg.keyword.value for arg in call.args if arg.keyword]
        for name in names:
            if name in given or names.count(name) > 1:
                raise RewriteError(f"the call has {name}= already")
        code = [f"{name}={value}" for name, value in keywords]
        mappings = [arg for arg in call.args if arg.star == "**"]
        if not call.args:
            self._first_keywords(call, code)
        elif mappings:
            self._keywords_before(call, mappings[0], code)
        else:
            self._keywords_after(call, call.args[-1], code)

    def _first_keywords(self, call: cst.Call, code: Sequence[str]) -> None:
        """``f()``; comments between the parentheses stay above the keywords."""
        start, end = self._tree.extent(call)
        opening = self._tree.opening_parenthesis(call) + 1
        closing = end - 1
        inside = self._tree.text[opening:closing]
        if not inside.strip(" \t\f") and opening != closing:
            self._splices.replace(opening, closing, [", ".join(code)])
        elif "\n" in inside or "\r" in inside:
            line = self._tree.line_start(closing)
            newline = self._tree.newline_near(opening)
            indent = self._tree.text[line:closing] + self._tree.unit
            self._splices.after(line, start, [f"{indent}{one},{newline}" for one in code])
        else:
            self._splices.after(opening, start, [", ".join(code)])

    def _keywords_before(self, call: cst.Call, mapping: cst.Arg, code: Sequence[str]) -> None:
        offset = self._tree.extent(mapping)[0]
        separator = self._separator(call, mapping)
        self._splices.before(offset, self._tree.extent(call)[1], [one + separator for one in code])

    def _keywords_after(self, call: cst.Call, last: cst.Arg, code: Sequence[str]) -> None:
        tree = self._tree
        start = tree.extent(call)[0]
        arg_start, arg_end = tree.extent(last)
        separator = self._separator(call, last)
        if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar and not last.star and not last.keyword:
            self._splices.before(arg_start, arg_end, ["("])
            self._splices.after(arg_end, arg_start, [")"])
        comma = tree.extent(last.comma) if isinstance(last.comma, cst.Comma) else None
        end = comma[0] + 1 if comma else arg_end
        line_end = tree.line_end(end)
        if "\n" not in separator and "\r" not in separator:
            parts = [f" {one}," for one in code] if comma else [f", {one}" for one in code]
            if comma and tree.text[comma[1] - 1] == " ":
                parts = [f" {one}," for one in code]
            self._splices.after(end, start, parts)
            return
        rest = tree.text[end:line_end].strip(" \t\f\r\n")
        indent = separator.lstrip(",\r\n")
        newline = tree.newline_near(end)
        if rest and not rest.startswith("#"):  # the parenthesis closes on the same line
            glue = ("", ",") if comma else (",", "")
            self._splices.after(end, start, [f"{glue[0]}{newline}{indent}{one}{glue[1]}" for one in code])
            return
        if not comma:
            self._splices.after(end, start, [","])
        lines = [f"{indent}{one},{newline}" for one in code]
        if not comma:
            lines[-1] = f"{indent}{code[-1]}{newline}"
        self._splices.after(line_end, start, lines)

    def _separator(self, call: cst.Call, arg: cst.Arg) -> str:
        """Between two arguments: a comma, and a new line where each argument has a line of its own."""
        tree = self._tree
        lines = [tree.line_start(tree.extent(other)[0]) for other in call.args]
        start = tree.extent(arg)[0]
        line = tree.line_start(start)
        alone = len(set(lines)) == len(lines) and not tree.text[line:start].strip(" \t\f")
        if not alone:
            return ", "
        return "," + tree.newline_near(start) + tree.text[line:start]

    # Replacement

    def _replace(self, node: cst.BaseExpression, code: str) -> None:
        start, end = self._tree.extent_in_ast(node)
        kind = _parsed(code, "the replacement")
        if not isinstance(kind, _ATOMS) or "\n" in code or self._touches(start, end, code):
            code = self._parenthesized_where_needed(start, end, code)
        self._splices.replace(start, end, [code])

    def _touches(self, start: int, end: int, code: str) -> bool:
        """Whether the code would melt into its neighbours: ``return-x``, ``{x}`` in an f-string."""
        before, after = self._tree.text[start - 1 : start], self._tree.text[end : end + 1]
        return _is_word(before) or _is_word(after) or (before == "{" and code.startswith("{")) or after in {".", "}"}

    def _parenthesized_where_needed(self, start: int, end: int, code: str) -> str:
        """``code`` as it is, where that means the same as with parentheses."""
        text = self._tree.text
        plain, safe = (f"{text[:start]}{variant}{text[end:]}" for variant in (code, f"({code})"))
        return code if _dump(plain) == _dump(safe) else f"({code})"


def _checked_trailer(code: str) -> str:
    node = _parsed(f"_{code}", "the appended code")
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not (isinstance(node, ast.Name) and node.id == "_") or "#" in code:
        raise RewriteError(f"{code!r} cannot be appended to an expression")
    return code


def _checked_value(keyword: str, value: str) -> str:
    call = _parsed(f"_({keyword}={value})", "the keyword")
    if isinstance(call, ast.Call) and len(call.keywords) == 1 and not call.args and call.keywords[0].arg == keyword:
        return value
    raise RewriteError(f"{keyword}={value} is not a keyword with its value")


def _parsed(code: str, what: str) -> ast.expr:
    try:
        return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RewriteError(f"{what} does not parse: {code!r}") from error


def _dump(text: str) -> str | None:
    """What a program means, without positions; ``None`` where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_word(character: str) -> bool:
    return character.isalnum() or character in {"_", '"', "'"}
