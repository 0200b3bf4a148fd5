"""The few facts about TensorIterator kernels that ``native_functions.yaml`` does not state.

A TensorIterator accepts one CPU tensor of dimension 0 beside device tensors if its configuration says
``allow_cpu_scalars(true)``.  Binary operators do (BINARY_OP_CONFIG and the comparison configuration in
aten/src/ATen/TensorIterator.cpp), so that is the rule; these are the kernels that differ.
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
    # Its kernel takes the number of a CPU weight (cuda/Lerp.cu) since https://github.com/pytorch/pytorch/pull/141820.
    "lerp": frozenset({"weight"}) if VERSION >= (2, 6) else _NONE,
    # CLAMP_CONFIG in aten/src/ATen/native/TensorCompare.cpp.
    "clamp": _NONE,
    "clamp_min": _NONE,
    "clamp_max": _NONE,
    # Written into by copy: any source is fine, see special.py.
    "index_fill": _NONE,
    # Their kernels take no CPU tensor at all (aten/src/ATen/native/cuda/Loss.cu, BinaryMiscOpsKernels.cu), as a CUDA
    # build shows: docs/conformance.md.
    "binary_cross_entropy": _NONE,
    "mse_loss": _NONE,
    "smooth_l1_loss": _NONE,
}

#: TensorIterator kernels with a configuration of their own that has no allow_cpu_scalars.
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
