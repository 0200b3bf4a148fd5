"""Constructs of Python between a bug and the line that fails: something is found in each program.

Each program of ``tests/data/constructs/programs.txt`` calls a model on the accelerator with a tensor on the CPU, or
combines both; in between is one construct of Python, of its standard library, or of a library that calls functions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity
from devfix.sources import SourceFile

FOLDER = Path(__file__).parents[1] / "data" / "constructs"
HEADER = (FOLDER / "header.txt").read_text(encoding="utf-8")
PARTS = (FOLDER / "programs.txt").read_text(encoding="utf-8").split("=== ")[1:]
PROGRAMS = dict(part.split("\n", 1) for part in PARTS)
NOT_FOLLOWED = {
    "atexit",
    "dcfields",
    "descriptor",
    "globals",
    "metaclass",
    "omegaconf",
    "partialmethod",
    "pytest",
    "signal",
    "unittest",
}


def findings_in(folder, text):
    path = folder / "train.py"
    path.write_text(text, encoding="utf-8")
    settings = Settings(root=str(folder), severity=Severity.LATENT, includes_doubtful=True)
    return fixpoint.check([SourceFile(str(path), text.encode(), text)], settings).resolutions


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in NOT_FOLLOWED])
def test_a_bug_is_found_behind_it(tmp_path, name):
    assert findings_in(tmp_path, HEADER + PROGRAMS[name])


@pytest.mark.parametrize("name", sorted(NOT_FOLLOWED))
def test_what_is_not_followed_is_listed_here(tmp_path, name):
    assert not findings_in(tmp_path, HEADER + PROGRAMS[name]), "it is followed now: take it off the list"
