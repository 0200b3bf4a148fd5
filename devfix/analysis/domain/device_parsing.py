"""Device strings."""

from __future__ import annotations

from devfix.analysis.domain.values import ACCELERATOR, CPU, Device

__all__ = ["UNKNOWN_INDEX", "parse_device"]


_ACCELERATOR_NAMES = ("cuda", "gpu", "mps", "xpu", "npu", "hpu", "mlu", "musa", "privateuseone", "tpu")


# Symbol of a device whose string ends in an unknown index: ``f"cuda:{rank}"``.
UNKNOWN_INDEX = "an index"


def parse_device(text: str) -> Device | None:
    """Return the device that a string names (``"cuda:0"``, ``"cpu"``); ``None`` if it names none."""
    name = text.strip().lower()
    if name == "cpu" or name.startswith("cpu:"):
        return CPU
    if any(name == kind or name.startswith(kind + ":") for kind in _ACCELERATOR_NAMES):
        return ACCELERATOR
    return None
