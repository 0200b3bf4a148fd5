"""Where everything lives after the first optimizer step: modules, optimizers, batches, tensors, and memory.

:mod:`.survey` says when to look and puts the map together; what is looked at has a module each.  Facts only: what is
out of place is judged by ``devfix.trace.device_map.rows``.  A map is JSON: it keeps no tensor alive.
"""

from __future__ import annotations

from .survey import Survey

__all__ = ["Survey"]
