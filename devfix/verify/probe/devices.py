"""Where a run works: on a machine without accelerator, on a simulated one, or on a real one."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["CHOICES", "REAL", "NoDevice", "device_for", "load_simulator", "precision_for"]

REAL = ("cuda", "mps", "xpu")
SIMULATED = ("sim", "unchecked")
CHOICES = ("cpu", *SIMULATED, *REAL)


def load_simulator(folder: str) -> Any:
    """Import the simulator package from its folder, under a name of its own."""
    name = "devfix_simulator"
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


class NoDevice:
    """A machine without accelerator; also what the others have in common."""

    def __enter__(self) -> Any:
        _hide_accelerators()
        return self

    def __exit__(self, *problem: Any) -> None:
        pass

    def work(self) -> dict[str, Any]:
        """What ran on the device, and how: fields of the report."""
        return {}

    def place_of(self, tensor: Any) -> str:
        """Where a tensor is, as PyTorch writes devices."""
        return str(tensor.device)


class SimulatedDevice(NoDevice):
    """Simulated devices; unchecked ones never complain."""

    def __init__(self, folder: str, kind: str, count: int, checks: bool) -> None:
        self._library = load_simulator(folder)
        self._simulation = self._library.Simulator(kind=kind, count=count, checks=checks, shared_random=True)

    def __enter__(self) -> Any:
        _hide_accelerators()
        _forget_that_they_are_hidden()
        self._simulation.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._simulation.__exit__(*problem)

    def place_of(self, tensor: Any) -> str:
        return str(self._library.reported_device(tensor))

    def work(self) -> dict[str, Any]:
        return {**self._library.work(), "unsupported": self._library.unsupported_used()}


class RealDevice(NoDevice):
    """A real device, made comparable."""

    def __init__(self, kind: str) -> None:
        from . import accelerator

        accelerator.settle()
        self._comparable: Any = accelerator.Comparable(kind)

    def __enter__(self) -> Any:
        self._comparable.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._comparable.__exit__(*problem)

    def work(self) -> dict[str, Any]:
        import torch

        comparable, backends = self._comparable, torch.backends
        tf32 = backends.cuda.matmul.allow_tf32 or backends.cudnn.allow_tf32  # the script's own wish
        return {
            "device_operations": comparable.device_operations,
            "all_operations": comparable.all_operations,
            "device_training": comparable.device_training,
            "all_training": comparable.all_training,
            "precision": "tf32" if tf32 and comparable.precision == "float32" else comparable.precision,
            "unsupported": [f"random numbers drawn inside {name}" for name in comparable.unmatched],
        }


def device_for(options: argparse.Namespace) -> NoDevice:
    """The device that the options ask for; enter it before the script starts."""
    if options.device in REAL:
        return RealDevice(options.device)
    if options.device in SIMULATED:
        return SimulatedDevice(options.simulator, options.kind, options.devices, checks=options.device == "sim")
    return NoDevice()


def precision_for(options: argparse.Namespace) -> AbstractContextManager[Any]:
    """Float64 where the options ask for it; enter it inside of the device."""
    if not options.float64:
        return nullcontext()
    from . import float64

    mode: type[Any] = float64.Wide  # torch's modes have no types
    made: AbstractContextManager[Any] = mode()
    return made


def _hide_accelerators() -> None:
    """As on a machine that has none; CUDA's are hidden by a variable, before torch is imported."""
    import torch

    library: Any = torch
    library.backends.mps.is_available = lambda: False
    if hasattr(library, "xpu"):
        library.xpu.is_available = lambda: False
        library.xpu.device_count = lambda: 0
    if hasattr(library, "accelerator"):
        library.accelerator.is_available = lambda: False
        library.accelerator.device_count = lambda: 0
        library.accelerator.current_accelerator = lambda check_available=False: None


def _forget_that_they_are_hidden() -> None:
    """A simulated machine has not set the variable, whose real value the driver goes on to see."""
    mapping: Any = os.environ
    mapping._data.pop(mapping.encodekey("CUDA_VISIBLE_DEVICES"), None)
