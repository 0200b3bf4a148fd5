"""Kinds of arguments by docstrings in the styles of Google, NumPy and Sphinx."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from devfix.analysis.callers.annotations import annotation_kind
from devfix.analysis.callers.arguments import UNKNOWN, Argument, Evidence, Kind, union
from devfix.analysis.callers.file_names import FileNames

__all__ = ["docstring_kinds", "documented"]

_NAME = r"\**(?P<name>[A-Za-z_]\w*)"
# ``x (Tensor, optional): description``, ``x: description``
_GOOGLE = re.compile(
    rf"^\s*(?:[-*+]\s+)?[`*]*{_NAME}[`*]*\s*(?:\((?P<type>[^()]*(?:\([^()]*\)[^()]*)*)\))?\s*:\s*(?P<text>.*)$"
)
# ``x : Tensor``, ``x, y : Tensor``
_NUMPY = re.compile(r"^\s*(?P<names>[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s+:\s+(?P<type>.+)$")
_SPHINX = re.compile(rf"^\s*[:@]param\s+(?:(?P<type>[^:]*?)\s+)?{_NAME}\s*:\s*(?P<text>.*)$")
_TYPE_AHEAD = re.compile(r"^\((?P<type>(?:[^()]|\([^()]*\))+)\)\s*(?P<text>.*)$")  # ``:param x: (Tensor) description``
_SPHINX_TYPE = re.compile(rf"^\s*[:@]type\s+{_NAME}\s*:\s*(?P<type>.*)$")
_SECTION = re.compile(
    r"^\s*(args|arguments|parameters|params|inputs?|keyword args|keyword arguments|kwargs)\s*:?\s*$", re.I
)
_OTHER_SECTION = re.compile(
    r"^\s*(returns?|raises|yields?|outputs?|shapes?|examples?|notes?|references?|attributes)\s*:{0,2}\s*$", re.I
)


def documented(docstring: str, parameters: frozenset[str]) -> dict[str, tuple[str, str]]:
    """Return the documented type and description of each parameter, ``""`` where one is missing."""
    found: dict[str, tuple[str, str]] = {}
    current, indent, relevant = "", 0, True
    for line in docstring.expandtabs().splitlines():
        if _OTHER_SECTION.match(line):
            current, relevant = "", False
            continue
        if _SECTION.match(line):
            current, relevant = "", True
            continue
        entry = _entry(line, parameters) if relevant else None
        if entry is not None:
            for name, kind, text in entry:
                old = found.get(name, ("", ""))
                found[name] = (old[0] or kind, old[1] or text)
            current, indent = entry[-1][0], _indent(line)
        elif current and line.strip() and _indent(line) > indent:
            kind, text = found[current]
            found[current] = (kind, f"{text} {line.strip()}".strip())
        elif line.strip():
            current = ""
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _entry(line: str, parameters: frozenset[str]) -> list[tuple[str, str, str]] | None:
    """Return names, type and description of an entry of a list of parameters."""
    if ":" not in line:
        return None
    for pattern in (_SPHINX, _SPHINX_TYPE, _NUMPY, _GOOGLE):
        match = pattern.match(line)
        if match is None:
            continue
        parts = match.groupdict()
        names = re.findall(r"\w+", parts.get("names") or parts.get("name") or "")
        if names and set(names) <= parameters:
            kind, text = (parts.get("type") or "").strip(), (parts.get("text") or "").strip()
            ahead = _TYPE_AHEAD.match(text) if pattern is _SPHINX and not kind else None
            kind, text = (ahead["type"].strip(), ahead["text"]) if ahead is not None else (kind, text)
            return [(name, kind, text) for name in names]
    return None


_MARKUP = re.compile(r":\w+(?::\w+)?:|[`~*]|\\")
# ``Tensor, optional``, ``Tensor of shape (N, C)``, ``int, default 3``: what follows the type
_ASIDE = re.compile(r"(?:\s*,)?\s*\b(?:optional|required|(?:default|with shape|of shape|of size|shape\b).*)$", re.I)
_SHAPED = re.compile(r"^(?P<head>[\w.]*tensor)\s*[(\[]\s*(?:[A-Z*\d.]|batch).*$", re.I)  # ``Tensor[N, 4]``
_LIST_OF = re.compile(
    r"^(?:an? )?(?:list|tuple|sequence|iterable)s?(?: or (?:list|tuple))? of (?P<element>[\w.]+?)s?$", re.I
)
_ADJECTIVES = re.compile(
    r"^(?:an?\s+|the\s+)?(?:(?:float|int|bool|long|integer|boolean|\d-?d|input|dense|sparse|torch|pytorch)\s+(?=tensor$))?",
    re.I,
)
_WORDS = {
    "tensor": "Tensor",
    "array": "ndarray",
    "array_like": "ndarray",
    "array-like": "ndarray",
    "numpy array": "ndarray",
    "np.array": "ndarray",
    "integer": "int",
    "ints": "int",
    "boolean": "bool",
    "string": "str",
    "list of ints": "list",
    "callable": "Callable",
    "function": "Callable",
    "variable": "Tensor",
    "module": "Module",
    "none": "None",
}


@lru_cache(maxsize=4096)
def _type_expression(text: str) -> ast.expr | None:
    """Return the annotation that a documented type stands for."""
    text = _MARKUP.sub("", text).strip().rstrip(".;,")
    for _ in range(3):
        text = _ASIDE.sub("", text).strip().rstrip(",;")
    parts = [_part(part) for part in re.split(r"\s+or\s+|\s*\|\s*|(?<=[\w\]])\s*/\s*", text) if part.strip()]
    try:
        return ast.parse(" | ".join(parts), mode="eval").body if parts else None
    except (SyntaxError, ValueError):
        return None


def _part(text: str) -> str:
    text = text.strip()
    several = _LIST_OF.match(text)
    if several is not None:
        return f"list[{_part(several['element'])}]"
    shaped = _SHAPED.match(text)
    text = _ADJECTIVES.sub("", shaped["head"] if shaped is not None else text)
    return _WORDS.get(text.lower(), text)


# ``the input tensor of shape (N, C)``: the head of the first noun phrase is a tensor
_BEFORE_OTHER_HEADS = (  # ``the size of the tensor``, ``whether the tensor is copied``
    "of for to in on by per from each that which whether if is with how when and or any returns return "
    "list lists sequence tuple pair dict dictionary number dimension dimensions dim shape size device dtype type "
    "name path index indices function module sparse"
)
_AFTER_HEAD = (  # other words make a compound: ``tensor size``, ``tensor key``
    "of with that which whose where containing contains holding representing describing specifying having to for from "
    "in on at by used passed and is as shape shaped on the a"
)
_TENSOR_HEAD = re.compile(
    rf"^(?:(?!(?:{'|'.join(_BEFORE_OTHER_HEADS.split())})\b)[\w'-]+\s+){{0,4}}?"
    rf"tensor\b(?=\s*(?:$|[^\w\s'|/]|(?:{'|'.join(_AFTER_HEAD.split())})\b))",
    re.I,
)
_TENSORS_HEAD = re.compile(
    r"^(?:an?\s+|the\s+)?(?:list|tuple|sequence|iterable)\s+of\s+(?:[\w-]+\s+){0,2}?tensors\b", re.I
)


def docstring_kinds(docstring: str, parameters: frozenset[str], names: FileNames) -> dict[str, Argument]:
    """Return what a docstring says of the parameters that it describes."""
    found: dict[str, Argument] = {}
    for name, (kind, text) in documented(docstring, parameters).items():
        argument = _typed(kind, names) if kind else UNKNOWN
        if argument.kind is Kind.UNKNOWN and not argument.alternatives and not _is_class(kind):
            argument = _described(text)
        if argument != UNKNOWN:
            found[name] = argument
    return found


def _is_class(kind: str) -> bool:
    """Return whether a documented type is the name of a class, so that the description adds nothing."""
    return bool(re.match(r"\W*(?:[A-Z][a-z]\w*|\w+(?:\.\w+)+)\W*(?:$|,)", _MARKUP.sub("", kind)))


def _typed(kind: str, names: FileNames) -> Argument:
    expression = _type_expression(kind)
    if expression is None:
        return UNKNOWN
    argument = annotation_kind(expression, names)
    if argument.kind is Kind.UNKNOWN:
        return UNKNOWN
    return Argument(argument.kind, argument.optional or "None" in kind, argument.alternatives, Evidence.DOCSTRING)


def _described(text: str) -> Argument:
    text = _MARKUP.sub("", text).strip()
    if _TENSORS_HEAD.match(text):
        return union([Kind.TENSORS], False, Evidence.DOCSTRING)
    if _TENSOR_HEAD.match(text):
        return union([Kind.TENSOR], False, Evidence.DOCSTRING)
    return UNKNOWN
