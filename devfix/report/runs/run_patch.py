"""The patch of a run's report: as ``git apply`` takes it, and for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.model import FileChange, Patch
from devfix.report import terminal_diff
from devfix.vcs import unified_diff

if TYPE_CHECKING:
    from devfix.verify.matrix import Matrix
    from devfix.verify.result import Proof

__all__ = ["old_content", "patch_bytes", "patch_text"]


def patch_bytes(found: Proof | Matrix) -> bytes:
    """Return the patch as ``git apply`` takes it."""
    root = found.experiment.project.root
    changes = (FileChange(str(root / name), old_content(found, name), found.changes[name]) for name in found.changed)
    return unified_diff.unified(Patch(tuple(changes)))


def patch_text(found: Proof | Matrix) -> str:
    """Return the patch as a unified diff for terminals."""
    lines: list[str] = []
    for name in found.changed:
        lines.extend(terminal_diff.lines(name, old_content(found, name), found.changes[name]))
    return "\n".join(lines)


def old_content(found: Proof | Matrix, name: str) -> bytes:
    """Return the bytes of a file before the patch; none if the patch creates it."""
    try:
        return (found.experiment.project.original / name).read_bytes()
    except FileNotFoundError:
        return b""
