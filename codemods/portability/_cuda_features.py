"""Code that has no equivalent without CUDA, and checks that refuse to run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from codemods.portability._torch_names import is_guarded, leaves, named, tries_without
from devfix.syntax.tree import SourceTree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["cuda_features", "is_feature", "refusals"]

_TABLE = Path(__file__).with_name("cuda_only_packages.toml")
_LOADERS = ("torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline")
_EXTENSION = "an extension in CUDA is compiled here: other devices need the operation in PyTorch"


@lru_cache(maxsize=1)
def _tables() -> tuple[dict[str, str], dict[str, str]]:
    rows = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return rows["packages"], rows["names"]


def is_feature(name: str) -> bool:
    """Return whether a name of PyTorch belongs to a feature of CUDA without an equivalent, such as graphs."""
    return name in _tables()[1]


def cuda_features(tree: SourceTree) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield imports and uses without an equivalent: the node, its name, and the reason why it stays."""
    packages, names = _tables()
    for node in tree.nodes:
        match node:
            case ast.Import(names=aliases) if not tries_without(tree, node):
                for alias in aliases:
                    if alias.name.partition(".")[0] in packages:
                        yield node, alias.name, packages[alias.name.partition(".")[0]]
            case ast.ImportFrom(module=str(module), level=0) if not tries_without(tree, node):
                if module.partition(".")[0] in packages:
                    yield node, module, packages[module.partition(".")[0]]
            case ast.Call(func=func):
                name = named(tree, func)
                if name in _LOADERS and ".cu" in tree.source(node) and not is_guarded(tree, node):
                    yield node, name, _EXTENSION
                elif name in names and not is_guarded(tree, node):
                    yield node, name, names[name]


def refusals(tree: SourceTree) -> Iterator[ast.stmt]:
    """Yield the statements that end a program without CUDA: ``assert``, ``raise`` and ``sys.exit``."""
    for node in tree.nodes:
        match node:
            case ast.Assert(test=test) if _asks(tree, test):
                yield node
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test), body=body, orelse=[]) if _asks(tree, test):
                if leaves(body[-1]) and isinstance(body[-1], (ast.Raise, ast.Expr)):
                    yield node


def _asks(tree: SourceTree, test: ast.expr) -> bool:
    return isinstance(test, ast.Call) and named(tree, test.func) == "torch.cuda.is_available"
