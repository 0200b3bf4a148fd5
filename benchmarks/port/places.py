"""Places of a program that fail without CUDA, counted by syntax.

A place counts unless a condition on CUDA guards it: an enclosing ``if`` or conditional expression whose test mentions
``cuda`` or ``gpu``, and is no ``!=``. What is only compared with, such as ``device.type == "cuda"``, is no place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["count_places", "places"]

_DEVICE = re.compile(r"cuda(:\d*)?\Z")
_GUARD = re.compile(r"cuda|gpu", re.IGNORECASE)
_TYPE = re.compile(r"torch\.cuda\.\w+Tensor\Z")

#: Functions and classes of ``torch.cuda`` that raise on a machine without CUDA.
_FAILING = frozenset(
    """
    Event Stream current_blas_handle current_device current_stream default_stream device get_device_capability
    get_device_name get_device_properties get_rng_state get_rng_state_all ipc_collect mem_get_info memory_snapshot
    reset_accumulated_memory_stats reset_peak_memory_stats set_device set_rng_state stream synchronize utilization
    """.split()
)


def count_places(text: str) -> int:
    """Return the number of places in a file; 0 if it is no Python of today."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return 0
    return sum(1 for _ in places(tree))


def places(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the places in a tree."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and _names_cuda(node, parents) and not _is_guarded(node, parents):
            yield node


def _names_cuda(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="cuda", value=receiver)):
            return ast.unparse(receiver) != "torch"
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="torch"), attr="cuda"), attr=name):
            return name.endswith("Tensor") or name in _FAILING
        case ast.Constant(value=str(text)):
            return bool(_TYPE.match(text)) or (bool(_DEVICE.match(text)) and _is_device(node, parents))
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text.startswith("cuda:") and _is_device(node, parents)
    return False


def _is_device(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether a text is used as a device: not compared, and no key of a mapping or attribute's name."""
    parent = parents.get(node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        return parent.func.id not in ("getattr", "hasattr", "setattr", "isinstance", "print")
    return isinstance(parent, (ast.Call, ast.keyword, ast.Assign, ast.AnnAssign, ast.arguments, ast.Return, ast.IfExp))


def _is_guarded(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    child = node
    while (parent := parents.get(child)) is not None:
        if isinstance(parent, ast.Compare):
            return True
        if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and child is not parent.test and _guards(parent.test):
            return True
        if isinstance(parent, ast.BoolOp) and child is not parent.values[0] and _guards(parent):
            return True
        child = parent
    return False


def _guards(test: ast.expr) -> bool:
    text = ast.unparse(test)
    return bool(_GUARD.search(text)) and "!=" not in text
