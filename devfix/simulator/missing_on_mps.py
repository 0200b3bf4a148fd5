"""Operators without an MPS kernel, by the dispatch registrations of the installed PyTorch.

The names are candidates from https://github.com/pytorch/pytorch/issues/141287; one counts as missing if
``native_functions.yaml`` of the installed release registers a CUDA kernel for it and none for MPS.  Operators that
aten/src/ATen/mps/MPSFallback.mm sends to the CPU are left out, because they work.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import torch

from .operators import kernels

__all__ = ["check_mps"]

_CANDIDATES = (
    "_linalg_eigh",
    "cauchy_",
    "geqrf",
    "kthvalue",
    "linalg_eig",
    "linalg_ldl_factor_ex",
    "linalg_ldl_solve",
    "linalg_lstsq",
    "log_normal_",
    "ormqr",
    "segment_reduce",
)


@lru_cache(maxsize=1)
def _missing() -> frozenset[str]:
    table = kernels()
    names = {name for name, kernel in table.items() if kernel.cuda and not kernel.mps}
    return frozenset(name for name in names if name.split("::")[1].split(".")[0] in _CANDIDATES)


def check_mps(name: str) -> None:
    """Raise the error of an operator without an MPS kernel, unless the program chose the fallback.

    Raises:
        NotImplementedError: with the text of aten/src/ATen/mps/MPSFallback.mm.

    """
    if name not in _missing() or os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK") == "1":
        return
    commit: Any = getattr(torch.version, "git_version", "")
    raise NotImplementedError(
        f"The operator '{name}' is not currently implemented for the MPS device. If you want this op to be considered "
        "for addition please comment on https://github.com/pytorch/pytorch/issues/141287 and mention use-case, that "
        f"resulted in missing op as well as commit hash {commit}. As a temporary fix, you can set the environment "
        "variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the CPU as a fallback for this op. WARNING: this will be "
        "slower than running natively on MPS."
    )
