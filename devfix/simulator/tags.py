"""Where a tensor lives: a tag on its storage's Python object.

PyTorch (>= 2.1) keeps one Python object alive with each storage, so an attribute on it is shared by views, ``.data``,
``detach()`` and ``Parameter(...)``, and moves with ``param.data = other`` — exactly as device memory would.
Fresh storages carry no tag, which means CPU.

Sources: torch/csrc/Storage.cpp (``THPStorage_Wrap``, object preservation), https://github.com/pytorch/pytorch/pull/97470.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from .errors import invalid_ordinal
from .state import state

__all__ = [
    "CPU",
    "WEAK",
    "canonical",
    "get_tag",
    "iter_tensors",
    "put_tag",
    "reported_device",
    "set_tag_default",
    "tag_of_all",
]

CPU = torch.device("cpu")

#: Made by C++ code outside of any call (the autograd engine, DDP's reducer): fits every device and takes the one
#: it first meets.
WEAK = torch.device("meta")

_ATTRIBUTE = "_simulated_device"
_devices: dict[tuple[str, int], torch.device] = {}
_NoTorchFunction = torch._C.DisableTorchFunction


def set_tag_default() -> None:
    """Give every storage the class-level answer "no tag", so that reading one needs no exception."""
    if not hasattr(torch.UntypedStorage, _ATTRIBUTE):
        torch.UntypedStorage._simulated_device = None  # type: ignore[attr-defined]  # our attribute


def canonical(device: Any) -> torch.device | None:
    """The tag for a device argument: an interned simulated device, None for CPU, or the device itself if neither.

    Accepts what PyTorch accepts: ``torch.device``, a string, or an index of the current accelerator.
    Raises what CUDA raises for a device that does not exist.
    """
    if type(device) is int:
        index: int | None = device
    else:
        if not isinstance(device, torch.device):
            device = torch.device(device)
        if device.type == "cpu":
            return None
        if device.type != state.kind:
            return device  # type: ignore[no-any-return]  # isinstance of Any says nothing
        index = device.index
    if index is None:
        index = state.current
    if not 0 <= index < state.count:
        if state.checks:
            raise invalid_ordinal()
        index = state.current  # without checks all memory is one
    key = (state.kind, index)
    found = _devices.get(key)
    if found is None:
        found = _devices[key] = torch.device(state.kind, index)
    return found


def get_tag(tensor: Tensor) -> torch.device | None:
    """The tag of a tensor's memory; None means CPU (or a real device that is not simulated)."""
    with _NoTorchFunction():
        return raw_tag(tensor)


def raw_tag(tensor: Tensor) -> torch.device | None:
    """:func:`get_tag` for callers that have already switched ``__torch_function__`` off."""
    try:
        return tensor.untyped_storage()._simulated_device  # type: ignore[attr-defined, no-any-return]  # our attribute
    except (NotImplementedError, RuntimeError):
        return _tag_without_storage(tensor)


def _tag_without_storage(tensor: Tensor) -> torch.device | None:
    """Sparse tensors and functorch wrappers have no storage of their own: ask the tensor object or what it wraps."""
    tag = getattr(tensor, _ATTRIBUTE, None)
    if tag is not None:
        return tag  # type: ignore[no-any-return]  # our attribute
    functorch = torch._C._functorch
    if functorch.is_functorch_wrapped_tensor(tensor):
        return raw_tag(functorch.get_unwrapped(tensor))
    if tensor.layout in (torch.sparse_coo,):
        return raw_tag(tensor._values())
    if tensor.layout in (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc):
        return raw_tag(tensor.values())
    return None


def put_tag(tensor: Tensor, tag: torch.device | None) -> None:
    """Say where a tensor's memory is.  Only for memory that was made by the current call."""
    with _NoTorchFunction():
        raw_put_tag(tensor, tag)


def raw_put_tag(tensor: Tensor, tag: torch.device | None) -> None:
    """:func:`put_tag` for callers that have already switched ``__torch_function__`` off."""
    try:
        tensor.untyped_storage()._simulated_device = tag  # type: ignore[attr-defined]  # our attribute
        return
    except (NotImplementedError, RuntimeError):
        pass
    functorch = torch._C._functorch
    if functorch.is_functorch_wrapped_tensor(tensor):
        raw_put_tag(functorch.get_unwrapped(tensor), tag)
        return
    setattr(tensor, _ATTRIBUTE, tag)
    for part in _sparse_parts(tensor):
        raw_put_tag(part, tag)


def _sparse_parts(tensor: Tensor) -> tuple[Tensor, ...]:
    if tensor.layout == torch.sparse_coo:
        return tensor._indices(), tensor._values()
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    return ()


def reported_device(tensor: Tensor) -> torch.device:
    """What ``tensor.device`` says under the simulator."""
    with _NoTorchFunction():
        tag = raw_tag(tensor)
        if tag is None:
            return tensor.device
    if tag is WEAK:
        return state.last_device or CPU
    return tag


def iter_tensors(values: Any) -> Iterator[Tensor]:
    """The tensors in arguments, looking into lists and tuples (no deeper than operators nest them)."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, Tensor):
                    yield item
                elif isinstance(item, (list, tuple)):
                    yield from iter_tensors(item)


def tag_of_all(args: Any, kwargs: Any = None) -> torch.device | None:
    """The first simulated device among the tensors in a call's arguments; None if all are on the CPU."""
    with _NoTorchFunction():
        for tensor in iter_tensors(args):
            tag = raw_tag(tensor)
            if tag is not None and tag is not WEAK:
                return tag
        if kwargs:
            for tensor in iter_tensors(kwargs.values()):
                tag = raw_tag(tensor)
                if tag is not None and tag is not WEAK:
                    return tag
    return None
