"""The listings of tests/data/listings: one program each, in a file that is named by what it shows.

``RULE/repaired`` has programs that a rule repairs, ``RULE/untouched`` those that it leaves alone, ``RULE/projects``
a folder for each program of several files.  ``conftest.sides`` says how a listing is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

__all__ = ["listings", "projects"]

DATA = Path(__file__).parents[1] / "data" / "listings"


def listings(rule: str, kind: str) -> list[Any]:
    """A parameter for each listing of a kind, in the order of their names."""
    files = sorted((DATA / rule / kind).glob("*.txt"))
    assert files, f"no listing in {DATA / rule / kind}"
    return [pytest.param(file.read_text(encoding="utf-8"), id=file.stem) for file in files]


def projects(rule: str) -> list[Any]:
    """A parameter for each project: listings by the paths of their files."""
    folders = sorted((DATA / rule / "projects").iterdir())
    assert folders, f"no project in {DATA / rule}"
    return [pytest.param(_files(folder), id=folder.name) for folder in folders]


def _files(folder: Path) -> dict[str, str]:
    files = sorted(folder.rglob("*.txt"))
    return {
        file.relative_to(folder).as_posix().removesuffix(".txt"): file.read_text(encoding="utf-8") for file in files
    }
