"""Provenance: the origin of every tensor of a run, its transfers, and the values of the failing call.

A dispatch mode records where tensors are created, a function mode records transfers between devices, and patches record
moves and registrations of modules (:mod:`.watching`).  The records are attributes of the *storage* (:mod:`.histories`),
so that views, ``.data`` and parameters share them as they share memory.  If the script fails, :mod:`.story` describes
the values of the failing call as JSON.  :mod:`.timeline` records when values exist, and on which device.

Imports torch and the standard library only.
"""

from __future__ import annotations

from .caught import CaughtErrors
from .children import Children
from .frames import Frames
from .story import describe_failure
from .timeline import Timeline
from .timeline_report import TimelineReport
from .watching import Provenance

__all__ = ["CaughtErrors", "Children", "Frames", "Provenance", "Timeline", "TimelineReport", "describe_failure"]
