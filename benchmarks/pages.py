"""Sections of Markdown pages that a command writes, between two lines of comments."""

from __future__ import annotations

from pathlib import Path


def rewrite(page: Path, begin: str, end: str, text: str) -> None:
    """Replace the text between two marker lines of a page.

    Raises:
        ValueError: if the page lacks a marker.

    """
    head, first, rest = page.read_text(encoding="utf-8").partition(f"{begin}\n")
    _, last, tail = rest.partition(end)
    if not first or not last:
        raise ValueError(f"{page} has no lines {begin} and {end}")
    page.write_text(f"{head}{first}{text}\n{last}{tail}", encoding="utf-8")
