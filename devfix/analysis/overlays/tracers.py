"""Functions that run a module once on inputs that they are given: exporters, tracers, profilers of operations.

The inputs stay where they are, so they must be on the device of the module's weights.

- https://docs.pytorch.org/docs/stable/generated/torch.jit.trace.html
- https://docs.pytorch.org/docs/stable/onnx.html
- https://docs.pytorch.org/docs/stable/export.html
- https://pypi.org/project/thop/
- https://detectron2.readthedocs.io/en/latest/modules/fvcore.html
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.values import (
    UNKNOWN,
    Keywords,
    Number,
    Tensor,
    TupleValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS"]

#: The parameters for the module and for its inputs, by the function's full name.
_PARAMETERS = {
    "torch.jit.trace": ("func", "example_inputs"),
    "torch.onnx.export": ("model", "args"),
    "torch.export.export": ("mod", "args"),
    "thop.profile": ("model", "inputs"),
    "fvcore.nn.FlopCountAnalysis": ("model", "inputs"),
    "fvcore.nn.flop_count": ("model", "inputs"),
}


def _run(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Call the module with its inputs, and return what the function says about it."""
    parameters = _PARAMETERS[name]
    given = dict(zip(parameters, args, strict=False)) | keywords
    written = dict(zip(parameters, node.args, strict=False)) | {each.arg: each.value for each in node.keywords}
    module, inputs = (given.get(parameter, UNKNOWN) for parameter in parameters)
    model, tensors = (written.get(parameter) for parameter in parameters)
    items = inputs.items if isinstance(inputs, TupleValue) else (inputs,)
    texts = tensors.elts if isinstance(tensors, ast.Tuple) else [tensors]
    is_written = model is not None and len(texts) == len(items) and not any(isinstance(e, ast.Starred) for e in texts)
    if is_written and module_at(interp, module) is not None and all(isinstance(item, Tensor) for item in items):
        assert model is not None
        call = ast.Call(model, [text for text in texts if text is not None], [])
        interp.call(module, list(items), {}, ast.copy_location(call, node))
    return TupleValue((Number(), Number())) if name == "thop.profile" else Unknown(f"{name}()")


OVERLAYS: dict[str, TransferFunction] = dict.fromkeys(_PARAMETERS, _run)
