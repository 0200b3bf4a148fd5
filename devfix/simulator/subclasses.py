"""Tensor subclasses and modes of the program: their handlers run with device queries and moves intercepted.

C++ code calls ``__torch_dispatch__`` within a call that the function mode has already intercepted, hence with the mode
disabled.  The handlers enable it again.  A wrapper subclass has no storage; its tag is an attribute of the tensor.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from .patches import Patches
from .state import state
from .tags import CPU, UNASSIGNED, canonical, get_tag, put_tag

__all__ = ["is_wrapper", "patch_subclasses", "watch_handlers"]

#: Classes of PyTorch's tracers, which handle devices on their own.
_TRACERS = ("torch._subclasses.", "torch.fx.", "torch._functorch.", "torch._dynamo.")

_DEVICE = 7  # position in (cls, size, strides, storage_offset, memory_format, dtype, layout, device)
_HANDLER = "__torch_dispatch__"
_disabled = torch._C._disabled_torch_dispatch_impl
_wrap: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = []
_watched: dict[type, Patches] = {}
_handled: dict[type, bool] = {}


def is_wrapper(tensor: Tensor) -> bool:
    """Whether a tensor's class handles operators in Python."""
    return getattr(type(tensor), _HANDLER, _disabled) is not _disabled


def _owner(kind: type) -> type | None:
    """Return the class that defines a handler which must be wrapped; None if there is none."""
    owner = next((each for each in kind.__mro__ if _HANDLER in vars(each)), None)
    is_ours = owner is None or owner in (Tensor, TorchDispatchMode) or owner.__module__.startswith(__package__ or "-")
    return None if is_ours or owner is None or owner.__module__.startswith(_TRACERS) else owner


def watch_handlers(kinds: Any) -> bool:
    """Enable the function mode in the ``__torch_dispatch__`` of classes of tensors or modes; return if one has any."""
    handled = False
    for kind in kinds:
        is_handled = _handled.get(kind)
        if is_handled is None:
            is_handled = _handled[kind] = _is_handled(kind)
            _watch(_owner(kind))
        handled = handled or is_handled
    return handled


def _is_handled(kind: type) -> bool:
    """Whether the class handles operators on its own; PyTorch's tracers call the kernels with their tensors."""
    return getattr(kind, _HANDLER, _disabled) is not _disabled and not kind.__module__.startswith(_TRACERS)


def _watch(owner: type | None) -> None:
    if owner is None or owner in _watched or not _wrap:
        return
    patches = _watched[owner] = Patches()
    handler = vars(owner)[_HANDLER]
    if isinstance(handler, (classmethod, staticmethod)):
        patches.set(owner, _HANDLER, type(handler)(_wrap[0](handler.__func__)))
    elif handler is not _disabled:
        patches.set(owner, _HANDLER, _wrap[0](handler))


def _unwatch() -> None:
    while _watched:
        _watched.popitem()[1].undo()
    _wrap.clear()
    _handled.clear()


def _new(*args: Any, **options: Any) -> Any:
    """Replace ``Tensor.__new__``: C++ code cannot give the result of a dispatch mode another class.

    Dynamo compares the signature with that of its own replacement, unless it is this one.  ``torch.Tensor`` is an alias
    of the default type (https://docs.pytorch.org/docs/stable/tensors.html#data-types).
    """
    cls, *rest = args
    made: Any = torch._C.TensorBase.__new__(Tensor, *rest, **options)
    if state.legacy_default is not None and "device" not in options and not any(isinstance(x, Tensor) for x in rest):
        put_tag(made, state.legacy_default)
    elif get_tag(made) is UNASSIGNED:  # the constructor in C++ has no operands
        put_tag(made, None)
    return made if cls is Tensor else made.as_subclass(cls)


def patch_subclasses(patches: Patches, with_mode: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Tag wrapper subclasses, and wrap the handlers of the program's modes.

    Args:
        patches: the replaced attributes.
        with_mode: returns a function that runs with the function mode enabled.

    """
    make = torch.Tensor._make_wrapper_subclass

    @functools.wraps(make)
    def make_wrapper(*args: Any, **options: Any) -> Tensor:
        device = args[_DEVICE] if len(args) > _DEVICE else options.get("device")
        tag = None if device is None else canonical(device)
        if tag is None or tag.type != state.kind:
            return make(*args, **options)  # type: ignore[no-any-return]  # untyped in torch
        if len(args) > _DEVICE:
            args = (*args[:_DEVICE], CPU, *args[_DEVICE + 1 :])
        else:
            options["device"] = CPU
        tensor: Tensor = make(*args, **options)
        put_tag(tensor, tag)
        return tensor

    patches.set(torch.Tensor, "_make_wrapper_subclass", staticmethod(make_wrapper))
    patches.set(torch.Tensor, "__new__", _new)
    enter = TorchDispatchMode.__enter__

    def watching_enter(mode: Any) -> Any:
        watch_handlers((type(mode),))
        return enter(mode)  # type: ignore[no-untyped-call]  # untyped in torch

    patches.set(TorchDispatchMode, "__enter__", watching_enter)
    _wrap.append(with_mode)
    patches.on_undo(_unwatch)
