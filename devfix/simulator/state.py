"""State of the simulator: one mutable record, shared by the modes and the patched functions.

There is one simulator per process, because PyTorch's own state (mode stacks, module attributes, random generators) is
per process as well.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import torch

from .host_chains import HostChains
from .work import Choices, WorkLedger

__all__ = ["CallContext", "State", "call_in_context", "state"]


class CallContext:
    """The device of tensors that C++ code creates without operands during one Python-level call.

    A composite operator such as ``one_hot`` creates intermediate tensors with the options of its input.  In the
    simulator these options have the device "cpu", so the device is taken from the surrounding call.

    ``explicit`` calls have a ``device=`` argument; the device of other calls is computed from their tensor arguments on
    demand.
    """

    __slots__ = ("args", "device", "explicit", "kwargs")

    def __init__(
        self, args: Any = (), kwargs: Any = None, device: torch.device | None = None, explicit: bool = False
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self.device = device
        self.explicit = explicit


class _Local(threading.local):
    """The state of one thread.

    Attributes:
        call: the active Python-level call, for :class:`CallContext`.
        last_device: the device of the last operation, where autograd creates tensors.

    """

    call: CallContext | None = None
    last_device: torch.device | None = None


class State:
    """The simulated machine, and statistics of its use.

    Attributes:
        kind: the type of the simulated devices (``"cuda"``, ``"mps"``, ``"xpu"`` or ``"npu"``).
        count: number of devices.
        checks: whether device mismatches raise; without checks all devices share one memory.
        shared_random: whether the devices draw from the CPU's generator (then dropout equals that of a CPU run).
        visible_before: ``CUDA_VISIBLE_DEVICES`` at the start; a program that sets it to nothing hides the devices.
        current: index of the current device.
        local: what each thread has of its own: a loader's thread runs beside a backward pass.
        is_initialized: the program has used a device, so that a forked child cannot (:mod:`.forks`).
        is_child: this process is such a child.
        worker_thread: the thread that stands for such a child; None if there is none.
        on_bad_use: called before a use of the device in such a child raises.
        copying: a tensor subclass is moved; a ``_to_copy`` to the CPU is a transfer.
        legacy_default: device set by ``torch.set_default_tensor_type``; None means CPU.
        work: arithmetic so far, by phase and device.
        seedings: how often the program seeded a device's default generator, but not the CPU's with it.
        unsupported: unsupported features that the program used, in order of first use.

    """

    def __init__(self) -> None:
        self.active = False
        self.reset()

    def reset(self, kind: str = "cuda", count: int = 1, checks: bool = True, shared_random: bool = False) -> None:
        """Start a new simulation."""
        self.kind = kind
        self.count = count
        self.visible_before = os.environ.get("CUDA_VISIBLE_DEVICES")
        self.checks = checks
        self.shared_random = shared_random
        self.current = 0
        self.local = _Local()
        self.legacy_default: torch.device | None = None
        self.work = WorkLedger(None if checks else HostChains(), Choices())
        self.seedings = 0
        self.unsupported: dict[str, None] = {}
        self.copying = False
        self.is_initialized = False
        self.is_child = False
        self.worker_thread: int | None = None
        self.on_bad_use: Callable[[], None] = _nothing

    def note_unsupported(self, feature: str) -> None:
        """Record the use of an unsupported feature; the verdict will be inconclusive."""
        self.unsupported.setdefault(feature)


def _nothing() -> None:
    pass


state = State()


def call_in_context(func: Any, args: Any, kwargs: Any) -> Any:
    """Call a function as the surrounding call of the tensors that its C++ code creates; return its result."""
    outer_call = state.local.call
    state.local.call = CallContext(args, kwargs)
    try:
        return func(*args, **kwargs)
    finally:
        state.local.call = outer_call
