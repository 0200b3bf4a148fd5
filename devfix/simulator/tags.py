"""Device tags: the simulated device of a tensor, an attribute of its storage's Python object.

PyTorch (>= 2.1) keeps one Python object alive with each storage, so its attributes are shared by views, ``.data``,
``detach()`` and ``Parameter(...)``, and replaced by ``param.data = other``, exactly as device memory is.  New storages
have no tag, which means CPU.

Sources: torch/csrc/Storage.cpp (``THPStorage_Wrap``, object preservation), https://github.com/pytorch/pytorch/pull/97470.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from .errors import invalid_ordinal, no_float64_on_mps
from .forks import note_use
from .state import state

__all__ = [
    "CPU",
    "UNASSIGNED",
    "canonical",
    "check_dtype",
    "get_tag",
    "is_sent_to_cpu",
    "iter_tensors",
    "mark_sent_to_cpu",
    "pin",
    "put_tag",
    "reported_device",
    "set_tag_default",
    "tag_of_all",
]

CPU = torch.device("cpu")

#: Tag of tensors that C++ code creates outside any call (the autograd engine, DDP's reducer): compatible with every
#: device; the first call that uses the tensor assigns its device.
UNASSIGNED = torch.device("meta")

_ATTRIBUTE = "_simulated_device"
_devices: dict[tuple[str, int], torch.device] = {}
_BATCHED = torch._C._dispatch_key_parse("Batched")
_NoTorchFunction = torch._C.DisableTorchFunction


def set_tag_default() -> None:
    """Add the class attribute for "no tag", so that reading a tag never raises AttributeError."""
    if not hasattr(torch.UntypedStorage, _ATTRIBUTE):
        torch.UntypedStorage._simulated_device = None  # type: ignore[attr-defined]  # our attribute
        torch.UntypedStorage._is_sent_to_cpu = False  # type: ignore[attr-defined]  # our attribute


def mark_sent_to_cpu(tensor: Tensor) -> Tensor:
    """Record that the program itself sent a tensor to the CPU, where it may have been before; return the tensor."""
    with _NoTorchFunction(), suppress(NotImplementedError, RuntimeError):  # no storage
        tensor.untyped_storage()._is_sent_to_cpu = True  # type: ignore[attr-defined]  # our attribute
    return tensor


def is_sent_to_cpu(tensor: Tensor) -> bool:
    """Whether the program itself sent a tensor to the CPU."""
    with _NoTorchFunction():
        try:
            return bool(tensor.untyped_storage()._is_sent_to_cpu)  # type: ignore[attr-defined]  # our attribute
        except (NotImplementedError, RuntimeError):  # no storage
            return False


def canonical(device: Any) -> torch.device | None:
    """Return the tag for a device argument: an interned simulated device, None for CPU, or any other device unchanged.

    Args:
        device: ``torch.device``, a string, or an index of the current accelerator.

    Raises:
        RuntimeError: CUDA's error for an index that does not exist.

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
        index = state.current  # without checks all devices share one memory
    key = (state.kind, index)
    found = _devices.get(key)
    if found is None:
        found = _devices[key] = torch.device(state.kind, index)
    return found


def get_tag(tensor: Tensor) -> torch.device | None:
    """Return the tag of a tensor's storage; None means CPU (or a real device that is not simulated)."""
    with _NoTorchFunction():
        return raw_tag(tensor)


def raw_tag(tensor: Tensor) -> torch.device | None:
    """Return the tag as :func:`get_tag` does; ``__torch_function__`` must be disabled."""
    try:
        tag = tensor.untyped_storage()._simulated_device  # type: ignore[attr-defined]  # our attribute
    except (NotImplementedError, RuntimeError):
        return _tag_without_storage(tensor)
    if tag is None and hasattr(type(tensor), "__tensor_flatten__"):
        return _tag_of_parts(tensor)
    return tag  # type: ignore[no-any-return]  # our attribute


