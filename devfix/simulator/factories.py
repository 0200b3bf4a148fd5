"""Calls that make tensors: ``device=``, default devices, ``new_*`` and generators."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils._device as torch_device
from torch import Tensor

from .outputs import check_output_device
from .state import Ambient, state
from .streams import check_generator
from .tags import CPU, canonical, get_tag, iter_tensors, put_tag, tag_of_all
from .transfers import move

__all__ = ["create", "default_tag", "handlers"]


def default_tag() -> torch.device | None:
    """Where a factory without ``device=`` makes its tensor."""
    current = torch_device.CURRENT_DEVICE
    if current is not None:
        tag = canonical(current)
        return tag if tag is None or tag.type == state.kind else None
    return state.legacy_default


def _has_default() -> bool:
    return torch_device.CURRENT_DEVICE is not None or state.legacy_default is not None


def _run(func: Any, args: Any, kwargs: Any, tag: torch.device | None) -> Any:
    before = state.call
    state.call = Ambient(device=tag, explicit=True)
    try:
        return func(*args, **kwargs)
    finally:
        state.call = before


def _place(result: Any, tag: torch.device | None) -> Any:
    for tensor in iter_tensors((result,)):
        put_tag(tensor, tag)
    return result


def create(func: Any, args: Any, kwargs: Any) -> Any:
    """Run a call that names a device or a generator, on the CPU, and say that the result is on that device."""
    device = kwargs.get("device")
    if device is None:
        generator = kwargs.get("generator")
        if generator is not None:
            check_generator(generator, tag_of_all(args))
        before = state.call
        state.call = Ambient(args, kwargs)
        try:
            return func(*args, **kwargs)
        finally:
            state.call = before
    tag = canonical(device)
    if tag is not None and tag.type != state.kind:
        return func(*args, **kwargs)
    if kwargs.get("generator") is not None:
        check_generator(kwargs["generator"], tag)
    out = kwargs.get("out")
    if out is not None:
        check_output_device(out, tag)
    result = _run(func, args, {**kwargs, "device": CPU}, tag)
    return result if out is not None else _place(result, tag)


def _constructor(func: Any, args: Any, kwargs: Any) -> Any:
    """``zeros``, ``randn`` and the others that obey the default device."""
    if kwargs.get("device") is not None:
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
    """``torch.tensor``: without ``device=`` a tensor's data stays where it is, other data goes to the default."""
    data = args[0] if args else kwargs.get("data")
    if kwargs.get("device") is None and isinstance(data, Tensor):
        return _place(_run(func, args, kwargs, get_tag(data)), get_tag(data))
    return _constructor(func, args, kwargs)


def _as_tensor(func: Any, args: Any, kwargs: Any) -> Any:
    """``as_tensor`` and ``asarray``: no copy where none is needed, so the result may share memory with NumPy."""
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
    made = _run(func, args, {**kwargs, "device": CPU}, None)
    return made if tag is None else move(made, tag)


def _like_self(func: Any, args: Any, kwargs: Any) -> Any:
    """``x.new_tensor(...)`` and ``x.new(...)``: on ``x``'s device, whatever the data."""
    if kwargs.get("device") is not None:
        return create(func, args, kwargs)
    tag = get_tag(args[0])
    return _place(_run(func, args, kwargs, tag), tag)


def _device(func: Any, args: Any, kwargs: Any) -> torch.device:
    """``torch.device(0)``: a bare index means the accelerator, which this build of PyTorch does not know."""
    if len(args) == 1 and not kwargs and type(args[0]) is int:
        return torch.device(state.kind, args[0])
    return func(*args, **kwargs)  # type: ignore[no-any-return]  # torch.device, which is any function here


def _from_host(func: Any, args: Any, kwargs: Any) -> Any:
    return _run(func, args, kwargs, None)


def handlers() -> dict[Any, Any]:
    """The handlers of this module, by the function that PyTorch reports."""
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
    """``torch.normal`` with sizes makes its tensor on ``device=``; with tensors, where they are."""
    if kwargs.get("device") is None and kwargs.get("generator") is None:
        before = state.call
        state.call = Ambient(args, kwargs)
        try:
            return func(*args, **kwargs)
        finally:
            state.call = before
    return create(func, args, kwargs)
