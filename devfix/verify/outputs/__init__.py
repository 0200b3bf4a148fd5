"""What a run produces besides losses: printed text and files, collected and compared without executing anything.

In: the folders of a scratch copy before and after a run, and the text that it printed.  Out: :class:`Outputs`, and the
differences between those of two runs.
"""

from __future__ import annotations

from devfix.verify.outputs.collection import Captured, File, Outputs, collect
from devfix.verify.outputs.comparison import Difference, differences
from devfix.verify.outputs.files import Snapshot, snapshot

__all__ = ["Captured", "Difference", "File", "Outputs", "Snapshot", "collect", "differences", "snapshot"]
