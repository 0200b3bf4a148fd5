"""The lines that a diff shows on its new side: forges accept comments only there."""

from __future__ import annotations

import re

__all__ = ["visible_lines_of_patch"]

_HUNK_HEADER = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def visible_lines_of_patch(patch: str) -> set[int]:
    """Return the numbers of added and context lines.

    Args:
        patch: the hunks of one file, as the APIs of GitHub and GitLab return them.

    """
    lines: set[int] = set()
    for line in patch.split("\n"):
        header = _HUNK_HEADER.match(line)
        if header:
            first, count = int(header[1]), 1 if header[2] is None else int(header[2])
            lines.update(range(first, first + count))
    return lines
