"""Data exchange with other libraries and processes, foreign code, and the profiler."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

from ..patches import Patches
from ..state import state
from ..tags import get_tag, put_tag

__all__ = ["extensions", "patch_exchange"]


_inside: list[bool] = []


def _noting_export(real: Any) -> Any:
    def export(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(tensor, Tensor) and get_tag(tensor) is not None and not _inside:
            state.note_unsupported("DLPack of device memory")
        return real(tensor, *args, **kwargs)

    return export


def _to_dlpack(real: Any) -> Any:
    """Remember the tag of a capsule, which may come back through ``from_dlpack``."""

    def to_dlpack(tensor: Any) -> Any:
        capsule = real(tensor)
        tag = get_tag(tensor) if isinstance(tensor, Tensor) else None
        if tag is not None:
            state.note_unsupported("DLPack of device memory")
            _exported[id(capsule)] = capsule, tag
        return capsule

    return to_dlpack


_exported: dict[int, tuple[Any, torch.device]] = {}


def _from_dlpack(real: Any) -> Any:
    """Keep the tag of memory that PyTorch itself exported."""

    def from_dlpack(source: Any, *args: Any, **kwargs: Any) -> Tensor:
        is_ours = isinstance(source, Tensor)
        tag = get_tag(source) if is_ours else _exported.pop(id(source), (None, None))[1]
        if tag is not None and not is_ours and not _exported:
            state.unsupported.pop("DLPack of device memory", None)  # the capsule did not leave PyTorch
        _inside.append(True)
        try:
            result: Tensor = real(source, *args, **kwargs)
        finally:
            _inside.pop()
        if tag is not None:
            put_tag(result, tag)
        return result

    return from_dlpack


def _noting_use(feature: str, real: Any) -> Any:
    def use(*args: Any, **kwargs: Any) -> Any:
        state.note_unsupported(feature)
        return real(*args, **kwargs)

    return use


def _cuda_array_interface(tensor: Tensor) -> Any:
    """Raise AttributeError and record the use; CuPy and Numba read this attribute, but there is no device memory."""
    if get_tag(tensor) is not None:
        state.note_unsupported("__cuda_array_interface__")
    raise AttributeError(f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {tensor.type()}")


def extensions() -> list[str]:
    """Return ``torch.utils.cpp_extension`` if the program built C++ code; never import it here."""
    library: Any = sys.modules.get("torch.utils.cpp_extension")
    return ["torch.utils.cpp_extension"] if library is not None and library.JIT_EXTENSION_VERSIONER.entries else []


def patch_exchange(patches: Patches) -> None:
    """Record exports of device memory and foreign code as unsupported; profile the CPU only."""
    patches.set(Tensor, "__cuda_array_interface__", property(_cuda_array_interface))
    patches.set(torch.ops, "load_library", _noting_use("torch.ops.load_library", torch.ops.load_library))
    patches.set(Tensor, "__dlpack__", _noting_export(Tensor.__dlpack__))
    dlpack: Any = torch.utils.dlpack
    patches.set(dlpack, "to_dlpack", _to_dlpack(dlpack.to_dlpack))
    importing = _from_dlpack(dlpack.from_dlpack)
    patches.set(dlpack, "from_dlpack", importing)
    patches.set(torch, "from_dlpack", importing)
    _exported.clear()

    profile: Any = torch.profiler.profile
    real = profile.__init__

    def init(self: Any, *args: Any, activities: Any = None, **kwargs: Any) -> None:
        real(self, *args, activities=[torch.profiler.ProfilerActivity.CPU], **kwargs)

    patches.set(profile, "__init__", init)
