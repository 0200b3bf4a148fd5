"""What fails on other accelerators in code that a condition on CUDA keeps from them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping

from codemods.portability._cuda_api import cuda_function, is_feature
from codemods.portability._torch_names import imported_names, named
from codemods.portability.places.cuda_place import CudaPlace
from devfix.syntax.device_literals import is_cuda_literal
from devfix.syntax.tree import SourceTree

__all__ = ["DEFAULT_TYPE", "requirement"]

DEFAULT_TYPE = "torch.set_default_tensor_type"  # on other accelerators, new tensors would stay on the CPU
_DISTRIBUTED = "torch.nn.parallel.DistributedDataParallel"
_CUDA_WORD = re.compile(r"cuda|gpu|nccl|apex|triton", re.IGNORECASE)


def requirement(
    tree: SourceTree,
    nodes: Iterable[ast.AST],
    known: Collection[ast.expr],
    places: Mapping[ast.expr, CudaPlace],
    *,
    is_of_value: bool,
) -> str:
    """Return why code needs CUDA although its places are ported; empty if it does not.

    Args:
        tree: the file.
        nodes: the code.
        known: the expressions that are ported.
        places: the places of the file, by their expressions.
        is_of_value: the code runs where a value is on CUDA, so that a function may be a kernel.

    """
    for node in nodes:
        if isinstance(node, ast.expr) and node in places and places[node].reason:
            return f"the code under it stays: {places[node].reason}"
        if node in known or (any(outer in known for outer in tree.ancestors(node)) and not isinstance(node, ast.Call)):
            continue
        name = _cuda_name(tree, node, is_of_value=is_of_value)
        if name:
            return f"the code under it requires CUDA: `{name}`"
    return ""


def _cuda_name(tree: SourceTree, node: ast.AST, *, is_of_value: bool) -> str:
    """Return the name of what fails on another accelerator; empty if nothing is known to."""
    match node:
        case ast.Call(func=func, keywords=keywords) if named(tree, func) == "torch.load":
            return "" if any(each.arg == "map_location" for each in keywords) else "torch.load without map_location"
        case ast.Assert(test=test) if "is_cuda" in tree.source(test):
            return tree.source(test)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"))) if is_of_value:
            return ast.unparse(node.func)
        case ast.Call(func=func):
            name = named(tree, func)
            if name.startswith("torch."):
                function = cuda_function(name)
                fails = is_feature(name) or (function is not None and function.requires_cuda)
                typed = any(isinstance(arg, ast.Constant) and "cuda" in str(arg.value) for arg in node.args)
                return name if fails or (typed and name == DEFAULT_TYPE) or name == _DISTRIBUTED else ""
            text = ast.unparse(func)
            called = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if called != "cuda" and (_CUDA_WORD.search(called) or (name and _CUDA_WORD.search(text))):
                return text
            if is_of_value and (name or isinstance(func, ast.Name) or called == "apply" or _is_imported(tree, func)):
                return text  # of the program or a library: it may be an extension
        case ast.Constant(value="nccl"):
            return "nccl"
        case ast.Constant() if is_cuda_literal(node):
            return str(node.value)
        case ast.Attribute() if not isinstance(tree.parents[node], (ast.Call, ast.Attribute)):
            name = named(tree, node)
            return name if name.startswith("torch.cuda.") else ""
    return ""


def _is_imported(tree: SourceTree, func: ast.expr) -> bool:
    """Return whether a function is one of an imported module, such as an extension beside the file."""
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Name) and func.id in imported_names(tree)
