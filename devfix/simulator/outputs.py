"""``out=`` on another device than the inputs.

Most operators notice in their first inner call; composites that compute first and copy into ``out`` have a check of
their own (``checkSameDevice`` in aten/src/ATen/native/LinearAlgebraUtils.h and others).  Of 1,218 calls with ``out=``
elsewhere, PyTorch 2.13 refuses all but those of the two operators in :data:`_ANY_DEVICE` (docs/conformance.md).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .state import state
from .tags import CPU, WEAK, get_tag, iter_tensors, reported_device

__all__ = ["check_output_device", "check_outputs"]

_ANY_DEVICE = {torch.bernoulli, torch.lu}


def _listed(out: Any) -> list[Tensor]:
    return list(iter_tensors((out,)))


def check_outputs(func: Any, args: Any, kwargs: Any) -> None:
    """Called after a call with ``out=`` that no inner check has refused.

    Raises:
        RuntimeError: an output is elsewhere than the first input.

    """
    if not state.checks or func in _ANY_DEVICE:
        return
    inputs = [*iter_tensors(args), *iter_tensors([value for key, value in kwargs.items() if key != "out"])]
    if not inputs or get_tag(inputs[0]) is WEAK:
        return
    for output in _listed(kwargs["out"]):
        if get_tag(output) is not get_tag(inputs[0]) and get_tag(output) is not WEAK:
            raise RuntimeError(
                f"{func.__name__}: Expected result and input tensors to be on the same device, but got result on "
                f"{reported_device(output)} and input on {reported_device(inputs[0])}"
            )


def check_output_device(out: Any, tag: torch.device | None) -> None:
    """``device=`` and ``out=`` of a factory must agree (torch/csrc/utils/out_types.cpp).

    Raises:
        RuntimeError: they name different kinds of device.

    """
    for output in _listed(out):
        here, there = (tag or CPU).type, reported_device(output).type
        if state.checks and here != there:
            raise RuntimeError(f"device type {here} does not match device type of out parameter ({there})")
