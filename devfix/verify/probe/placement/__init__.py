"""Device map: the devices of modules, optimizers, batches and tensors after the first optimizer step, and memory use.

:mod:`.survey` decides when to record the map and assembles it; each kind of object has its own module.  The map has
facts only; ``devfix.trace.device_map.rows`` finds the misplaced objects.  It is JSON, so it keeps no tensor alive.
In it, ``place`` and ``places`` are devices.

Imports torch and the standard library only.
"""

from __future__ import annotations

from .survey import Survey

__all__ = ["Survey"]
