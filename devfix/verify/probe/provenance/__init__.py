"""Where every value of a run comes from: who made it, who moved it, and which two met when it failed.

A dispatch mode notes where new memory is made, a function mode where tensors change devices, and patches where modules
are moved and put together (:mod:`.watching`).  What is noted hangs on the *storage* (:mod:`.histories`), so that views,
``.data`` and parameters share it, as they share memory.  When the script dies, :mod:`.story` tells what is known about
the values of the call that failed, as JSON.

Needs torch and the standard library only, as all of the probe.
"""

from __future__ import annotations

from .frames import Frames
from .story import tell
from .watching import Provenance

__all__ = ["Frames", "Provenance", "tell"]
