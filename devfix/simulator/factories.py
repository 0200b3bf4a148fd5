"""Handlers of factory functions: ``device=``, default devices, ``new_*`` and generators."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils._device as torch_device
from torch import Tensor

from .cuda_api.streams import check_generator
from .outputs import check_output_device
from .state import CallContext, call_in_context, state
from .symbolic import note_device
from .tags import CPU, canonical, get_tag, iter_tensors, pin, put_tag, tag_of_all
from .transfers import move

__all__ = ["create", "default_tag", "handlers"]


def default_tag() -> torch.device | None:
    """Return the tag of the default device, for factories without ``device=``."""
    current = torch_device.CURRENT_DEVICE
    if current is not None:
        tag = canonical(current)
        return tag if tag is None or tag.type == state.kind else None
    return state.legacy_default


def _has_default() -> bool:
    return torch_device.CURRENT_DEVICE is not None or state.legacy_default is not None


def _run(func: Any, args: Any, kwargs: Any, tag: torch.device | None) -> Any:
    outer_call = state.local.call
    state.local.call = CallContext(device=tag, explicit=True)
    try:
        return func(*args, **kwargs)
    finally:
        state.local.call = outer_call


def _put_tags(result: Any, tag: torch.device | None) -> Any:
    for tensor in iter_tensors((result,)):
        put_tag(tensor, tag)
        note_device(tensor, tag)
    return result


def create(func: Any, args: Any, kwargs: Any) -> Any:
    """Run a call with ``device=``, ``generator=`` or ``pin_memory=`` on the CPU, and tag the result."""
    if kwargs.get("pin_memory"):
        return _pinned(func, args, kwargs)
    device = kwargs.get("device")
    if device is None:
        generator = kwargs.get("generator")
        if generator is not None:
            check_generator(generator, tag_of_all(args))
        return call_in_context(func, args, kwargs)
    tag = canonical(device)
    if tag is not None and tag.type != state.kind:
        return func(*args, **kwargs)
    if kwargs.get("generator") is not None:
        check_generator(kwargs["generator"], tag)
    out = kwargs.get("out")
    if out is not None:
        check_output_device(out, tag)
    result = _run(func, args, {**kwargs, "device": CPU}, tag)
    return result if out is not None else _put_tags(result, tag)


def _pinned(func: Any, args: Any, kwargs: Any) -> Any:
    """Handle ``pin_memory=True``, which a CPU build rejects."""
    rest = {key: value for key, value in kwargs.items() if key != "pin_memory"}
    handler = handlers().get(func)
    result = handler(func, args, rest) if handler is not None else create(func, args, rest)
    for tensor in iter_tensors((result,)):
        if get_tag(tensor) is not None:
            raise RuntimeError("Only dense CPU tensors can be pinned")
        pin(tensor)
    return result


def _constructor(func: Any, args: Any, kwargs: Any) -> Any:
    """Handle ``zeros``, ``randn`` and other factories that use the default device."""
    if kwargs.get("device") is not None or kwargs.get("pin_memory"):
        return create(func, args, kwargs)
    if not _has_default():
        if kwargs.get("generator") is not None:
            check_generator(kwargs["generator"], None)
        out = kwargs.get("out")
        return _run(func, args, kwargs, None if out is None else get_tag(out))
    current = torch_device.CURRENT_DEVICE
    if current is not None and current.type not in ("cpu", state.kind):
        return func(*args, **kwargs)
    return create(func, args, {**kwargs, "device": default_tag() or CPU})


def _from_data(func: Any, args: Any, kwargs: Any) -> Any:
    """Handle ``torch.tensor``: without ``device=``, a tensor keeps its device and other data uses the default."""
    if kwargs.get("pin_memory"):
        return _pinned(func, args, kwargs)
    data = args[0] if args else kwargs.get("data")
    if kwargs.get("device") is None and isinstance(data, Tensor):
        return _put_tags(_run(func, args, kwargs, get_tag(data)), get_tag(data))
    return _constructor(func, args, kwargs)


def _as_tensor(func: Any, args: Any, kwargs: Any) -> Any:
    """Handle ``as_tensor`` and ``asarray``, which copy only if necessary; the result may share memory with NumPy."""
    data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
    device = kwargs.get("device")
    if device is None:
        if isinstance(data, Tensor):
            return _run(func, args, kwargs, get_tag(data))
        tag = default_tag()
    else:
        tag = canonical(device)
        if tag is not None and tag.type != state.kind:
            return func(*args, **kwargs)
    if isinstance(data, Tensor):
        rest = {key: value for key, value in kwargs.items() if key != "device"}
        return move(_run(func, args, rest, get_tag(data)), tag)
    result = _run(func, args, {**kwargs, "device": CPU}, None)
    return result if tag is None else move(result, tag)


def _like_self(func: Any, args: Any, kwargs: Any) -> Any:
    """Handle ``x.new_tensor(...)`` and ``x.new(...)``: on ``x``'s device, whatever the data's device."""
    if kwargs.get("device") is not None or kwargs.get("pin_memory"):
        return create(func, args, kwargs)
    tag = get_tag(args[0])
    return _put_tags(_run(func, args, kwargs, tag), tag)


def _device(func: Any, args: Any, kwargs: Any) -> torch.device:
    """Handle ``torch.device(0)``: an index means the simulated accelerator, which a CPU build rejects."""
    if len(args) == 1 and not kwargs and type(args[0]) is int:
        return torch.device(state.kind, args[0])
    return func(*args, **kwargs)  # type: ignore[no-any-return]  # torch.device is a function of type Any here


def _from_host(func: Any, args: Any, kwargs: Any) -> Any:
    return _run(func, args, kwargs, None)


def handlers() -> dict[Any, Any]:
    """Return this module's handlers, by the torch function that they replace."""
    table: dict[Any, Any] = dict.fromkeys(torch_device._device_constructors(), _constructor)
    table.update(
        {
            torch.device: _device,
            torch.normal: _normal,
            torch.tensor: _from_data,
            torch.as_tensor: _as_tensor,
            torch.asarray: _as_tensor,
            torch.from_numpy: _from_host,
            torch.frombuffer: _from_host,
            Tensor.new_tensor: _like_self,
            Tensor.new: _like_self,
        }
    )
    return table


def _normal(func: Any, args: Any, kwargs: Any) -> Any:
    """Handle ``torch.normal``: with sizes, the result is on ``device=``; with tensors, on their device."""
    if kwargs.get("device") is None and kwargs.get("generator") is None:
        outer_call = state.local.call
        state.local.call = CallContext(args, kwargs)
        try:
            return func(*args, **kwargs)
        finally:
            state.local.call = outer_call
    return create(func, args, kwargs)
