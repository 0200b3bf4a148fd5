"""Storages, ``torch.save`` and ``torch.load``: checkpoints preserve the tags.

``torch.serialization.register_package`` is PyTorch's extension point for storage locations; ``torch.save`` and
``torch.load`` query the device of a storage.  https://docs.pytorch.org/docs/stable/notes/serialization.html
"""

from __future__ import annotations

from typing import Any

import torch
from torch import UntypedStorage
from torch.storage import _StorageBase

from .forks import note_use
from .patches import Patches
from .state import state
from .tags import CPU, canonical

__all__ = ["patch_storages"]


def _tag(storage: Any) -> torch.device | None:
    if isinstance(storage, torch.storage.TypedStorage):
        storage = storage._untyped_storage
    return getattr(storage, "_simulated_device", None)


def _save_tag(storage: Any) -> str | None:
    tag = _tag(storage)
    return str(tag) if tag is not None and tag.type == state.kind else None


def _restore(storage: Any, location: str) -> Any:
    if not (location == state.kind or location.startswith(state.kind + ":")):
        return None
    index = int(location.split(":")[1]) if ":" in location else state.current
    if index >= state.count and state.checks:
        name = state.kind
        raise RuntimeError(
            f"Attempting to deserialize object on {name.upper()} device {index} but torch.{name}.device_count() is "
            f"{state.count}. Please use torch.load with map_location to map your storages to an existing device."
        )
    return _move(storage, canonical(torch.device(state.kind, index)))


def _move(storage: Any, tag: torch.device | None) -> Any:
    if isinstance(storage, torch.storage.TypedStorage):
        return storage._new_wrapped_storage(_move(storage._untyped_storage, tag))
    if storage._simulated_device is tag:
        return storage
    if tag is not None:
        note_use()
    moved = UntypedStorage(storage.nbytes())  # type: ignore[no-untyped-call]  # untyped in torch
    moved.copy_(storage)
    moved._simulated_device = tag  # type: ignore[attr-defined]  # our attribute
    return moved


def _clone(self: Any) -> Any:
    clone = UntypedStorage(self.nbytes())  # type: ignore[no-untyped-call]  # untyped in torch
    clone.copy_(self)
    clone._simulated_device = self._simulated_device  # type: ignore[attr-defined]  # our attribute
    return clone


def _deepcopy(self: Any, memo: Any) -> Any:
    memo = memo.setdefault("torch", {})
    if self._cdata not in memo:
        memo[self._cdata] = _clone(self)
    return memo[self._cdata]


def _cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    return _move(self, canonical("cuda" if device is None else device))


def patch_storages(patches: Patches) -> None:
    """Add simulated devices to storages, and register them with ``torch.save`` and ``torch.load``."""
    real_device: Any = UntypedStorage.device

    def device(self: Any) -> torch.device:
        tag = self._simulated_device
        if tag is None or tag.type != state.kind:
            return real_device.__get__(self)  # type: ignore[no-any-return]  # a property of C
        return tag  # type: ignore[no-any-return]  # our attribute

    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        tag = canonical(device)
        if tag is not None and tag.type != state.kind:
            return _StorageBase.to(self, device=device, non_blocking=non_blocking)
        return _move(self, tag)

    patches.set(UntypedStorage, "device", property(device))
    patches.set(UntypedStorage, "is_cuda", property(lambda self: device(self).type == "cuda"))
    patches.set(UntypedStorage, "get_device", lambda self: -1 if device(self) == CPU else device(self).index)
    patches.set(UntypedStorage, "cpu", lambda self: _move(self, None))
    patches.set(UntypedStorage, "cuda", _cuda)
    patches.set(UntypedStorage, "to", to)
    patches.set(UntypedStorage, "clone", _clone)
    patches.set(UntypedStorage, "__copy__", _clone)
    patches.set(UntypedStorage, "__deepcopy__", _deepcopy)

    registry = torch.serialization._package_registry
    entry = (5, _save_tag, _restore)
    registry.insert(0, entry)
    patches.on_undo(lambda: registry.remove(entry))
