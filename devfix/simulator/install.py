"""Installation and removal of the simulator."""

from __future__ import annotations

import functools
import importlib
import threading
from typing import Any

import torch

from .autocast.regions import patch_autocast
from .boundaries.compilers import patch_compilers, run_compilers_eagerly
from .boundaries.exchange import extensions, patch_exchange
from .boundaries.launchers import patch_launchers
from .boundaries.processes import child_worked, patch_processes
from .cuda_api import streams
from .cuda_api.cuda import patch_cuda
from .cuda_api.legacy import patch_legacy
from .cuda_api.npu import register as register_npu
from .cuda_api.parallel import patch_parallel
from .dispatch_mode import DeviceCheckMode
from .function_mode import DeviceFunctionMode, patch_saved_tensor_hooks, with_mode
from .gradients import patch_gradients
from .kernels.table import kernels
from .optimizers import patch_optimizers
from .overrides import patch_overrides, preload_overrides
from .patches import Patches
from .state import state
from .storages import patch_storages
from .subclasses import patch_subclasses
from .symbolic import patch_fake_tensors
from .tags import set_tag_default
from .work import WorkLedger

__all__ = ["Simulator", "preload", "run_compilers_eagerly", "unsupported_used", "work_done", "work_ledger"]


class Simulator:
    """A machine with simulated accelerators, as a context manager.

    Args:
        kind: type of the simulated devices.
        count: number of devices.
        checks: raise on device mismatches; without checks the program runs as if all devices shared one memory.
        shared_random: draw the device's random numbers from the CPU's generator, so that dropout and factories on the
            device equal those on the CPU.

    Raises:
        RuntimeError: on entry, if a simulator is already active.

    """

    def __init__(self, kind: str = "cuda", count: int = 1, *, checks: bool = True, shared_random: bool = False) -> None:
        self._settings: dict[str, Any] = {
            "kind": kind,
            "count": count,
            "checks": checks,
            "shared_random": shared_random,
        }
        self._patches = Patches()
        self._modes: tuple[Any, ...] = ()

    def __enter__(self) -> Simulator:
        if state.active:
            raise RuntimeError("a simulator is already active")
        if self._settings["kind"] == "npu":
            register_npu()
        state.reset(**self._settings)
        state.active = True
        set_tag_default()
        streams.reset()
        patches = self._patches
        patches.set(torch, "Generator", streams.SimulatedGenerator)
        patch_cuda(patches)
        patch_storages(patches)
        patch_legacy(patches)
        patch_optimizers(patches)
        patch_parallel(patches)
        patch_autocast(patches)
        patch_exchange(patches)
        patch_gradients(patches)
        patch_processes(patches)
        patch_launchers(patches)
        patch_compilers(patches)
        patch_fake_tensors(patches)
        patch_overrides(patches, DeviceFunctionMode)
        self._modes = (DeviceFunctionMode(), DeviceCheckMode())  # type: ignore[no-untyped-call]  # untyped in torch
        patch_saved_tensor_hooks(patches, self._modes[0])
        patch_subclasses(patches, functools.partial(with_mode, self._modes[0]))
        self._patch_threads()
        for mode in self._modes:
            mode.__enter__()  # type: ignore[no-untyped-call]  # untyped in torch
        return self

    def __exit__(self, *problem: Any) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*problem)
        self._patches.undo()
        state.active = False

    def _patch_threads(self) -> None:
        """Enable the modes in every thread that the program starts, because modes are per thread."""
        real = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]  # not public

        function_mode, dispatch_mode = self._modes

        def bootstrap(thread: Any) -> None:
            with function_mode, dispatch_mode:
                real(thread)

        self._patches.set(threading.Thread, "_bootstrap_inner", bootstrap)


def preload() -> None:
    """Do once, before processes fork from this one, what is the same for all simulators."""
    importlib.import_module("torch._functorch.aot_autograd")  # its compilers are replaced where it is loaded
    kernels()
    set_tag_default()
    preload_overrides()


def unsupported_used() -> list[str]:
    """Return the unsupported features that the last simulated program used."""
    children = ["child processes"] if child_worked() and "child processes" not in state.unsupported else []
    return [*state.unsupported, *children, *extensions()]


def work_ledger() -> WorkLedger:
    """Return the work since the simulator was entered, to which its calls are added."""
    return state.work


def work_done() -> dict[str, Any]:
    """Return the work since the simulator was entered, :meth:`.work.WorkLedger.report_fields`, and the seedings."""
    return {**state.work.report_fields(), "device_seedings": state.seedings}
