"""Overloads of PyTorch's Python functions, from their own signatures or from those that torch.overrides lists."""

from __future__ import annotations

import ast
import inspect
import warnings
from typing import Any

from torch.overrides import get_testing_overrides

from .drafts import OPERAND, Draft, Parameter
from .stubs import BY_NAME, word_of

__all__ = ["draft", "is_python"]

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "plain",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "plain",
    inspect.Parameter.VAR_POSITIONAL: "rest",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "keywords",
}
# Parameters that take tensors where no annotation says so.
_TENSORS = frozenset("self input tensor tensors other target weight bias operands mask mat A B x y".split())


def is_python(function: Any) -> bool:
    """Whether a function is written in Python."""
    return inspect.isfunction(function)


def draft(name: str, function: Any) -> Draft | None:
    """Return a function's overload; None if its signature cannot be had."""
    signature = _signature(function)
    if signature is None:
        return None
    parameters = [_parameter(each) for each in signature.parameters.values()]
    if name.startswith("torch.Tensor.") and parameters:
        parameters[0] = Parameter("self", OPERAND)
    return Draft(tuple(parameters), _result(signature))


def _signature(function: Any) -> inspect.Signature | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = inspect.signature(function)
        except (TypeError, ValueError):
            found = None
        vague = found is None or {"args", "kwargs"} & found.parameters.keys()
        example = get_testing_overrides().get(function) if vague else None
    return inspect.signature(example) if example is not None else found


def _annotation(value: Any) -> ast.expr | None:
    if value is inspect.Parameter.empty:
        return None
    text = value if isinstance(value, str) else inspect.formatannotation(value)
    try:
        return ast.parse(text.replace("typing.", ""), mode="eval").body
    except SyntaxError:
        return None


def _parameter(each: inspect.Parameter) -> Parameter:
    kind = _KINDS[each.kind]
    optional = each.default is not inspect.Parameter.empty or kind in ("rest", "keywords")
    annotation = _annotation(each.annotation)
    word, numbers = word_of(annotation)
    if annotation is None and kind != "keywords" and each.name in _TENSORS:
        word = OPERAND
    if each.name == "out":
        word = "Out"
    return Parameter(each.name, word or BY_NAME.get(each.name, ""), kind, optional, numbers)


def _result(signature: inspect.Signature) -> str:
    if signature.return_annotation is None:
        return "None"
    annotation = _annotation(signature.return_annotation)
    if annotation is None:
        return ""
    text = ast.unparse(annotation).replace("torch.", "")
    if text.startswith(("list[Tensor", "List[Tensor", "tuple[Tensor, ...", "Tuple[Tensor, ...")):
        return f"list[{OPERAND}]"
    if text.startswith(("tuple[", "Tuple[")) and isinstance(annotation, ast.Subscript):
        inner = annotation.slice
        members = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        return f"tuple[{', '.join(OPERAND if 'Tensor' in ast.unparse(each) else 'Any' for each in members)}]"
    if text == "Tensor":
        return OPERAND
    return text if text in ("int", "float", "bool", "str", "None") else ""
