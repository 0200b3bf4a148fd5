"""Calls of modelled functions: their arguments, matched to a signature in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import Const, DeviceValue, DType, Number, Tensor, Text, Value
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.values import Keywords
    from devfix.models.signatures import Parameter, Signature

__all__ = ["Argument", "BoundCall", "bind"]

#: Names that PyTorch accepts for the sake of NumPy (torch/csrc/utils/python_arg_parser.cpp).
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
_PLAIN_WORDS = frozenset({"int", "float", "bool", "str"})
_TENSOR_WORDS = frozenset({"On", "Scalar", "Written"})


@dataclass(frozen=True)
class Argument:
    """One argument: the parameter that it is for, its value and its expression; ``None`` if it is starred."""

    parameter: Parameter
    value: Value
    expression: ast.expr | None

    @property
    def text(self) -> str:
        """Return the argument as it is written; ``…`` if it is starred."""
        return text_of(self.expression) if self.expression is not None else "…"


@dataclass(frozen=True)
class BoundCall:
    """A call whose arguments fit a signature."""

    signature: Signature
    arguments: tuple[Argument, ...]
    is_complete: bool

    def values(self, name: str) -> list[Value]:
        """Return the values for a parameter: none if it is not given, several for ``*args``."""
        return [argument.value for argument in self.arguments if argument.parameter.name == name]

    def is_given(self, name: str) -> bool:
        """Return whether an argument for a parameter is given, or may be (``**options``)."""
        return not self.is_complete or any(
            argument.parameter.name == name and argument.value != Const(None) for argument in self.arguments
        )

    def with_word(self, *words: str) -> Iterator[Argument]:
        """Yield the arguments of parameters with one of these words."""
        return (argument for argument in self.arguments if argument.parameter.word.name in words)


def bind(
    signatures: Sequence[Signature],
    args: Sequence[Value],
    keywords: Keywords,
    node: ast.Call,
    receiver: tuple[Value, ast.expr] | None = None,
) -> BoundCall | None:
    """Match arguments to the first signature that they fit; ``None`` if there is none.

    Args:
        signatures: the overloads of the function.
        args: positional arguments.
        keywords: keyword arguments; ``**`` stands for unknown ones.
        node: the call.
        receiver: the object of a method and its expression: the argument for the first parameter.

    """
    starred = any(isinstance(argument, ast.Starred) for argument in node.args) or len(node.args) != len(args)
    expressions: list[ast.expr | None] = [None] * len(args) if starred else list(node.args)
    positional = list(zip(args, expressions, strict=True))
    if receiver is not None:
        positional.insert(0, receiver)
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    is_complete = not starred and "**" not in keywords
    given = [(key, value, named.get(key)) for key, value in keywords.items() if key != "**"]
    for signature in signatures:
        arguments = _match(signature, positional, given, is_complete)
        if arguments is not None:
            return BoundCall(signature, tuple(arguments), is_complete)
    return None


def _match(
    signature: Signature,
    positional: Sequence[tuple[Value, ast.expr | None]],
    named: Sequence[tuple[str, Value, ast.expr | None]],
    is_complete: bool,
) -> list[Argument] | None:
    by_position = [parameter for parameter in signature.parameters if parameter.kind in ("positional", "plain")]
    rest = next((parameter for parameter in signature.parameters if parameter.kind == "rest"), None)
    others = next((parameter for parameter in signature.parameters if parameter.kind == "keywords"), None)
    arguments = []
    for index, (value, expression) in enumerate(positional):
        parameter = by_position[index] if index < len(by_position) else rest
        if parameter is None:
            return None
        arguments.append(Argument(parameter, value, expression))
    taken = {argument.parameter.name for argument in arguments}
    by_name = {
        parameter.name: parameter for parameter in signature.parameters if parameter.kind in ("plain", "keyword")
    }
    for name, value, expression in named:
        found = by_name.get(name) or by_name.get(_NUMPY_NAMES.get(name, "")) or others
        if found is None or found.name in taken:
            return None
        arguments.append(Argument(found, value, expression))
    bound = {argument.parameter.name for argument in arguments}
    required = (p.name for p in signature.parameters if not p.optional)
    if is_complete and any(name not in bound for name in required):
        return None
    return arguments if all(_fits(argument) for argument in arguments) else None


def _fits(argument: Argument) -> bool:
    """Return whether a value may be an argument for a parameter of this word."""
    word, value = argument.parameter.word.name, argument.value
    if argument.parameter.kind in ("rest", "keywords"):
        return True
    if word in _PLAIN_WORDS:
        return not isinstance(value, Tensor) or value.may_be_number
    if word in _TENSOR_WORDS:
        is_text = isinstance(value, (Text, DeviceValue, DType)) or (
            isinstance(value, Const) and isinstance(value.value, str)
        )
        is_number = isinstance(value, Number) or (isinstance(value, Const) and isinstance(value.value, (int, float)))
        return not (is_text or (word != "Scalar" and is_number))
    return True
