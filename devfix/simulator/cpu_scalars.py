"""0-dim CPU tensors as operands of TensorIterator kernels; ``native_functions.yaml`` does not specify them.

A TensorIterator accepts one 0-dim CPU tensor beside device tensors if its configuration has
``allow_cpu_scalars(true)``.  This is the default for binary operators (BINARY_OP_CONFIG and the comparison
configuration in aten/src/ATen/TensorIterator.cpp); the tables list the exceptions.
"""

from __future__ import annotations

from .errors import VERSION

__all__ = ["CPU_SCALAR_FORBIDDEN", "CPU_SCALAR_INPUTS"]

_NONE: frozenset[str] = frozenset()

#: Operator name without overload and trailing underscore -> inputs that may be a CPU scalar.
CPU_SCALAR_INPUTS: dict[str, frozenset[str]] = {
    # build_ternary_op sets no allow_cpu_scalars; addcmul got it for tensor2 (https://github.com/pytorch/pytorch/pull/143264),
    # addcdiv did not (https://github.com/pytorch/pytorch/pull/144192, closed).
    "addcmul": frozenset({"tensor2"}) if VERSION >= (2, 7) else _NONE,
    "addcdiv": _NONE,
    # Its kernel accepts a CPU scalar weight (cuda/Lerp.cu) since https://github.com/pytorch/pytorch/pull/141820.
    "lerp": frozenset({"weight"}) if VERSION >= (2, 6) else _NONE,
    # CLAMP_CONFIG in aten/src/ATen/native/TensorCompare.cpp.
    "clamp": _NONE,
    "clamp_min": _NONE,
    "clamp_max": _NONE,
    # Fills by a copy, which accepts any source device; see special.py.
    "index_fill": _NONE,
    # Their kernels accept no CPU tensor (aten/src/ATen/native/cuda/Loss.cu, BinaryMiscOpsKernels.cu), as measured on a
    # CUDA build: docs/development/conformance.md.
    "binary_cross_entropy": _NONE,
    "mse_loss": _NONE,
    "smooth_l1_loss": _NONE,
}

#: TensorIterator kernels whose configuration does not set allow_cpu_scalars.
CPU_SCALAR_FORBIDDEN: frozenset[str] = frozenset(
    {
        "bernoulli",
        "bucketize",
        "masked_select",
        "nextafter",
        "searchsorted",
        "take",
    }
)
