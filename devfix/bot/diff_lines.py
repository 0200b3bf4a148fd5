"""The lines that a diff shows on its new side: forges accept comments only there."""

from __future__ import annotations

from devfix.vcs import hunks as diffs

__all__ = ["lines_of_hunk", "visible_lines"]


def visible_lines(patch: str) -> set[int]:
    """Return the numbers of added and context lines.

    Args:
        patch: the hunks of one file, as the APIs of GitHub and GitLab return them.

    """
    return {line for file in diffs.read(patch) for hunk in file.hunks for line in lines_of_hunk(hunk)}


def lines_of_hunk(hunk: diffs.Hunk) -> set[int]:
    """Return the numbers of a hunk's added and context lines."""
    count = sum(line.mark in (" ", "+") for line in hunk.lines)
    return set(range(hunk.new, hunk.new + count))
