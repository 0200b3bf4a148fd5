"""NumPy's elementwise functions: of a tensor they return a tensor on the CPU, which may meet the accelerator again.

The result has the call as an origin (``wrapped``).  Where it meets a tensor on the accelerator, the program needs
PyTorch's function of the same meaning, not a copy of the argument.

https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html, and ``Tensor.__array_wrap__``
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import ACCELERATOR, CPU, Const, Number, Origin, Tensor
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import FunctionCalled
from devfix.analysis.scopes import visible
from devfix.model import Edit, ReplaceExpression

if TYPE_CHECKING:
    from devfix.analysis import Interpreter, Observations
    from devfix.analysis.domain.location import ProgramPoint

__all__ = ["SUBSCRIPTION", "calls_that_mix", "in_pytorch"]

_SAME_NAME = frozenset(
    "exp expm1 exp2 log log2 log10 log1p sqrt square abs sign sin cos tan sinh cosh tanh floor ceil trunc isnan isinf "
    "isfinite".split()
)
# https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
_NAMES = {name: name for name in _SAME_NAME} | {
    "absolute": "abs",
    "arctan": "atan",
    "arcsin": "asin",
    "arccos": "acos",
    "maximum": "maximum",
    "minimum": "minimum",
    "power": "pow",
}
_BOUNDS = {"maximum": "min", "minimum": "max"}  # keywords of ``torch.clamp`` that do the same with a number


@dataclass(frozen=True, eq=False)
class _ArrayCall:
    """A call of an elementwise function, and whether each of its arguments is a tensor, not a number."""

    number: int
    node: ast.Call
    function: str
    are_tensors: tuple[bool, ...]


def _note_call(interp: Interpreter, called: FunctionCalled) -> Tensor | None:
    """Record a call with an accelerator tensor; return the tensor that it would return for one on the CPU."""
    library, _, function = called.name.rpartition(".")
    if library != "numpy" or function not in _NAMES or called.keywords:
        return None
    tensors = [value for value in called.args if isinstance(value, Tensor) and value.is_certain]
    others = [value for value in called.args if not isinstance(value, Tensor)]
    if len(called.node.args) != len(called.args) or not all(isinstance(value, (Const, Number)) for value in others):
        return None
    if any(tensor.maybe_container for tensor in tensors) or all(tensor.device != ACCELERATOR for tensor in tensors):
        return None
    are_tensors = tuple(isinstance(value, Tensor) for value in called.args)
    call = _ArrayCall(interp.new_id(), called.node, function, are_tensors)
    number = interp.observations.record(call, key=called.node).number
    is_number = all(tensor.is_single_number for tensor in tensors)
    return Tensor(
        CPU,
        (Origin("wrapped", number),),
        maybe_zero_dim=all(tensor.maybe_zero_dim for tensor in tensors),
        is_single_number=is_number,
    )


SUBSCRIPTION = Subscription(FunctionCalled, _note_call)


def calls_that_mix(observations: Observations) -> frozenset[ast.Call]:
    """Return the calls of elementwise functions whose results meet tensors on the accelerator."""
    numbers = {
        origin.site_id
        for mismatch in observations.mismatches
        for operand in mismatch.cpu
        for origin in operand.origins
        if origin.kind == "wrapped"
    }
    return frozenset(call.node for call in observations.of(_ArrayCall) if call.number in numbers)


def in_pytorch(observations: Observations, point: ProgramPoint) -> Edit | None:
    """Return the edit to PyTorch's function: ``torch.exp(x)``, ``torch.clamp(x, min=0)`` for ``np.maximum(x, 0)``."""
    call = next((each for each in observations.of(_ArrayCall) if each.node is point.node), None)
    if call is None or "torch" not in visible(point, point.call_frame):
        return None
    tree, node = point.tree, call.node
    if call.function in _BOUNDS and not all(call.are_tensors):
        tensor, number = node.args if call.are_tensors[0] else node.args[::-1]
        text = f"torch.clamp({tree.source(tensor)}, {_BOUNDS[call.function]}={tree.source(number)})"
        return ReplaceExpression(tree.path, tree.span(node), text)
    if not call.are_tensors[0]:
        return None  # `np.power(2, x)`
    return ReplaceExpression(tree.path, tree.span(node.func), f"torch.{_NAMES[call.function]}")
