"""Framework objects: the base class of ``Accelerator``, ``Trainer``, ``Engine`` and the like."""

from __future__ import annotations

from dataclasses import dataclass, field

from devfix.analysis.domain.joins import equal_or
from devfix.analysis.domain.objects import HeapObject
from devfix.analysis.domain.values import UNKNOWN_DEVICE, Device

__all__ = ["FrameworkObject"]


@dataclass(frozen=True)
class FrameworkObject(HeapObject):
    """An object of a framework that places modules and batches itself.

    Attributes:
        input_device: where it places them.

    """

    input_device: Device = field(default=UNKNOWN_DEVICE, metadata=equal_or(UNKNOWN_DEVICE))
