"""The command in this process, with a toy engine or the real one, and as a process of its own."""

from __future__ import annotations

import importlib
import os
import pathlib
import subprocess
import sys
import types
from dataclasses import replace

import pytest
from in_process import Result, run_in_process

from devfix.model import (
    Applicability,
    FileChange,
    Finding,
    Fix,
    Outcome,
    Patch,
    ReplaceExpression,
    Resolution,
    Severity,
    Span,
    Status,
)
from devfix.rules import registry
from devfix.rules.rule import Rule

ROOT = pathlib.Path(__file__).parents[2]


class ToyEngine(types.ModuleType):
    """``BUG`` is a finding that becomes ``FIX``; ``RISKY`` has an unsafe fix, ``STUCK`` none."""

    def __init__(self):
        super().__init__("devfix.engine.fixpoint")
        self.settings = None
        self.jobs = None

    def check(self, files, settings, jobs, cache=None, scope=None, progress=None):
        self.settings, self.jobs = settings, jobs
        resolutions = [resolution for file in files for resolution in self._find(file, settings)]
        return Outcome(tuple(resolutions), checked=len(files))

    def apply(self, files, settings, jobs, cache=None, scope=None, progress=None):
        checked = self.check(files, settings, jobs)
        resolutions = tuple(
            replace(resolution, status=Status.FIXED, fix=resolution.finding.fixes[0])
            if resolution.status is Status.FIXABLE
            and (resolution.finding.applicability is Applicability.SAFE or settings.unsafe_fixes)
            else resolution
            for resolution in checked.resolutions
        )
        words = [b"BUG", b"RISKY"] if settings.unsafe_fixes else [b"BUG"]
        changes = []
        for file in files:
            new = file.raw
            for word in words:
                new = new.replace(word, b"FIX")
            if new != file.raw:
                changes.append(FileChange(file.path, file.raw, new))
        return replace(checked, resolutions=resolutions, patch=Patch(tuple(changes)))

    def _find(self, file, settings):
        for number, line in enumerate(file.text.splitlines(), 1):
            for code, word, applicability in (
                ("DEV191", "BUG", Applicability.SAFE),
                ("DEV291", "RISKY", Applicability.UNSAFE),
                ("DEV391", "STUCK", None),
            ):
                if word in line and settings.enabled(code, file.path):
                    span = Span(number, line.index(word), number, line.index(word) + len(word))
                    edit = ReplaceExpression(file.path, span, "FIX")
                    fixes = (Fix(f"replace {word}", (edit,), applicability),) if applicability else ()
                    finding = Finding(code, word.lower(), Severity.ERROR, file.path, span, f"{word} is here", (), fixes)
                    yield Resolution(finding, Status.FIXABLE if fixes else Status.NOT_FIXED)


@pytest.fixture
def engine(monkeypatch):
    """The toy engine in the place of the real one, with three rules."""
    toy = ToyEngine()
    monkeypatch.setattr(importlib.import_module("devfix.cli._session"), "fixpoint", toy)
    rules = tuple(
        Rule(code, name, f"finds {name}", f"## What it does\n\nFinds `{name}`.\n\n```python\nx = 1\n```\n", None)
        for code, name in (("DEV191", "bug"), ("DEV291", "risky"), ("DEV391", "stuck"))
    )
    monkeypatch.setattr(registry, "all_rules", lambda: rules)
    return toy


@pytest.fixture
def inside():
    """Run the command in this process."""
    return run_in_process


@pytest.fixture
def run(engine):
    """Run the command in this process, with the toy engine."""
    return run_in_process


@pytest.fixture
def environment():
    """The environment in which ``python -m devfix`` finds this devfix, wherever it runs."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}


@pytest.fixture
def outside(environment):
    """Run ``python -m devfix`` as a process of its own, where a test is about processes."""

    def call(*arguments, cwd=None, stdin=b""):
        command = [sys.executable, "-m", "devfix", *map(str, arguments)]
        done = subprocess.run(command, cwd=cwd, env=environment, input=stdin, capture_output=True, check=False)
        return Result(done.returncode, done.stdout, done.stderr.decode())

    return call


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty repository to stand in."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
