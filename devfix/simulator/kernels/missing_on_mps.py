"""Operators without an MPS kernel, by the dispatch registrations of the installed PyTorch.

The names are candidates from https://github.com/pytorch/pytorch/issues/141287 and from ``UNIMPLEMENTED_XFAILLIST`` in
torch/testing/_internal/common_mps.py, PyTorch's list of tests that fail; one counts as missing if
``native_functions.yaml`` of the installed release registers a CUDA kernel for it and none for MPS.  Operators that
aten/src/ATen/mps/MPSFallback.mm sends to the CPU are left out, because they work.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import torch

from .table import kernels

__all__ = ["check_mps"]

_CANDIDATES = (
    "_adaptive_avg_pool3d",
    "_ctc_loss",
    "_linalg_eigh",
    "_linalg_eigvals",
    "_pdist_forward",
    "adaptive_max_pool3d",
    "cauchy",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "frexp",
    "geqrf",
    "hash_tensor",
    "heaviside",
    "kthvalue",
    "linalg_eig",
    "linalg_eigvals",
    "linalg_ldl_factor_ex",
    "linalg_ldl_solve",
    "linalg_lstsq",
    "linalg_matrix_exp",
    "log_normal",
    "logspace",
    "mode",
    "multi_margin_loss",
    "multilabel_margin_loss_forward",
    "ormqr",
    "put",
    "rrelu_with_noise",
    "segment_reduce",
    "special_airy_ai",
    "special_laguerre_polynomial_l",
    "special_legendre_polynomial_p",
    "special_log_ndtr",
    "special_ndtri",
    "take",
)


def _function(name: str) -> str:
    """Return the function of an overload: ``put`` for ``aten::put_``, ``frexp`` for ``aten::frexp.Tensor_out``."""
    base = name.split("::")[1].split(".")[0]
    return base if base.startswith("_") else base.rstrip("_")


@lru_cache(maxsize=1)
def _missing() -> frozenset[str]:
    """Return the candidates of which no overload has kernels for both; composite overloads call the others."""
    with_mps: dict[str, bool] = {}
    for name, kernel in kernels().items():
        if kernel.cuda:
            with_mps[_function(name)] = with_mps.get(_function(name), False) or kernel.mps
    return frozenset(name for name in _CANDIDATES if with_mps.get(name) is False)


def check_mps(name: str) -> None:
    """Raise the error of an operator without an MPS kernel, unless the program chose the fallback.

    Raises:
        NotImplementedError: with the text of aten/src/ATen/mps/MPSFallback.mm.

    """
    if _function(name) not in _missing() or os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK") == "1":
        return
    commit: Any = getattr(torch.version, "git_version", "")
    raise NotImplementedError(
        f"The operator '{name}' is not currently implemented for the MPS device. If you want this op to be considered "
        "for addition please comment on https://github.com/pytorch/pytorch/issues/141287 and mention use-case, that "
        f"resulted in missing op as well as commit hash {commit}. As a temporary fix, you can set the environment "
        "variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the CPU as a fallback for this op. WARNING: this will be "
        "slower than running natively on MPS."
    )
