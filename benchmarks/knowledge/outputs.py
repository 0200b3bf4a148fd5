"""Examples of ``out=``: the output on the CPU, the inputs on the accelerator."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from benchmarks.knowledge.calls import examples, function
from benchmarks.knowledge.database import entries
from benchmarks.knowledge.examples import Example, Operand, moved

__all__ = ["output_examples"]


def output_examples(name: str, qualified: str) -> Iterator[Example]:
    """Yield examples of a function with ``out=``."""
    if not any(op.supports_out for op in entries(qualified)):
        return
    for example in examples(Example("out=", name, (), ""), qualified, function(name), fewest=1):
        outputs = _outputs(example)
        if outputs:
            yield _with_outputs(example, outputs)


def _outputs(example: Example) -> list[Tensor] | None:
    """Return the tensors that a call returns on the CPU; None if it fails or returns something else."""
    names: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(example.program(range(len(example.operands))), names)
    except Exception:
        return None
    result = names["result"]
    found = list(result) if isinstance(result, (tuple, list)) else [result]
    return found if all(isinstance(item, Tensor) and item.layout == torch.strided for item in found) else None


def _empty(tensor: Tensor) -> str:
    shape = ", ".join(map(str, tensor.shape)) or "()"
    dtype = "" if tensor.dtype == torch.float32 else f", dtype={tensor.dtype}"
    return f"torch.empty({shape}{dtype})"


def _with_outputs(example: Example, outputs: list[Tensor]) -> Example:
    names = ["out"] if len(outputs) == 1 else [f"out_{number}" for number in range(len(outputs))]
    made: list[Operand] = [moved(name, _empty(tensor)) for name, tensor in zip(names, outputs, strict=True)]
    given = names[0] if len(names) == 1 else f"({', '.join(names)})"
    first = len(example.operands)
    return example._replace(
        operands=(*example.operands, *made),
        statement=f"{example.statement.removeprefix('result = ')[:-1]}, out={given})",
        broken=(frozenset(range(first, first + len(made))),),
    )
