"""Mixed precision: ``torch.autocast("cuda")`` is approximated by the CPU's autocast with the same dtype.

The CPU's operator lists differ slightly from CUDA's, and a region for the accelerator also casts CPU tensors.  Results
equal those of ``torch.autocast("cpu", dtype)``.  Gradient scaling is PyTorch's own.
"""

from __future__ import annotations

from typing import Any

import torch

from .patches import Patches
from .state import state

__all__ = ["patch_autocast"]


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
        return result

    def leave(self: Any, *problem: Any) -> Any:
        before = self.__dict__.pop("_simulated_before", None)
        if before is not None:
            torch.set_autocast_enabled("cpu", before[0])
            torch.set_autocast_dtype("cpu", before[1])
        return real_exit(self, *problem)

    patches.set(kind, "__enter__", enter)
    patches.set(kind, "__exit__", leave)
