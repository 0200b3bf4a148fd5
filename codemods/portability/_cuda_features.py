"""Code that has no equivalent without CUDA."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._cuda_api import EXTENSION_LOADERS, without_equivalent
from codemods.portability._guards import is_guarded, tries_without
from codemods.portability._torch_names import named
from devfix.syntax.tree import SourceTree

__all__ = ["cuda_features"]

_EXTENSION = "an extension in CUDA is compiled here: other devices need the operation in PyTorch"


def cuda_features(tree: SourceTree) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield imports and uses without an equivalent: the node, its name, and the reason why it stays."""
    packages, names = without_equivalent()
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
                if name in EXTENSION_LOADERS and ".cu" in tree.source(node) and not is_guarded(tree, node):
                    yield node, name, _EXTENSION
                elif name in names and not is_guarded(tree, node):
                    yield node, name, names[name]
