"""Sections of Markdown pages that a command writes, between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``."""

from __future__ import annotations

from pathlib import Path


def rewrite(page: Path, name: str, text: str) -> None:
    """Replace the text of a section; the rest of the page stays.

    Raises:
        ValueError: if the page lacks the section.

    """
    begin, end = _markers(name)
    head, first, rest = page.read_text(encoding="utf-8").partition(f"{begin}\n")
    _, last, tail = rest.partition(end)
    if not first or not last:
        raise ValueError(f"{page} has no lines {begin} and {end}")
    page.write_text(f"{head}{first}{text}\n{last}{tail}", encoding="utf-8")


def create(page: Path, title: str, name: str) -> None:
    """Write a page with a title and an empty section."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join([f"# {title}", "", *_markers(name), ""]), encoding="utf-8")


def _markers(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
