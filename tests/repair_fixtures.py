"""Small programs before and after: written as listings, repaired with one rule."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.rules.registry import rule_for
from devfix.sources import SourceFile

IMPORTS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

"""


def sides(listing: str, imports: str = IMPORTS) -> tuple[str, str]:
    """A program before and after its repair.

    In a listing, lines behind ``-`` are there before only, and lines behind ``+`` after only; the others stand two
    columns to the right, below the imports that every program has.  A listing without marks stays as it is.
    """
    rows = textwrap.dedent(listing).strip("\n").splitlines()
    if not any(row[:2] in ("+ ", "- ") for row in rows):
        return _text(imports, rows), _text(imports, rows)
    assert all(row[:2].strip() in ("", "+", "-") for row in rows), "a row has two columns for its mark"
    before = [row[2:] for row in rows if row[:1] != "+"]
    after = [row[2:] for row in rows if row[:1] != "-"]
    return _text(imports, before), _text(imports, after)


def _text(imports: str, rows: list[str]) -> str:
    return imports + "\n".join(rows) + "\n"


@pytest.fixture
def before_and_after():
    return sides


@pytest.fixture
def unchanged():
    """A program that stays as it is."""
    return lambda listing: sides(listing)[0]


@pytest.fixture
def files_before_and_after():
    """The same for a project: listings by file name, without imports of ours; files without marks stay."""

    def call(listings: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        both = {name: sides(listing, imports="") for name, listing in listings.items()}
        return {name: old for name, (old, _) in both.items()}, {name: new for name, (_, new) in both.items()}

    return call


@pytest.fixture
def repair(tmp_path):
    """Repair programs with one rule: one text, or several files by their names."""

    def call(code: str, given: str | dict[str, str], unsafe: bool = False):
        if isinstance(given, str):
            return _repaired(tmp_path, code, {"train.py": given}, unsafe)["train.py"]
        return _repaired(tmp_path, code, given, unsafe)

    return call


def _repaired(folder: Path, code: str, texts: dict[str, str], unsafe: bool) -> dict[str, str]:
    files = []
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        files.append(SourceFile(str(path), text.encode(), text))
    rule = rule_for(code)
    unsafe |= rule is not None and rule.unsafe
    outcome = fixpoint.apply(files, Settings(select=(code,), unsafe_fixes=unsafe, root=str(folder)))
    assert outcome.problems == ()
    changed = {str(Path(change.path).relative_to(folder)): change.new.decode() for change in outcome.patch.files}
    return texts | changed
