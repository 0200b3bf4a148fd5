"""Child processes: those that only make Python, NumPy or CPU data are simulated, others are recorded as unsupported.

A forked child inherits the simulator.  If it works on a device or trains, a byte that all processes share says so: its
tensors would lose their tags on the way back, and its losses are not recorded.  Children of other start methods would
have no simulator, so they are forked as well.
"""

from __future__ import annotations

import functools
import mmap
import multiprocessing.context
import os
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions
from torch.utils._python_dispatch import _disable_current_modes

from ..forks import enter_child
from ..patches import Patches
from ..state import state
from ..tags import get_tag
from ..work import WorkLedger

__all__ = ["child_worked", "patch_processes"]

_worked = mmap.mmap(-1, 1)


class _ChildLedger(WorkLedger):
    """Work of a child process; on a device or in a backward pass, it is noted in the shared byte."""

    def add(
        self,
        func: Any,
        args: Any,
        result: Any,
        on_device: bool,
        mixed: tuple[bool, ...] = (),
        is_undecided: bool = False,
        is_mostly_on_device: bool = False,
    ) -> None:
        """Add a call, as :meth:`.work.WorkLedger.add` does."""
        if on_device or torch._C._current_graph_task_id() != -1:
            _note_work()
        super().add(func, args, result, on_device, mixed, is_undecided, is_mostly_on_device)


def _in_child() -> None:
    if state.active:
        state.work = _ChildLedger()
        enter_child(bool(_spawning), _note_work)


def _note_work() -> None:
    _worked[0] = 1


#: Not empty while a child of another start method is forked.
_spawning: list[bool] = []


def _as_spawned(popen: Any) -> Any:
    """Start a child that does not count as forked."""

    def start(process: Any) -> Any:
        _spawning.append(True)
        try:
            return popen(process)
        finally:
            _spawning.clear()

    return start


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def child_worked() -> bool:
    """Return whether a child process of the last simulation worked on a device or trained."""
    return bool(_worked[0])


def _sending(real: Any) -> Any:
    """Record tensors of a device that go to another process."""

    def reduce_tensor(tensor: Any) -> Any:
        if get_tag(tensor) is not None:
            state.note_unsupported("child processes")
        return real(tensor)

    return reduce_tensor


def _unobserved(real: Any) -> Any:
    """Move a storage to shared memory without counting it as work."""

    def share(*args: Any, **kwargs: Any) -> Any:
        with _disable_current_modes():
            return real(*args, **kwargs)

    return share


def patch_processes(patches: Patches) -> None:
    """Fork all children, and watch the tensors that are sent to them."""
    _worked[0] = 0
    methods: Any = multiprocessing.context
    fork = getattr(methods, "ForkProcess", None)
    if fork is not None:
        for name in ("SpawnProcess", "ForkServerProcess"):
            patches.set(getattr(methods, name), "_Popen", staticmethod(_as_spawned(fork._Popen)))
    for name in ("_share_fd_cpu_", "_share_filename_cpu_"):
        patches.set(torch.UntypedStorage, name, _unobserved(getattr(torch.UntypedStorage, name)))
    registered: Any = ForkingPickler._extra_reducers  # type: ignore[attr-defined]  # not public
    sending = _sending(reductions.reduce_tensor)
    for kind in [kind for kind, reduce in registered.items() if reduce is reductions.reduce_tensor]:
        registered[kind] = sending
        patches.on_undo(functools.partial(registered.__setitem__, kind, reductions.reduce_tensor))
