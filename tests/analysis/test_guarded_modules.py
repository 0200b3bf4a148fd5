"""Modules that a class brings back from the CPU before it uses them, and a use without that."""

from __future__ import annotations

import textwrap

import pytest

from devfix import analysis
from devfix.analysis.guarded_modules import UnguardedUse, guards_modules
from devfix.syntax.tree import SourceTree

BASE = """
import torch

class Base:
    def encode(self, x):
        if self.vae.device == torch.device("cpu"):
            self.vae.to(self.device)
        return self.vae.encode(x)
"""
MODEL = """
from base import Base
import torch

class Model(Base):
    def decode(self, x):
        if self.vae.device.type == "cpu":
            self.vae.to(self.device)
        return self.vae.decode(x)

    def wake(self):
        self.vae.to(self.device)

    def references(self, images):
        {body}
"""


def _uses(body: str, base: str = BASE) -> list[str]:
    files = {"/lib/base.py": base, "/lib/model.py": MODEL.format(body=textwrap.indent(body, " " * 8).strip())}
    found = analysis.analyse_library("/lib/model.py", files.get, "/lib")
    assert found is not None
    uses = found.offloading.of(UnguardedUse) if found.offloading is not None else []
    return [use.tree.line(use.use.lineno) for use in uses]


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    """The folder has both files."""
    monkeypatch.setattr("devfix.analysis.program.listing", lambda folder: frozenset({"base.py", "model.py"}))


@pytest.mark.parametrize(
    "use",
    [
        "return self.vae.encode(images)",
        "return self.vae(images)",
        "return encode_all(self.vae, images)",
    ],
)
def test_a_use_without_the_guard_of_other_methods(use):
    assert _uses(use) == [use]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("self.vae.to(self.device)\nreturn self.vae.encode(images)", id="it-moves-the-module"),
        pytest.param("self.wake()\nreturn self.vae.encode(images)", id="it-calls-what-moves-the-module"),
        pytest.param("return self.encode(images)", id="another-method-uses-the-module"),
        pytest.param("return self.vae.config", id="it-does-not-run-the-module"),
        pytest.param("return Pipeline(self.vae, images)", id="an-object-is-built-with-the-module"),
        pytest.param("return encode_all(self.vae)", id="nothing-but-the-module-is-passed"),
        pytest.param("return self.encoder(images)", id="another-module"),
    ],
)
def test_nothing_is_unguarded(body):
    assert _uses(body) == []


def test_one_guard_is_no_custom():
    assert _uses("return self.vae.encode(images)", base="class Base:\n    pass\n") == []


@pytest.mark.parametrize(
    ("test", "body", "expected"),
    [
        ('self.vae.device == torch.device("cpu")', "self.vae.to(self.device)", True),
        ('self.vae.device.type == "cpu"', "self.vae.to(self.device)", True),
        ('self.vae.device != torch.device("cpu")', "self.vae.to(self.device)", False),
        ('self.vae.device == torch.device("cuda")', "self.vae.to(self.device)", False),
        ('self.vae.device == torch.device("cpu")', "self.unet.to(self.device)", False),
        ('x.device == torch.device("cpu")', "x = x.to(self.device)", False),
    ],
)
def test_what_brings_a_module_back(test, body, expected):
    text = f"class A:\n    def f(self, x):\n        if {test}:\n            {body}\n"

    assert guards_modules(SourceTree("lib.py", text)) is expected
