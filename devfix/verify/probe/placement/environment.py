"""Environment of the run: versions and devices, as PyTorch reports them to the script."""

from __future__ import annotations

import argparse
import platform
from typing import Any

import torch

from .. import devices

__all__ = ["environment"]


def environment(options: argparse.Namespace) -> dict[str, Any]:
    """Return versions, and the accelerator: its type, whether it is simulated and available, the count and the names.

    ``built_for`` is None for a simulated accelerator.
    """
    kind, simulated = _kind(options), options.device in devices.SIMULATED
    library = getattr(torch, kind, None) if kind else None
    present = bool(kind and _available(kind))
    number = int(library.device_count()) if present and library is not None else 0
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "built_for": None if simulated else _build(),
        "kind": kind,
        "simulated": simulated,
        "available": present,
        "count": number,
        "names": [_name(kind or "", library, index) for index in range(number)],
    }


def _kind(options: argparse.Namespace) -> str | None:
    if options.device in devices.SIMULATED:
        return str(options.kind)
    return options.device if options.device in devices.REAL else None


def _build() -> str:
    """Return the platform of PyTorch's build."""
    version: Any = torch.version
    if getattr(version, "hip", None):
        return f"ROCm {version.hip}"
    return f"CUDA {version.cuda}" if version.cuda else "CPU"


def _available(kind: str) -> bool:
    library: Any = torch.backends.mps if kind == "mps" else getattr(torch, kind)
    return bool(library.is_available())


def _name(kind: str, library: Any, index: int) -> str:
    name = getattr(library, "get_device_name", None)  # torch.mps has none
    return str(name(index)) if name is not None else f"{kind}:{index}"
