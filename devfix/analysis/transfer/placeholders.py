"""Placeholders: empty tensors that another value replaces before an operation needs elements.

``self.mask = torch.Tensor()`` is what an attribute holds until a mask is there.  An operation on its elements fails by
its shape, on any device, so the path on which it still holds the empty tensor is none that runs.  Only concatenation
accepts an empty tensor, on the same device.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devfix.models.index import built_in

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.analysis.domain.values import Origin

__all__ = ["is_placeholder"]

_CONCATENATIONS = frozenset("cat concat concatenate hstack vstack dstack".split())


def is_placeholder(interp: Interpreter, operation: str, origins: Sequence[Origin]) -> bool:
    """Return whether an operand was created empty, in an operation that needs elements."""
    if not origins or operation.rpartition(".")[2].strip("()") in _CONCATENATIONS:
        return False
    sources = interp.observations.sources
    return all(
        origin.kind == "made" and _is_empty(sources[origin.site_id].point.node, bool(origin.attribute_id))
        for origin in origins
    )


def _is_empty(node: ast.AST, is_attribute: bool) -> bool:
    """Return whether a call creates a tensor without elements: ``torch.Tensor()``, ``torch.empty(0)``.

    An attribute may also hold an empty table, ``torch.zeros(0, 0)``.
    """
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", "")
    if not node.args:
        return not node.keywords and name.endswith("Tensor")
    first = node.args[0]
    if isinstance(first, ast.List) and name.endswith("ensor"):
        return not first.elts  # the data
    sizes = first.elts if isinstance(first, (ast.List, ast.Tuple)) else [first]
    sizes = [*sizes, *node.args[1:]]
    zeros = [isinstance(size, ast.Constant) and size.value == 0 for size in sizes]  # (0, 4) is a batch of none
    is_zero = all(zeros) and (len(sizes) == 1 or (len(sizes) > 1 and is_attribute))
    is_zero |= len(sizes) > 1 and zeros[-1] and not all(zeros)  # rows without features
    return is_zero and (name.endswith("Tensor") or _takes_size(name))


def _takes_size(name: str) -> bool:
    model = built_in().exact(f"torch.{name}")
    signatures = model.signatures if model is not None else ()
    return any(each.parameters and each.parameters[0].name == "size" for each in signatures)
