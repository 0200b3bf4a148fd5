"""Checks of ``out=`` on another device than the inputs.

Most operators fail in their first inner call.  Composites that copy their result into ``out`` check it explicitly
(``checkSameDevice`` in aten/src/ATen/native/LinearAlgebraUtils.h and others).  Of 1,218 calls with ``out=`` on another
device, PyTorch 2.13 accepts only those of the two operators in :data:`_ANY_DEVICE` (docs/development/conformance.md).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .state import state
from .tags import CPU, UNASSIGNED, get_tag, iter_tensors, reported_device

__all__ = ["check_output_device", "check_outputs"]

_ANY_DEVICE = {torch.bernoulli, torch.lu}


def _outputs(out: Any) -> list[Tensor]:
    return list(iter_tensors((out,)))


def check_outputs(func: Any, args: Any, kwargs: Any) -> None:
    """Check the outputs after a call with ``out=`` that passed all inner checks.

    Raises:
        RuntimeError: an output is on another device than the first input.

    """
    if not state.checks or func in _ANY_DEVICE:
        return
    inputs = [*iter_tensors(args), *iter_tensors([value for key, value in kwargs.items() if key != "out"])]
    if not inputs or get_tag(inputs[0]) is UNASSIGNED:
        return
    for output in _outputs(kwargs["out"]):
        if get_tag(output) is not get_tag(inputs[0]) and get_tag(output) is not UNASSIGNED:
            raise RuntimeError(
                f"{func.__name__}: Expected result and input tensors to be on the same device, but got result on "
                f"{reported_device(output)} and input on {reported_device(inputs[0])}"
            )


def check_output_device(out: Any, tag: torch.device | None) -> None:
    """Check that ``device=`` and ``out=`` of a factory agree (torch/csrc/utils/out_types.cpp).

    Raises:
        RuntimeError: their device types differ.

    """
    for output in _outputs(out):
        expected, found = (tag or CPU).type, reported_device(output).type
        if state.checks and expected != found:
            raise RuntimeError(f"device type {expected} does not match device type of out parameter ({found})")
