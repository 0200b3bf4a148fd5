"""Devices of a run: none but the CPU, a simulated accelerator, or a real one."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = [
    "CHOICES",
    "REAL",
    "SIMULATOR",
    "NoDevice",
    "device_for",
    "load_simulator",
    "precision_for",
    "run_higher_order",
]

REAL = ("cuda", "mps", "xpu", "npu")
SIMULATED = ("sim", "unchecked")
SIMULATOR = "devfix_simulator"
CHOICES = ("cpu", *SIMULATED, *REAL)


def load_simulator(folder: str) -> Any:
    """Import the simulator package from its folder, as ``devfix_simulator``."""
    name = SIMULATOR
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def run_higher_order(mode: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator such as ``torch.cond`` in a mode, as the loaded simulator does."""
    return sys.modules[SIMULATOR].run_higher_order(mode, func, args, kwargs or {})


class NoDevice:
    """A machine without an accelerator, and the base class of the other devices."""

    def __enter__(self) -> Any:
        _hide_accelerators()
        return self

    def __exit__(self, *problem: Any) -> None:
        pass

    def report_fields(self) -> dict[str, Any]:
        """Return report fields: operation counts, precision and unsupported features."""
        return {}

    def work_ledger(self) -> Any:
        """Return the record of the run's work (``devfix.simulator.work.WorkLedger``); None if it is not recorded."""
        return None

    def device_of(self, tensor: Any) -> str:
        """Return a tensor's device as a string, such as ``cuda:0``."""
        return str(tensor.device)


class SimulatedDevice(NoDevice):
    """Simulated accelerators, with or without device checks."""

    def __init__(self, folder: str, kind: str, count: int, checks: bool) -> None:
        self._library = load_simulator(folder)
        self._simulation = self._library.Simulator(kind=kind, count=count, checks=checks, shared_random=True)

    def __enter__(self) -> Any:
        _hide_accelerators()
        _unset_visible_devices()
        self._simulation.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._simulation.__exit__(*problem)

    def work_ledger(self) -> Any:
        return self._library.work_ledger()

    def device_of(self, tensor: Any) -> str:
        return str(self._library.reported_device(tensor))

    def report_fields(self) -> dict[str, Any]:
        import torch

        cudnn = torch.backends.cudnn
        choices = {
            "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
            "deterministic cuDNN": cudnn.deterministic,
            "cuDNN benchmark": cudnn.benchmark,
        }
        return {
            **self._library.work_done(),
            "matmul_precision": torch.get_float32_matmul_precision(),
            "kernel_choice": [name for name, enabled in choices.items() if enabled],
            "unsupported": self._library.unsupported_used(),
        }


class RealDevice(NoDevice):
    """A real device with deterministic kernels and random numbers from the CPU."""

    def __init__(self, kind: str, simulator: str) -> None:
        from . import accelerator

        accelerator.make_deterministic()
        self._mode: Any = accelerator.CpuRandomMode(kind, load_simulator(simulator).WorkLedger())

    def __enter__(self) -> Any:
        self._mode.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._mode.__exit__(*problem)

    def work_ledger(self) -> Any:
        return self._mode.ledger

    def report_fields(self) -> dict[str, Any]:
        import torch

        mode, backends = self._mode, torch.backends
        tf32 = backends.cuda.matmul.allow_tf32 or backends.cudnn.allow_tf32  # enabled by the script
        return {
            **mode.ledger.report_fields(),
            "precision": "tf32" if tf32 and mode.precision == "float32" else mode.precision,
            "unsupported": [f"random numbers drawn inside {name}" for name in mode.unmatched],
        }


def device_for(options: argparse.Namespace) -> NoDevice:
    """Return the device that the options select; enter it before the script starts."""
    if options.device in REAL:
        return RealDevice(options.device, options.simulator)
    if options.device in SIMULATED:
        return SimulatedDevice(options.simulator, options.kind, options.devices, checks=options.device == "sim")
    return NoDevice()


def precision_for(options: argparse.Namespace) -> AbstractContextManager[Any]:
    """Return the float64 mode if the options select it, else a null context; enter it after the device."""
    if not options.float64:
        return nullcontext()
    from . import float64

    mode: type[Any] = float64.Float64Mode  # torch's modes have no types
    made: AbstractContextManager[Any] = mode()
    return made


def _hide_accelerators() -> None:
    """Hide all accelerators; CUDA's are hidden by an environment variable before torch is imported."""
    import torch

    library: Any = torch
    library.backends.mps.is_available = lambda: False
    for module in (getattr(library, name, None) for name in ("xpu", "npu")):
        if module is not None:
            module.is_available = lambda: False
            module.device_count = lambda: 0
    if hasattr(library, "accelerator"):
        library.accelerator.is_available = lambda: False
        library.accelerator.device_count = lambda: 0
        library.accelerator.current_accelerator = lambda check_available=False: None


def _unset_visible_devices() -> None:
    """Remove CUDA_VISIBLE_DEVICES from ``os.environ``; the process environment, which the driver reads, keeps it."""
    mapping: Any = os.environ
    mapping._data.pop(mapping.encodekey("CUDA_VISIBLE_DEVICES"), None)
