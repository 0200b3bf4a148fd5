"""The pages about error messages: files of the documentation, included in the wheel."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from devfix.verify.probe.messages import FAMILIES, device_family

__all__ = ["page_for", "page_text", "pages_for"]

_PACKAGED = Path(__file__).parent / "errors"
_FOLDER = _PACKAGED if _PACKAGED.exists() else Path(__file__).parents[2] / "docs" / "errors"
_COMMENT = re.compile(r"^<!-- [^\n]* -->\n+", re.MULTILINE)


def page_for(word: str) -> str | None:
    """Return the name of the page about a message, given the page's name, a family or a message; None if none is."""
    names = {family.page for family in FAMILIES.values()}
    if word in names:
        return word
    family = FAMILIES.get(word) or FAMILIES.get(device_family(word) or "")
    return family.page if family is not None else None


def page_text(name: str) -> str:
    """Return the Markdown of a page, without the comments that mark its parts."""
    return _COMMENT.sub("", (_FOLDER / f"{name}.md").read_text(encoding="utf-8")).rstrip() + "\n"


def pages_for(error_families: Collection[str], *, with_alike: bool = True) -> dict[str, str]:
    """Return the pages about messages in which the findings of a rule can end: name → title.

    Args:
        error_families: the families that the rule names.
        with_alike: include the families that are like one of these.

    """
    named = {family.page: family.title for family in FAMILIES.values() if family.name in error_families}
    alike = {family.page: family.title for family in FAMILIES.values() if family.is_end_of(error_families)}
    return {**named, **(alike if with_alike else {}), **named}
