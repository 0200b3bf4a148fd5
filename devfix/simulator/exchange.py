"""Ways out of PyTorch's sight: DLPack loses the tag, and the profiler would look for a device that is not there."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .patches import Patches
from .state import state
from .tags import get_tag

__all__ = ["patch_exchange"]


def _noting(real: Any) -> Any:
    def export(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(tensor, Tensor) and get_tag(tensor) is not None:
            state.note_unsupported("DLPack of device memory")
        return real(tensor, *args, **kwargs)

    return export


def patch_exchange(patches: Patches) -> None:
    """Remember exports of device memory; profile the CPU only."""
    patches.set(Tensor, "__dlpack__", _noting(Tensor.__dlpack__))
    dlpack: Any = torch.utils.dlpack
    patches.set(dlpack, "to_dlpack", _noting(dlpack.to_dlpack))

    profile: Any = torch.profiler.profile
    real = profile.__init__

    def init(self: Any, *args: Any, activities: Any = None, **kwargs: Any) -> None:
        real(self, *args, activities=[torch.profiler.ProfilerActivity.CPU], **kwargs)

    patches.set(profile, "__init__", init)
