"""Scenarios: the machines that an abstract run assumes."""

from __future__ import annotations

from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import ACCELERATOR, CPU, Device

__all__ = ["MULTI_ACCELERATOR", "NO_ACCELERATOR", "ONE_ACCELERATOR", "Scenario"]


@dataclass(frozen=True)
class Scenario:
    """The machine that an abstract run assumes.

    Attributes:
        no_accelerator: there is no accelerator; only a hard-coded ``cuda`` or ``cuda:0`` still denotes one.
        multi_accelerator: there are two accelerators, and the process uses the second one.

    """

    no_accelerator: bool = False
    multi_accelerator: bool = False

    @property
    def best_device(self) -> Device:
        """The device that a framework chooses by itself: the accelerator, if there is one."""
        return CPU if self.no_accelerator else ACCELERATOR


#: One accelerator is available, and the program chooses it.
ONE_ACCELERATOR = Scenario()
NO_ACCELERATOR = Scenario(no_accelerator=True)
MULTI_ACCELERATOR = Scenario(multi_accelerator=True)
