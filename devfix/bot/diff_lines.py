"""Which lines of the new side a diff shows: hosts take comments there and nowhere else."""

from __future__ import annotations

import re

__all__ = ["lines_of_patch"]

_HEAD = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def lines_of_patch(patch: str) -> set[int]:
    """Added and context lines of the hunks of one file, as the APIs of GitHub and GitLab give them."""
    lines: set[int] = set()
    for line in patch.split("\n"):
        head = _HEAD.match(line)
        if head:
            first, many = int(head[1]), 1 if head[2] is None else int(head[2])
            lines.update(range(first, first + many))
    return lines
