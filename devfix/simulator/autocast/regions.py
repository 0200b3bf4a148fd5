"""Mixed precision: ``torch.autocast`` for the simulated device, with the operator lists of accelerators.

Tensors are CPU tensors, so a region for the device enables the CPU's autocast; meanwhile the kernels of its dispatch
key are replaced by those of the accelerator's lists, which cast the device's tensors only.  Gradient scaling is
PyTorch's own.  If the wheel has no headers, the CPU's lists apply.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from ..patches import Patches
from ..state import state
from ..tags import get_tag, iter_tensors
from .lists import policies

__all__ = ["patch_autocast"]

_KEY = torch._C.DispatchKey.AutocastCPU
_HERE = torch._C.DispatchKeySet(_KEY)
_ExcludeKeys = torch._C._ExcludeDispatchKeyGuard

#: Casts of parameters during one region, by the parameter's id: PyTorch casts each once.
_casts: dict[int, tuple[Tensor, Tensor]] = {}
_library: list[Any] = []


def _is_eligible(value: Any, anywhere: bool = False) -> bool:
    return (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.dtype != torch.float64
        and (anywhere or get_tag(value) is not None)
    )


def _is_shared(values: Iterable[Any]) -> bool:
    """Whether a call also casts its CPU tensors: without device checks, a tensor on the device moves the whole call."""
    return not state.checks and any(get_tag(tensor) is not None for tensor in iter_tensors(values))


def _cast(value: Any, dtype: torch.dtype, anywhere: bool) -> Any:
    """Cast the device's tensors in an argument (``cached_cast`` in aten/src/ATen/autocast_mode.cpp)."""
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(each, dtype, anywhere) for each in value)
    if not _is_eligible(value, anywhere) or value.dtype == dtype:
        return value
    is_cached = (
        dtype == torch.get_autocast_dtype("cpu")
        and value.dtype == torch.float32
        and value.requires_grad
        and value.is_leaf
        and value._base is None
        and torch.is_autocast_cache_enabled()
        and torch._C._functorch.peek_interpreter_stack() is None
    )
    if not is_cached:
        return value.to(dtype)
    known = _casts.get(id(value))
    if known is None or known[1].dtype != dtype:
        known = _casts[id(value)] = value, value.to(dtype)
    return known[1]


def _widest(values: Any, anywhere: bool) -> torch.dtype:
    """Return the widest dtype of the device's tensors (``promote_type`` in aten/src/ATen/autocast_mode.h)."""
    widest = torch.get_autocast_dtype("cpu")
    for value in values:
        if isinstance(value, (list, tuple)):
            inner = _widest(value, anywhere)
            widest = torch.float32 if torch.float32 in (inner, widest) else widest
        elif _is_eligible(value, anywhere) and value.dtype == torch.float32:
            widest = torch.float32
    return widest


def _kernel(overload: Any, policy: str) -> Callable[..., Any]:
    names = [argument.name for argument in overload._schema.arguments]

    def run(*args: Any, **kwargs: Any) -> Any:
        if policy == "float32 result":
            if _is_eligible(args[0]) and "dtype" in names:
                args, kwargs = _with_dtype(names.index("dtype"), args, kwargs)
        else:
            values = (*args, *kwargs.values())
            anywhere = _is_shared(values)
            low = torch.get_autocast_dtype("cpu")
            dtype = {"low": low, "float32": torch.float32}.get(policy) or _widest(values, anywhere)
            args = tuple(_cast(value, dtype, anywhere) for value in args)
            kwargs = {name: _cast(value, dtype, anywhere) for name, value in kwargs.items()}
        with _ExcludeKeys(_HERE):
            return overload(*args, **kwargs)

    return run


def _with_dtype(position: int, args: Any, kwargs: Any) -> Any:
    """Return the arguments with ``dtype=torch.float32`` unless the call has a dtype."""
    if len(args) > position:
        chosen = args[position] or torch.float32
        return (*args[:position], chosen, *args[position + 1 :]), kwargs
    return args, {**kwargs, "dtype": kwargs.get("dtype") or torch.float32}


def _overload(name: str) -> Any:
    """Return the operator overload of a name such as ``aten::softmax.int``; None if this release lacks it."""
    base, _, overload = name.split("::")[1].partition(".")
    packet = getattr(torch.ops.aten, base, None)
    return getattr(packet, overload or "default", None)


def _replace_kernels() -> None:
    """Register the accelerator's kernels; operators that only the CPU lists are not cast."""
    if _library or not policies():
        return
    library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]  # untyped in torch
    _library.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each kernel has been registered before
        _register(library)


def _register(library: Any) -> None:
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCPU")
    for name in registered:
        if name.startswith("aten::") and name not in policies():
            library.impl(name.split("::")[1], torch.library.fallthrough_kernel, "AutocastCPU", allow_override=True)
    for name, policy in policies().items():
        overload = _overload(name)
        if overload is not None:
            library.impl(overload, _kernel(overload, policy), "AutocastCPU", allow_override=True)


def _restore_kernels() -> None:
    _casts.clear()
    while _library:
        _library.pop()._destroy()


def patch_autocast(patches: Patches) -> None:
    """Enable autocast regions for the simulated device."""
    kind: Any = torch.amp.autocast_mode.autocast
    real_enter, real_exit = kind.__enter__, kind.__exit__

    def enter(self: Any) -> Any:
        result = real_enter(self)
        if self.device == state.kind:
            self._simulated_before = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
            torch.set_autocast_enabled("cpu", self._enabled)
            torch.set_autocast_dtype("cpu", self.fast_dtype)
            _replace_kernels()
        elif self.device == "cpu":
            _restore_kernels()
        return result

    def leave(self: Any, *problem: Any) -> Any:
        before = self.__dict__.pop("_simulated_before", None)
        if before is not None:
            torch.set_autocast_enabled("cpu", before[0])
            torch.set_autocast_dtype("cpu", before[1])
            if not before[0]:
                _casts.clear()
        return real_exit(self, *problem)

    patches.set(kind, "__enter__", enter)
    patches.set(kind, "__exit__", leave)
    patches.on_undo(_restore_kernels)
