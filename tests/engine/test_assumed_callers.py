"""Findings that rest on callers that nobody has seen: shown where no file starts a program."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity
from devfix.sources import decode

LIBRARY = """
import torch


def shifted(x: torch.Tensor):
    return x + torch.ones(2)


def restored(model, path):
    model.load_state_dict(torch.load(path))
"""
PROGRAM = "import torch\n\nprint(torch.ones(2))\n"


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(files, **settings):
        given = [decode(name, text.encode()) for name, text in files.items()]
        outcome = fixpoint.check(given, Settings(root=".", **settings))
        return [(each.finding.code, each.finding.severity) for each in outcome.resolutions]

    return call


def test_a_library_shows_what_any_caller_meets_but_no_other_latent_finding(check):
    assert check({"lib.py": LIBRARY}) == [("DEV102", Severity.LATENT)]


def test_beside_a_program_the_level_of_the_finding_decides(check):
    assert check({"lib.py": LIBRARY, "train.py": PROGRAM}) == []


def test_a_file_that_cannot_be_parsed_starts_no_program(check):
    assert check({"lib.py": LIBRARY, "train.py": PROGRAM + "x = = 1\n"}) == [("DEV102", Severity.LATENT)]


@pytest.mark.parametrize(("severity", "codes"), [(Severity.ERROR, []), (Severity.LATENT, ["DEV102", "DEV301"])])
def test_a_severity_that_is_asked_for_holds(check, severity, codes):
    assert [code for code, _ in check({"lib.py": LIBRARY}, severity=severity)] == codes


@pytest.mark.parametrize("name", ["setup.py", "tests/test_lib.py", "docs/conf.py"])
def test_a_script_that_builds_or_tests_a_library_is_no_program(check, name):
    assert check({"lib.py": LIBRARY, name: PROGRAM}) == [("DEV102", Severity.LATENT)]
