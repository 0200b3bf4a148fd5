"""Scenarios: the machines on which a program is followed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MULTI_ACCELERATOR", "NO_ACCELERATOR", "ONE_ACCELERATOR", "Scenario"]


@dataclass(frozen=True)
class Scenario:
    """The machine on which a program is followed.

    Attributes:
        no_accelerator: there is no accelerator; only what hard-codes ``cuda`` or ``cuda:0`` still goes to one.
        multi_accelerator: there are two accelerators, and the process is told to use the second one.

    """

    no_accelerator: bool = False
    multi_accelerator: bool = False


#: One accelerator is there, and the program chooses it.
ONE_ACCELERATOR = Scenario()
NO_ACCELERATOR = Scenario(no_accelerator=True)
MULTI_ACCELERATOR = Scenario(multi_accelerator=True)
