"""Handlers of ``.to``, ``.cuda``, ``.cpu``, ``.type`` and ``.type_as``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from . import errors
from .state import state
from .tags import canonical, get_tag, mark_sent_to_cpu, reported_device
from .transfers import move

__all__ = ["dtype_and_tag_of_type", "handlers"]


def _is_simulated(tag: Any) -> bool:
    return tag is None or tag.type == state.kind


def _parse_to(func: Any, args: Any, kwargs: Any) -> Any:
    """Parse the arguments of ``Module.to``; an index means the simulated accelerator, which a CPU build rejects."""
    if args and type(args[0]) is int:
        args = (torch.device(state.kind, args[0]), *args[1:])
    if type(kwargs.get("device")) is int:
        kwargs = {**kwargs, "device": torch.device(state.kind, kwargs["device"])}
    return func(*args, **kwargs)


def _to(func: Any, args: Any, kwargs: Any) -> Any:
    tensor = args[0]
    positional, options = args[1:], dict(kwargs)
    copy = bool(options.pop("copy", False))
    other = positional[0] if positional and isinstance(positional[0], Tensor) else options.get("other")
    if isinstance(other, Tensor):
        tag, dtype = get_tag(other), other.dtype
        if len(positional) > 2:
            copy = bool(positional[2])
        return _move(tensor, tag, dtype, options.get("memory_format"), copy)
    if len(positional) >= 3 and positional[-1] is not None:
        first_is_dtype = isinstance(positional[0], torch.dtype)
        position = 2 if first_is_dtype else 3
        if len(positional) > position:
            copy = bool(positional[position])
            positional = positional[:position]
    device, dtype, _, memory_format = _parse_to(torch._C._nn._parse_to, positional, options)
    if device is None:
        return func(*args, **kwargs)
    tag = canonical(device)
    if not _is_simulated(tag):
        return func(*args, **kwargs)
    return _move(tensor, tag, dtype, memory_format, copy)


def _move(
    tensor: Tensor,
    tag: torch.device | None,
    dtype: torch.dtype | None,
    memory_format: torch.memory_format | None,
    copy: bool,
) -> Tensor:
    if tensor.is_meta:
        return tensor.to("cpu", dtype)  # raises PyTorch's own "Cannot copy out of meta tensor"
    result = move(tensor, tag, dtype, memory_format or torch.preserve_format, copy)
    return mark_sent_to_cpu(result) if tag is None and isinstance(tensor, Parameter) else result


def _to_accelerator(kind: str) -> Any:
    def move_to_kind(func: Any, args: Any, kwargs: Any) -> Any:
        if kind != state.kind:
            return func(*args, **kwargs)
        device = args[1] if len(args) > 1 else kwargs.get("device")
        tag = canonical(kind if device is None else device)
        if tag is None or tag.type != kind:
            raise RuntimeError("Invalid device, must be cuda device")
        return _move(args[0], tag, None, kwargs.get("memory_format"), False)

    return move_to_kind


def _cpu(func: Any, args: Any, kwargs: Any) -> Any:
    tensor = args[0]
    if tensor.is_meta:
        return func(*args, **kwargs)
    return _move(tensor, None, None, kwargs.get("memory_format"), False)


def dtype_and_tag_of_type(kind: Any) -> tuple[torch.dtype, torch.device | None]:
    """Return dtype and tag of a legacy tensor type (``"torch.cuda.FloatTensor"`` or the class).

    Raises:
        ValueError: the name is not a tensor type.

    """
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
    parts = name.split(".")
    if len(parts) not in (2, 3) or parts[0] != "torch":
        raise ValueError(f"invalid type: '{name}'")
    if parts[-1] == "Tensor":
        dtype = torch.get_default_dtype()
    else:
        found = [key for key, value in errors._TYPE_NAMES.items() if value == parts[-1]]
        if not found:
            raise ValueError(f"invalid type: '{name}'")
        dtype = found[0]
    if len(parts) == 2:
        return dtype, None
    return dtype, canonical(parts[1])


def _type(func: Any, args: Any, kwargs: Any) -> Any:
    tensor = args[0]
    kind = args[1] if len(args) > 1 else kwargs.get("dtype")
    if kind is None:
        return errors.type_name(tensor.dtype, reported_device(tensor).type)
    if isinstance(kind, torch.dtype):
        return func(*args, **kwargs)
    dtype, tag = dtype_and_tag_of_type(kind)
    return move(tensor, tag, dtype)


def _type_as(func: Any, args: Any, kwargs: Any) -> Any:
    other = args[1] if len(args) > 1 else kwargs["other"]
    return move(args[0], get_tag(other), other.dtype)


def handlers() -> dict[Any, Any]:
    """Return this module's handlers, by the torch function that they replace."""
    table = {
        torch._C._nn._parse_to: _parse_to,
        Tensor.to: _to,
        Tensor.cuda: _to_accelerator("cuda"),
        Tensor.cpu: _cpu,
        Tensor.type: _type,
        Tensor.type_as: _type_as,
    }
    if hasattr(Tensor, "xpu"):
        table[Tensor.xpu] = _to_accelerator("xpu")
    return table
