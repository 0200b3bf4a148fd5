"""Device strings."""

from __future__ import annotations

from devfix.analysis.domain.values import ACCELERATOR, CPU, Device

__all__ = ["UNKNOWN_INDEX", "names_device", "parse_device"]


_ACCELERATOR_NAMES = ("cuda", "gpu", "mps", "xpu", "npu", "hpu", "mlu", "musa", "privateuseone", "tpu")


# Symbol of a device whose string ends in an unknown index: ``f"cuda:{rank}"``.
UNKNOWN_INDEX = "an index"


#: What trainers and other libraries call accelerators, but PyTorch does not.
_NAMES_OF_OTHERS = ("gpu", "tpu")


def names_device(text: str) -> bool:
    """Return whether PyTorch takes a string for a device, ``"cuda:0"``; ``"gpu"`` is one of Lightning's."""
    return parse_device(text) is not None and text.strip().lower().partition(":")[0] not in _NAMES_OF_OTHERS


def parse_device(text: str) -> Device | None:
    """Return the device that a string names (``"cuda:0"``, ``"cpu"``); ``None`` if it names none."""
    name = text.strip().lower()
    if name == "cpu" or name.startswith("cpu:"):
        return CPU
    if any(name == kind or name.startswith(kind + ":") for kind in _ACCELERATOR_NAMES):
        return ACCELERATOR
    return None
