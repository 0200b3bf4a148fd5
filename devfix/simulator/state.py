"""What the simulator knows at any moment: one mutable record, shared by the modes and the patched functions.

There is one simulator per process, because PyTorch's own state (mode stacks, module attributes, the random stream)
is per process as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["Ambient", "State", "state"]


class Ambient:
    """The device of tensors that C++ code creates from nothing while one Python-level call runs.

    A composite operator such as ``one_hot`` builds intermediate tensors from the options of its input.  In the
    simulator those options say "cpu", so the device has to come from the call that surrounds the creation.

    ``explicit`` calls name the device (``device=``); others take it, when asked, from their tensor arguments.
    """

    __slots__ = ("args", "device", "explicit", "kwargs")

    def __init__(
        self, args: Any = (), kwargs: Any = None, device: torch.device | None = None, explicit: bool = False
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self.device = device
        self.explicit = explicit


class State:
    """The simulated machine: how many devices, which is current, and what the program did with them.

    Attributes:
        kind: the device type that is simulated (``"cuda"``, ``"mps"`` or ``"xpu"``).
        count: how many devices of that type there are.
        checks: whether mixing devices raises; without checks the simulator is a machine with one memory.
        shared_random: whether the device draws from the CPU's random stream (then dropout equals the CPU run's).
        visible_before: ``CUDA_VISIBLE_DEVICES`` at the start; a program that sets it to nothing hides the devices.
        current: index of the current device.
        call: the Python-level call that runs now, for :class:`Ambient`.
        legacy_default: device set by ``torch.set_default_tensor_type``; None means CPU.
        device_operations, all_operations: how many ATen calls worked on a simulated device, and in all
            (not those on a single number, such as an optimizer's count of its steps).
        device_training, all_training: the same of those that take part in training: steps of a backward pass, and
            calls that read or write a parameter.
        unsupported: features that the program used and the simulator cannot model, in order of first use.

    """

    def __init__(self) -> None:
        self.active = False
        self.reset()

    def reset(self, kind: str = "cuda", count: int = 1, checks: bool = True, shared_random: bool = False) -> None:
        """Start a new simulation with nothing used yet."""
        self.kind = kind
        self.count = count
        self.visible_before = os.environ.get("CUDA_VISIBLE_DEVICES")
        self.checks = checks
        self.shared_random = shared_random
        self.current = 0
        self.call: Ambient | None = None
        self.legacy_default: torch.device | None = None
        self.last_device: torch.device | None = None
        self.device_operations = 0
        self.all_operations = 0
        self.device_training = 0
        self.all_training = 0
        self.unsupported: dict[str, None] = {}
        self.streams: Callable[[Any], Any] | None = None

    def note_unsupported(self, feature: str) -> None:
        """Remember that the program used something that is not modelled; its verdict will be inconclusive."""
        self.unsupported.setdefault(feature)


state = State()
