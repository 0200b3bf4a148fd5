"""Options and fields for a device whose default is CUDA."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from codemods.portability._declared_device import torch_import
from codemods.portability._device_choice import choice_without_cuda, device_choice
from codemods.portability._torch_names import imports_torch, must_ask_late, named
from devfix.model import Edit, Fix, PortTargets, ReplaceExpression
from devfix.syntax.device_literals import is_cuda_literal
from devfix.syntax.tree import SourceTree

__all__ = ["CudaDefault", "cuda_defaults"]

_DEVICE = re.compile(r"-{0,2}(?:\w+[-_])?device")
_TYPE = re.compile(r"torch\.cuda\.\w+Tensor")
_DECLARES = ("add_argument", "option")
_EARLY = "the program selects devices or forks, which must precede the first query for CUDA"
_NO_TORCH = "torch has no name in the whole file"
_UNREACHED = "no program among the checked files reads this default"


@dataclass(frozen=True, eq=False)
class CudaDefault:
    """A literal CUDA device that is the default of an option or field; ``reason`` says why it stays."""

    tree: SourceTree
    node: ast.Constant
    name: str
    fix: Fix | None = None
    reason: str = ""


def cuda_defaults(trees: Sequence[SourceTree], targets: PortTargets, is_library: bool) -> Iterator[CudaDefault]:
    """Yield the defaults of a program's files."""
    is_early = any(map(must_ask_late, trees))
    for tree in trees:
        if "cuda" not in tree.text:
            continue
        for name, node in sorted(_defaults(tree), key=lambda found: tree.span(found[1])):
            added = [] if imports_torch(tree) else torch_import(tree)
            reason = _NO_TORCH if not imports_torch(tree) and not added else _EARLY if is_early else ""
            if not reason and is_library:
                reason = _UNREACHED
            yield CudaDefault(tree, node, name, None if reason else _fix(tree, node, targets, added), reason)


def _fix(tree: SourceTree, node: ast.Constant, targets: PortTargets, added: Sequence[Edit]) -> Fix:
    literal = tree.source(node)
    code = device_choice(targets)
    if _TYPE.fullmatch(str(node.value)):
        code = f"{literal} if torch.cuda.is_available() else {literal.replace('.cuda', '', 1)}"
    elif node.value != "cuda":
        code = f"{literal} if torch.cuda.is_available() else {choice_without_cuda(code)}"
    change = ReplaceExpression(tree.path, tree.span(node), code)
    return Fix("let the default follow what is available", (*added, change))


def _defaults(tree: SourceTree) -> Iterator[tuple[str, ast.Constant]]:
    for node in tree.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args, keywords=keywords) if (
                name in _DECLARES
            ):
                names = [each.value for each in args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
                option = next((each for each in names if _DEVICE.fullmatch(each)), None)
                for keyword in keywords:
                    if option and keyword.arg == "default" and is_cuda_literal(keyword.value):
                        yield option, keyword.value
                    elif names and keyword.arg == "default" and _is_type(keyword.value):
                        yield names[-1], keyword.value
            case ast.ClassDef(body=body) if _is_dataclass(tree, node):
                for stmt in body:
                    if isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
                        name, value = tree.source(stmt.target), _default_of(stmt.value)
                        if _DEVICE.fullmatch(name) and is_cuda_literal(value):
                            yield name, value


def _default_of(value: ast.expr) -> ast.expr:
    """Return the default of a dataclass's field."""
    if isinstance(value, ast.Call):
        return next((each.value for each in value.keywords if each.arg == "default"), value)
    return value


def _is_type(node: ast.expr) -> TypeGuard[ast.Constant]:
    """Return whether an expression is the name of a type of tensors on CUDA: ``"torch.cuda.FloatTensor"``."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_TYPE.fullmatch(node.value))


def _is_dataclass(tree: SourceTree, node: ast.ClassDef) -> bool:
    functions = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    return any(named(tree, each) == "dataclasses.dataclass" for each in functions)
