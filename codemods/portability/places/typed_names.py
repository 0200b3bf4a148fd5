"""Names of CUDA's tensor types: ``Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor``.

No other accelerator has such types. The name becomes the type of the CPU, and what it makes is moved: this is the same
with CUDA, where a type makes tensors of the same values, dtype and device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._torch_names import imported_names, named, replaced_names
from codemods.portability.places.cuda_place import CudaPlace, Piece
from codemods.portability.places.cuda_places import holds_sizes, is_filled, move_piece, typed_constructor
from devfix.syntax.tree import SourceTree

__all__ = ["typed_names"]


def typed_names(tree: SourceTree, *, is_library: bool) -> dict[ast.expr, list[CudaPlace]]:
    """Return the places of each name of a CUDA type, by the value that is assigned to it.

    They are the value and every use of the name. A name is left out if it has other values, if other files may import
    it, or if a use is neither a call with a size or with numbers of NumPy, nor the argument of ``type``.

    Args:
        tree: the file.
        is_library: files that are not known may import the file.

    """
    found: dict[ast.expr, list[CudaPlace]] = {}
    for node in tree.nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            continue
        dtype, name = _type_of(tree, node.value), node.targets[0].id
        if not dtype or dtype == "float64" or name in imported_names(tree):  # MPS has no float64
            continue
        if replaced_names(tree).get(name) != 1 or (is_library and tree.parents[node] is tree.tree):
            continue
        uses = [_use(tree, each, dtype) for each in _reads(tree, name)]
        if all(uses):
            span = tree.span(node.value)
            whole: Piece = (
                (span.line, span.column),
                (span.end_line, span.end_column),
                lambda _, value=node.value: _cpu_type(tree, value),  # type: ignore[misc]  # a default binds the value
            )
            kept = [use for use in uses if use is not None]
            found[node.value] = [CudaPlace(tree, node.value, pieces=(whole,)), *kept]
    return found


def _type_of(tree: SourceTree, value: ast.expr) -> str:
    """Return the dtype of a CUDA type, alone or with that of the CPU for the other case; empty for other values."""
    if isinstance(value, ast.IfExp):
        other = typed_constructor(named(tree, value.orelse).replace("torch.", "torch.cuda.", 1))
        dtype = typed_constructor(named(tree, value.body))
        return dtype if dtype == other else ""
    return typed_constructor(named(tree, value))


def _cpu_type(tree: SourceTree, value: ast.expr) -> str:
    return tree.source(value.orelse) if isinstance(value, ast.IfExp) else tree.source(value).replace(".cuda", "", 1)


def _reads(tree: SourceTree, name: str) -> Iterator[ast.Name]:
    for node in tree.nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _use(tree: SourceTree, name: ast.Name, dtype: str) -> CudaPlace | None:
    """Return the place of a use; ``None`` if it cannot follow a device."""
    outer = tree.parents[name]
    if not isinstance(outer, ast.Call):
        return None
    if outer.func is name:
        if outer.keywords or not _is_made(tree, outer):
            return None
        span = tree.span(outer)
        end = (span.end_line, span.end_column)
        return CudaPlace(tree, outer, pieces=((end, end, lambda device: f".to({device})"),))
    if (
        isinstance(outer.func, ast.Attribute)
        and outer.func.attr == "type"
        and outer.args == [name]
        and not outer.keywords
    ):
        return CudaPlace(tree, outer, pieces=(move_piece(tree, outer, lambda device: f".to({device}, torch.{dtype})"),))
    return None


def _is_made(tree: SourceTree, call: ast.Call) -> bool:
    """Return whether a call makes a tensor from sizes or numbers; a tensor would have to be on the same device."""
    if len(call.args) != 1:
        return not any(isinstance(each, ast.Starred) for each in call.args[1:])
    one = call.args[0]
    is_numpy = isinstance(one, ast.Call) and named(tree, one.func).startswith("numpy.")
    return is_numpy or holds_sizes(one) or is_filled(tree, call)
