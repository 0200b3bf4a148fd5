"""Diffs for people: of a notebook cell by cell, as the lines of a notebook's file are strings of JSON.

``git apply`` takes the other one (:mod:`devfix.vcs.unified_diff`), which is in the lines of the file.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from devfix import sources
from devfix.model import Patch
from devfix.report.sanitize import printable
from devfix.sources import SourceError, SourceFile

__all__ = ["coloured", "lines", "readable"]

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def readable(patch: Patch) -> bytes | None:
    """The diff of a patch with notebooks; ``None`` where it has none, and the diff for git is readable as it is."""
    if not any(change.path.endswith(sources.NOTEBOOK) for change in patch.files):
        return None
    root = sources.diff_root(change.path for change in patch.files)
    told = [line for each in patch.files for line in lines(sources.display(each.path, root), each.old, each.new)]
    return "".join(f"{line}\n" for line in told).encode("utf-8", "surrogateescape")


def lines(name: str, old: bytes, new: bytes) -> Iterator[str]:
    """The lines of a unified diff of one file; the cells of a notebook that differ are files of their own."""
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
    """Sources by number; ``None`` where it is no notebook that can be read."""
    if not name.endswith(sources.NOTEBOOK):
        return None
    from devfix.sources.notebooks import runnable

    try:
        file: SourceFile = sources.decode(name, content)
    except SourceError:
        return None
    return {cell["number"]: cell["shown"] for cell in runnable(file.text)}


def coloured(diff: bytes) -> None:
    """Print the diff on standard output, a terminal, in colours."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in diff.decode("utf-8", "replace").removesuffix("\n").split("\n"):
        bold = line.startswith(("diff --git ", "--- ", "+++ "))
        console.print(Text(printable(line.removesuffix("\r")), style="bold" if bold else _STYLES.get(line[:1], "")))
