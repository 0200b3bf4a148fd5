"""PyTorch's device errors, with the messages of the installed version.

Sources: c10/core/impl/DeviceGuardImplInterface / aten/src/ATen/core/op_registration/adaption.cpp
(``common_device_check_failure``, reworded in 2.8 by https://github.com/pytorch/pytorch/pull/150750),
aten/src/ATen/TensorIterator.cpp, torch/csrc/utils/tensor_numpy.cpp, torch/csrc/autograd/python_variable.cpp.
"""

from __future__ import annotations

import re
from typing import Any

import torch

__all__ = [
    "accelerator_error",
    "cannot_pin",
    "conv_type_mismatch",
    "exact_same",
    "generator_mismatch",
    "grad_device_mismatch",
    "initialization_failed",
    "invalid_gradient",
    "invalid_ordinal",
    "iterator_mismatch",
    "no_float64_on_mps",
    "reinitialized",
    "to_numpy",
    "too_many_cpu_scalars",
    "type_name",
]


def _version() -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", torch.__version__)
    assert found is not None
    return int(found[1]), int(found[2])


VERSION = _version()
_SAME_DEVICE = "Expected all tensors to be on the same device, but "


def exact_same(argument: str, device: Any, common: Any, method: str) -> RuntimeError:
    """Return the generated wrapper's error: ``argument`` is on ``device``, an earlier one on ``common``.

    MPS has no generated checks; its kernels fail where they bind a CPU tensor (aten/src/ATen/native/mps).
    """
    if "mps" in (getattr(device, "type", ""), getattr(common, "type", "")):
        return RuntimeError("Placeholder storage has not been allocated on MPS device!")
    if VERSION >= (2, 8):
        return RuntimeError(
            f"{_SAME_DEVICE}got {argument} is on {device}, different from other tensors on {common} "
            f"(when checking argument in method {method})"
        )
    return RuntimeError(
        f"{_SAME_DEVICE}found at least two devices, {common} and {device}! "
        f"(when checking argument for argument {argument} in method {method})"
    )


def iterator_mismatch(common: Any, device: Any) -> RuntimeError:
    """Return TensorIterator's error."""
    return RuntimeError(f"{_SAME_DEVICE}found at least two devices, {common} and {device}!")


def invalid_gradient(index: int, expected: Any, device: Any) -> RuntimeError:
    """Return the engine's error for a gradient passed to ``backward`` or ``grad``."""
    return RuntimeError(f"invalid gradient at index {index} - expected device {expected} but got {device}")


def too_many_cpu_scalars() -> RuntimeError:
    """Return the error for two CPU scalars if only the output is on the device."""
    return RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")


def to_numpy(device: Any) -> TypeError:
    """Return the error of ``Tensor.numpy`` on a device tensor."""
    return TypeError(
        f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )


def grad_device_mismatch(grad: torch.device, variable: torch.device) -> RuntimeError:
    """Return the error of the ``.grad`` setter."""
    end = "Please ensure that the gradient and the tensor are on the same device"
    if grad.type != variable.type:
        return RuntimeError(
            f"attempting to assign a gradient with device type '{grad.type}' to a tensor with device type "
            f"'{variable.type}'. {end}"
        )
    return RuntimeError(
        f"attempting to assign a gradient located on device with index '{grad.index}' to a tensor located on device "
        f"with index '{variable.index}'. {end}"
    )


def generator_mismatch(expected: str, found: str) -> RuntimeError:
    """Return the error for a generator of another device (aten/src/ATen/core/Generator.h, ``check_generator``)."""
    return RuntimeError(f"Expected a '{expected}' device type for generator but found '{found}'")


def cannot_pin(tensor_type: str) -> RuntimeError:
    """Return the error of ``pin_memory`` on a device tensor."""
    return RuntimeError(f"cannot pin '{tensor_type}' only dense CPU tensors can be pinned")


def no_float64_on_mps() -> TypeError:
    """Return the error of float64 on MPS (aten/src/ATen/mps/EmptyTensor.cpp)."""
    return TypeError(
        "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
        "Please use float32 instead."
    )


def conv_type_mismatch(input_type: str, other: str, other_type: str) -> RuntimeError:
    """Return the error of ``check_input_same_type_as_parameters`` (aten/src/ATen/native/Convolution.cpp)."""
    names = [re.sub(r"torch\.mps\.(\w+)Tensor", r"MPS\1Type", name) for name in (input_type, other_type)]
    input_type, other_type = names
    message = f"Input type ({input_type}) and {other} type ({other_type}) should be the same"
    if not input_type.startswith(("torch.cuda.", "MPS")):
        message += f" or input should be a MKLDNN tensor and {other} is a dense tensor"
    return RuntimeError(message)


def accelerator_error(message: str) -> RuntimeError:
    """Return an error of the CUDA runtime: ``torch.AcceleratorError`` (from 2.8 on) or RuntimeError."""
    kind = getattr(torch, "AcceleratorError", RuntimeError)
    return kind(message)


def reinitialized(kind: str) -> RuntimeError:
    """Return the error of ``_lazy_init`` in a forked child (torch/cuda/__init__.py, torch/xpu/__init__.py)."""
    name = kind.upper()
    return RuntimeError(
        f"Cannot re-initialize {name} in forked subprocess. To use {name} with multiprocessing, you must use the "
        "'spawn' start method"
    )


def initialization_failed() -> RuntimeError:
    """Return the error of an operator on an inherited tensor in a forked child."""
    return _runtime_error("initialization error")


def invalid_ordinal() -> RuntimeError:
    """Return the error for a device index that does not exist."""
    return _runtime_error("invalid device ordinal")


def _runtime_error(message: str) -> RuntimeError:
    return accelerator_error(
        f"CUDA error: {message}\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
        "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
    )


_TYPE_NAMES = {
    torch.float32: "FloatTensor",
    torch.float64: "DoubleTensor",
    torch.float16: "HalfTensor",
    torch.bfloat16: "BFloat16Tensor",
    torch.int64: "LongTensor",
    torch.int32: "IntTensor",
    torch.int16: "ShortTensor",
    torch.int8: "CharTensor",
    torch.uint8: "ByteTensor",
    torch.bool: "BoolTensor",
    torch.complex64: "ComplexFloatTensor",
    torch.complex128: "ComplexDoubleTensor",
}


def type_name(dtype: torch.dtype, device_type: str) -> str:
    """Return the legacy name of a tensor type, such as ``torch.cuda.FloatTensor``."""
    name = _TYPE_NAMES.get(dtype, "Tensor")
    return f"torch.{name}" if device_type == "cpu" else f"torch.{device_type}.{name}"