def _tag_of_parts(tensor: Any) -> torch.device | None:
    """Return the tag of a wrapper subclass's first inner tensor."""
    names, _ = tensor.__tensor_flatten__()
    parts = (getattr(tensor, name) for name in names)
    return next((raw_tag(part) for part in parts if isinstance(part, Tensor)), None)


def _tag_without_storage(tensor: Tensor) -> torch.device | None:
    """Return the tag of a sparse tensor or functorch wrapper, from the tensor object or the wrapped tensor."""
    tag = getattr(tensor, _ATTRIBUTE, None)
    if tag is not None:
        return tag  # type: ignore[no-any-return]  # our attribute
    functorch = torch._C._functorch
    if functorch.is_functorch_wrapped_tensor(tensor):
        return raw_tag(functorch.get_unwrapped(tensor))
    if torch._C._dispatch_keys(tensor).has(_BATCHED):
        return raw_tag(_without_batch(tensor))
    if hasattr(type(tensor), "__tensor_flatten__"):
        return _tag_of_parts(tensor)
    if tensor.layout in (torch.sparse_coo,):
        return raw_tag(tensor._values())
    if tensor.layout in (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc):
        return raw_tag(tensor.values())
    return None


def _without_batch(tensor: Tensor) -> Tensor:
    """Return the tensor inside of a batched gradient (``is_grads_batched``, ``vectorize=True``)."""
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    return torch._remove_batch_dim(tensor, level, 1, 0)


def check_dtype(tensor: Tensor, tag: torch.device | None) -> None:
    """Raise MPS's error for a float64 tensor.

    Raises:
        TypeError: float64 on MPS.

    """
    if tensor.dtype is torch.float64 and tag is not None and tag.type == "mps" and state.checks:
        raise no_float64_on_mps()


def put_tag(tensor: Tensor, tag: torch.device | None) -> None:
    """Set the tag of a tensor's storage; only valid for storages that the current call created.

    Raises:
        RuntimeError: a device in a forked child.
        TypeError: float64 on MPS.

    """
    check_dtype(tensor, tag)
    if tag is not None:
        note_use()
    with _NoTorchFunction():
        raw_put_tag(tensor, tag)


def raw_put_tag(tensor: Tensor, tag: torch.device | None) -> None:
    """Set the tag as :func:`put_tag` does; ``__torch_function__`` must be disabled."""
    try:
        tensor.untyped_storage()._simulated_device = tag  # type: ignore[attr-defined]  # our attribute
        return
    except (NotImplementedError, RuntimeError):
        pass
    functorch = torch._C._functorch
    if functorch.is_functorch_wrapped_tensor(tensor):
        raw_put_tag(functorch.get_unwrapped(tensor), tag)
        return
    if torch._C._dispatch_keys(tensor).has(_BATCHED):
        raw_put_tag(_without_batch(tensor), tag)
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
    """Return ``tensor.device`` under the simulator."""
    with _NoTorchFunction():
        tag = raw_tag(tensor)
        if tag is None or tensor.is_meta:
            return tensor.device
    if tag is UNASSIGNED:
        return state.local.last_device or CPU
    return tag


def pin(tensor: Tensor) -> None:
    """Mark the storage of a CPU tensor as pinned."""
    with _NoTorchFunction():
        tensor.untyped_storage()._simulated_pin = True  # type: ignore[attr-defined]  # our attribute


def iter_tensors(values: Any) -> Iterator[Tensor]:
    """Yield the tensors in arguments, also in lists and tuples (as deep as operators nest them)."""
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
    """Return the first simulated device of the tensors in a call's arguments; None if all are on the CPU."""
    with _NoTorchFunction():
        for tensor in iter_tensors(args):
            tag = raw_tag(tensor)
            if tag is not None and tag is not UNASSIGNED:
                return tag
        if kwargs:
            for tensor in iter_tensors(kwargs.values()):
                tag = raw_tag(tensor)
                if tag is not None and tag is not UNASSIGNED:
                    return tag
    return None
