"""Devices in forked processes: a child of a process that has used CUDA or XPU cannot use it.

The data loader's workers are such children.  A run loads its data in one process; :class:`SimulatedWorker` then
stands for the worker.  Sources: ``_lazy_init`` in torch/cuda/__init__.py,
https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .errors import initialization_failed, reinitialized
from .state import state

__all__ = ["SimulatedWorker", "check_use", "enter_child", "is_in_bad_fork", "note_use"]

#: Device types whose runtime does not survive a fork.
_FORKLESS = ("cuda", "xpu", "npu")


def is_in_bad_fork() -> bool:
    """Whether the current thread belongs to a forked child, or stands for one, that cannot use the device."""
    return state.is_child or (state.worker_thread is not None and state.worker_thread == threading.get_ident())


def note_use() -> None:
    """Record that the process uses a device.

    Raises:
        RuntimeError: it is a forked child of a process that had used the device.

    """
    if is_in_bad_fork():
        state.on_bad_use()
        raise reinitialized(state.kind)
    state.is_initialized = True


def check_use() -> None:
    """Check an operator on a tensor that is on a device.

    Raises:
        RuntimeError: it runs in a forked child.

    """
    if is_in_bad_fork():
        state.on_bad_use()
        raise initialization_failed()


def enter_child(spawned: bool, on_bad_use: Callable[[], None]) -> None:
    """Mark this process as a child.

    Args:
        spawned: it stands for a child of another start method, which initializes the device on its own.
        on_bad_use: called before the child's use of a device raises.

    """
    is_bad = state.is_child or (state.is_initialized and state.checks and state.kind in _FORKLESS)
    state.is_child = is_bad and not spawned
    state.is_initialized = False
    state.worker_thread = None
    state.on_bad_use = on_bad_use


class SimulatedWorker:
    """A data-loader worker forked now, whose work this process does inside the context.

    It cannot use the device if the process has used it before.
    """

    def __init__(self) -> None:
        self._is_bad = state.active and state.checks and state.is_initialized and state.kind in _FORKLESS
        self._outer: int | None = None

    def __enter__(self) -> None:
        self._outer = state.worker_thread
        if self._is_bad:
            state.worker_thread = threading.get_ident()

    def __exit__(self, *_: Any) -> None:
        state.worker_thread = self._outer
