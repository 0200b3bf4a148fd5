"""Handlers of device queries: ``.device``, ``.is_cuda``, ``.get_device()``, ``.numpy()``, pinning, ``.grad``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import errors
from .state import state
from .tags import get_tag, pin, reported_device
from .work import is_trainable, mark_trained

__all__ = ["handlers"]

#: https://docs.pytorch.org/docs/stable/notes/cuda.html#cufft-plan-cache
_MAX_FFT_PLANS = 4096


def _device(func: Any, args: Any, kwargs: Any) -> torch.device:
    return reported_device(args[0])


def _is_kind(kind: str) -> Any:
    def answer(func: Any, args: Any, kwargs: Any) -> bool:
        return reported_device(args[0]).type == kind

    return answer


def _get_device(func: Any, args: Any, kwargs: Any) -> int:
    device = reported_device(args[0])
    return -1 if device.type == "cpu" else device.index


def _numpy(func: Any, args: Any, kwargs: Any) -> Any:
    tag = get_tag(args[0])
    if tag is not None and state.checks and not kwargs.get("force", False):
        raise errors.to_numpy(reported_device(args[0]))
    if state.work.chains is not None:
        state.work.chains.use_on_host(args[0])
    state.work.read_on_host(args[0])
    return func(*args, **kwargs)


def _tolist(func: Any, args: Any, kwargs: Any) -> Any:
    state.work.read_on_host(args[0])
    return func(*args, **kwargs)


def _set_grad(func: Any, args: Any, kwargs: Any) -> Any:
    variable, grad = args
    if isinstance(grad, Tensor) and state.checks:
        found, expected = reported_device(grad), reported_device(variable)
        if found != expected and found.type in ("cpu", state.kind):
            raise errors.grad_device_mismatch(found, expected)
    return func(*args, **kwargs)


def _get_grad(func: Any, args: Any, kwargs: Any) -> Any:
    """Return a gradient as work on trained values knows it."""
    gradient = func(*args)
    mark_trained(gradient)
    return gradient


def _get_data(func: Any, args: Any, kwargs: Any) -> Any:
    if is_trainable(args[0]):
        mark_trained(args[0])
    return func(*args)


def _pin_memory(func: Any, args: Any, kwargs: Any) -> Any:
    tensor = args[0]
    device = reported_device(tensor)
    if device.type != "cpu":
        if state.checks:
            raise errors.cannot_pin(errors.type_name(tensor.dtype, device.type))
        return tensor
    with torch._C.DisableTorchFunction():
        if getattr(tensor.untyped_storage(), "_simulated_pin", False):
            return tensor
        pinned = tensor.clone()
        pin(pinned)
    return pinned


def _is_pinned(func: Any, args: Any, kwargs: Any) -> bool:
    with torch._C.DisableTorchFunction():
        return bool(getattr(args[0].untyped_storage(), "_simulated_pin", False))


def _no_effect(func: Any, args: Any, kwargs: Any) -> None:
    return None


def _share_memory(func: Any, args: Any, kwargs: Any) -> Any:
    return args[0] if get_tag(args[0]) is not None else func(*args, **kwargs)


def _fft_plans(answer: int | None) -> Any:
    """Handle the functions of cuFFT's plan cache, which a CPU build rejects; the CPU keeps no plans."""
    return lambda func, args, kwargs: answer


def handlers() -> dict[Any, Any]:
    """Return this module's handlers, by the torch function that they replace."""
    tensor: Any = Tensor
    library: Any = torch
    return {
        tensor.device.__get__: _device,
        tensor.is_cuda.__get__: _is_kind("cuda"),
        tensor.is_cpu.__get__: _is_kind("cpu"),
        tensor.is_mps.__get__: _is_kind("mps"),
        tensor.is_xpu.__get__: _is_kind("xpu"),
        Tensor.get_device: _get_device,
        torch.get_device: _get_device,
        Tensor.numpy: _numpy,
        Tensor.tolist: _tolist,
        tensor.grad.__get__: _get_grad,
        tensor.grad.__set__: _set_grad,
        tensor.data.__get__: _get_data,
        Tensor.pin_memory: _pin_memory,
        Tensor.is_pinned: _is_pinned,
        Tensor.record_stream: _no_effect,
        Tensor.share_memory_: _share_memory,
        library._cufft_get_plan_cache_size: _fft_plans(0),
        library._cufft_get_plan_cache_max_size: _fft_plans(_MAX_FFT_PLANS),
        library._cufft_set_plan_cache_max_size: _fft_plans(None),
        library._cufft_clear_plan_cache: _fft_plans(None),
    }
