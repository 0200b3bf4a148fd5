"""Tensors without numbers: graphs that ``make_fx`` records, and ``FakeTensorMode``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .patches import Patches
from .tags import reported_device

__all__ = ["note_device", "patch_fake_tensors"]


def note_device(tensor: Tensor, tag: torch.device | None) -> None:
    """Write the simulated device of a new tensor into the graph that is being recorded, which names the CPU."""
    recording: Any = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY)
    if recording is None or tag is None:
        return
    from torch.fx.experimental.proxy_tensor import get_proxy_slot

    made = get_proxy_slot(tensor, recording.tracer, None)
    if made is not None:
        made.proxy.node.update_kwarg("device", tag)


def patch_fake_tensors(patches: Patches) -> None:
    """Let ``.device`` of a fake tensor, which no function mode sees, be the simulated device for the program's code."""
    fake: Any = torch._subclasses.fake_tensor.FakeTensor
    real = fake.device

    def device(tensor: Any) -> torch.device:
        if torch._C._is_torch_function_mode_enabled():
            return reported_device(tensor)
        return real.fget(tensor)  # type: ignore[no-any-return]  # a property of type Any

    patches.set(fake, "device", property(device))
