"""Overloads from PyTorch's own stub files, ``torch/_C/_VariableFunctions.pyi`` and ``torch/_C/__init__.pyi``."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import torch

from .drafts import OPERAND, TRUE, Draft, Parameter

__all__ = ["BY_NAME", "draft_of", "functions_of_torch", "methods", "word_of"]

_FOLDER = Path(torch.__file__).parent / "_C"

_WORDS = {
    "_int": "int",
    "int": "int",
    "SymInt": "int",
    "_float": "float",
    "float": "float",
    "Number": "float",
    "_complex": "float",
    "complex": "float",
    "_bool": "bool",
    "bool": "bool",
    "str": "str",
    "Generator": "Generator",
    "DeviceLikeType": "Device",
    "_device": "Device",
    "Device": "Device",
}
#: Words of parameters by name, where annotations do not say them.
BY_NAME = {"device": "Device", "generator": "Generator"}
_RESULTS = {"_int": "int", "_float": "float", "_bool": "bool", "Number": "float", "int": "int", "bool": "bool"}


def _parts(annotation: ast.expr | None) -> list[ast.expr]:
    """Members of a union, without None: ``Tensor | None``, ``Optional[Tensor]``, ``Union[Tensor, Number]``."""
    if isinstance(annotation, ast.BinOp):
        return [*_parts(annotation.left), *_parts(annotation.right)]
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in ("Optional", "Union"):
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return [part for each in inner for part in _parts(each)]
    if annotation is None or (isinstance(annotation, ast.Constant) and annotation.value is None):
        return []
    return [annotation]


def word_of(annotation: ast.expr | None) -> tuple[str, bool]:
    """Return the word of an annotation, and whether an operand may be a number."""
    if annotation is not None and ast.unparse(annotation) == TRUE:
        return TRUE, False
    texts = [ast.unparse(part).replace("torch.", "") for part in _parts(annotation)]
    plain = {_WORDS.get(text, "") for text in texts}
    if any("Tensor" in text for text in texts):
        return OPERAND, bool(plain & {"int", "float"})
    if plain <= {"int", "float"} and plain:
        return ("int" if plain == {"int"} else "float"), False
    return (plain.pop() if len(plain) == 1 else ""), False


def _is_by_name(node: ast.FunctionDef) -> bool:
    """Whether an overload takes names of dimensions."""
    return any(
        "EllipsisType" in ast.unparse(each.annotation)
        for each in (*node.args.args, *node.args.kwonlyargs)
        if each.annotation is not None
    )


def _result(annotation: ast.expr | None) -> str:
    text = "" if annotation is None else ast.unparse(annotation)
    name = text.replace("torch.", "").replace("builtins.", "")
    if name.startswith("return_types."):
        return f"tuple[{', '.join([OPERAND] * _fields(name.removeprefix('return_types.')))}]"
    if name.startswith(("tuple[Tensor, ...]", "Sequence[Tensor]", "list[Tensor]", "Tuple[Tensor, ...]")):
        return f"list[{OPERAND}]"
    if name.startswith(("tuple[", "Tuple[")) and "Tensor" in name:
        inner = ast.parse(name, mode="eval").body.slice  # type: ignore[attr-defined]  # a Subscript
        return f"tuple[{', '.join(_result(each) for each in inner.elts)}]"
    if "Tensor" in name or name == "Self":
        return OPERAND
    return _RESULTS.get(name, name if name in ("str", "None") else "Any")


def _fields(name: str) -> int:
    return int(getattr(torch.return_types, name).n_sequence_fields)


def draft_of(node: ast.FunctionDef, *, method: bool) -> Draft:
    """Return the overload that a definition in a stub describes."""
    arguments, parameters = node.args, []
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    for index, each in enumerate(positional):
        if method and index == 0:
            parameters.append(Parameter("self", OPERAND))
            continue
        parameters.append(_parameter(each, "plain", index >= required))
    if arguments.vararg is not None:
        parameters.append(_parameter(arguments.vararg, "rest", True))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(_parameter(each, "keyword", default is not None))
    if arguments.kwarg is not None:
        parameters.append(Parameter(arguments.kwarg.arg, "", "keywords", True))
    return Draft(tuple(parameters), _result(node.returns), not method and _is_deprecated(node, parameters))


def _is_deprecated(node: ast.FunctionDef, parameters: list[Parameter]) -> bool:
    """Whether it is an old order of parameters: functions call their first operand ``input`` otherwise."""
    return any(each.name == "self" and each.word == OPERAND for each in parameters)


def _parameter(argument: ast.arg, kind: str, optional: bool) -> Parameter:
    word, numbers = word_of(argument.annotation)
    if argument.arg == "out" and word == OPERAND:
        return Parameter("out", "Out", kind, True)
    return Parameter(argument.arg, word or BY_NAME.get(argument.arg, ""), kind, optional, numbers)


def _renamed(draft: Draft) -> Draft:
    """Call the number that a function takes first ``input``, as the tensor that may stand there."""
    if draft.deprecated:
        return draft
    return Draft(
        tuple(
            Parameter("input", each.word, each.kind, each.optional, each.numbers) if each.name == "self" else each
            for each in draft.parameters
        ),
        draft.result,
    )


def _collected(body: list[ast.stmt], *, method: bool) -> dict[str, list[Draft]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not _is_property(node):
            found.setdefault(node.name, []).append(node)
    return {
        name: [
            draft if method else _renamed(draft)
            for draft in (draft_of(node, method=method) for node in nodes if not _is_by_name(node) or len(nodes) == 1)
        ]
        for name, nodes in found.items()
    }


def _is_property(node: ast.FunctionDef) -> bool:
    return any(not ast.unparse(each).endswith("overload") for each in node.decorator_list)


@functools.cache
def functions_of_torch() -> dict[str, list[Draft]]:
    """Overloads of the functions in the torch namespace, by name."""
    tree = ast.parse((_FOLDER / "_VariableFunctions.pyi").read_text(encoding="utf-8"))
    return _collected(tree.body, method=False)


@functools.cache
def methods() -> dict[str, list[Draft]]:
    """Overloads of tensor methods, by name."""
    tree = ast.parse((_FOLDER / "__init__.pyi").read_text(encoding="utf-8"))
    base = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "TensorBase")
    found = _collected(base.body, method=True)
    for name in _CONVERSIONS:
        found[name] = [Draft((*each.parameters, _MEMORY_FORMAT), each.result) for each in found[name]]
    return found


# Methods whose keyword is in their documentation only (https://docs.pytorch.org/docs/stable/tensors.html).
_CONVERSIONS = "bfloat16 bool byte char double float half int long short".split()
_MEMORY_FORMAT = Parameter("memory_format", "", "plain", True)
