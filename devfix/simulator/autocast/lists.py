"""Lists of the operators that ``torch.autocast`` treats on accelerators, read from the header of the installed PyTorch.

``ATen/autocast_mode.h`` is part of every wheel and holds one macro per list, with one line per overload.
https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import torch

__all__ = ["policies"]

_LISTS = {
    "AT_FORALL_LOWER_PRECISION_FP": "low",
    "AT_FORALL_FP32": "float32",
    "AT_FORALL_FP32_SET_OPT_DTYPE": "float32 result",
    "AT_FORALL_PROMOTE": "widest",
}

#: Composite operators whose cuDNN kernels are in no macro (``_cudnn_rnn`` in aten/src/ATen/cudnn/RNN.cpp).
_RECURRENT = {
    f"aten::{name}.{form}": "low" for name in ("lstm", "gru", "rnn_tanh", "rnn_relu") for form in ("input", "data")
}


@lru_cache(maxsize=1)
def policies() -> dict[str, str]:
    """Return the policy of each listed overload (``aten::mm``); empty if the wheel has no headers."""
    path = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
    if not path.is_file():
        return {}
    found: dict[str, str] = {}
    text = path.read_text(encoding="utf-8").replace("\\\n", "\n")
    for block in re.split(r"^#define ", text, flags=re.MULTILINE)[1:]:
        policy = _LISTS.get(block.split("(", 1)[0])
        if policy is None:
            continue
        for name, overload in re.findall(r"^\s+_\((\w+)(?:,\s*(\w+))?\)", block, flags=re.MULTILINE):
            found[f"aten::{name}.{overload}" if overload else f"aten::{name}"] = policy
    return (
        {**found, **_RECURRENT, "aten::norm.Scalar": "float32", "aten::norm.ScalarOpt_dim": "float32"} if found else {}
    )
