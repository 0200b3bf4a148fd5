"""Diffs for reading: notebooks cell by cell, coloured on a terminal.

:mod:`devfix.vcs.unified_diff` makes the diffs for ``git apply``, in lines of the notebook's JSON.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from devfix import sources
from devfix.model import Patch
from devfix.report.sanitize import printable
from devfix.sources import SourceError, SourceFile

__all__ = ["lines", "notebook_diff", "print_coloured"]

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def notebook_diff(patch: Patch) -> bytes | None:
    """Return the diff of a patch, with notebooks cell by cell; None if the patch has no notebooks."""
    if not any(change.path.endswith(sources.NOTEBOOK) for change in patch.files):
        return None
    root = sources.diff_root(change.path for change in patch.files)
    diff = [line for each in patch.files for line in lines(sources.display(each.path, root), each.old, each.new)]
    return "".join(f"{line}\n" for line in diff).encode("utf-8", "surrogateescape")


def lines(name: str, old: bytes, new: bytes) -> Iterator[str]:
    """Yield the unified diff of one file; each changed cell of a notebook is shown as a file."""
    before, after = _cells(name, old), _cells(name, new)
    if before is None or after is None or before.keys() != after.keys():
        yield from _unified(name, *(content.decode("utf-8", "replace").splitlines() for content in (old, new)))
        return
    for number, source in before.items():
        texts = (text.split("\n") if text else [] for text in (source, after[number]))
        yield from _unified(f"{name}:cell {number}", *texts)


def _unified(name: str, old: list[str], new: list[str]) -> Iterator[str]:
    return difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")


def _cells(name: str, content: bytes) -> dict[int, str] | None:
    """Return cell sources by cell number; None if the file is not a readable notebook."""
    if not name.endswith(sources.NOTEBOOK):
        return None
    from devfix.sources.notebooks import runnable

    try:
        file: SourceFile = sources.decode(name, content)
    except SourceError:
        return None
    return {cell["number"]: cell["shown"] for cell in runnable(file.text)}


def print_coloured(diff: bytes) -> None:
    """Print a diff in colour to standard output."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in diff.decode("utf-8", "replace").removesuffix("\n").split("\n"):
        bold = line.startswith(("diff --git ", "--- ", "+++ "))
        console.print(Text(printable(line.removesuffix("\r")), style="bold" if bold else _STYLES.get(line[:1], "")))
