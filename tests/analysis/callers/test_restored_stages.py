"""Stages that may move a module, and the statement beside them that restores its placement."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.callers.restored_stages import unrestored_stages
from devfix.syntax.tree import SourceTree

TRAINER = """
class Trainer:
    def __init__(self, net, config):
        self.net = net
        self.data = make_loader({held}, config)
        self.tests = make_loader({held}, config)

    def sample(self):
        {parked}

    def validate(self):
        {before}
        self.tests.start()
        if not self.tests:
            return
        self.log("validating")
        {use}

    def train(self):
        self.data.start()
        self.setup_device(self.net)
        {again}
        self.tasks.loss(self.net)
"""
PARTS = {
    "held": "self.net",
    "parked": "self.net.to('cpu')",
    "before": "pass",
    "use": "self.tasks.loss(self.net)",
    "again": "self.setup_device(self.net); self.data.start()",
}


def _found(**parts: str) -> list[tuple[str, str, str]]:
    """Return module, anchor and restoring statement of each stage."""
    tree = SourceTree("lib.py", TRAINER.format(**PARTS | parts))
    cls = next(stmt for stmt in tree.tree.body if isinstance(stmt, ast.ClassDef))
    found = unrestored_stages(tree, cls)
    return [(each.module, ast.unparse(each.anchor), ast.unparse(each.restore)) for each in found]


def test_a_stage_without_the_statement_that_other_calls_have():
    assert _found() == [("self.net", "if not self.tests:\n    return", "self.setup_device(self.net)")]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"held": "config"}, id="the-stage-does-not-know-the-module"),
        pytest.param({"parked": "pass"}, id="nothing-moves-the-module-to-the-cpu"),
        pytest.param({"before": "self.setup_device(self.net)"}, id="the-method-restores-it-itself"),
        pytest.param({"use": "self.log('done')"}, id="the-module-is-not-used"),
        pytest.param({"use": "self.tasks.save(self.net)"}, id="it-is-used-in-another-way"),
        pytest.param({"again": "pass"}, id="one-other-call-is-no-rule"),
    ],
)
def test_it_is_no_stage(parts):
    assert _found(**parts) == []


def test_a_statement_that_only_comes_first_restores_nothing():
    first = "self.setup_device(self.net)\n        self.data.start()"
    text = TRAINER.replace(
        "self.data.start()\n        self.setup_device(self.net)", f"{first}\n        self.log(1)\n        {first}"
    )
    tree = SourceTree("lib.py", text.format(**PARTS | {"again": "pass"}))
    cls = tree.tree.body[-1]
    assert isinstance(cls, ast.ClassDef)

    assert [ast.unparse(each.stage) for each in unrestored_stages(tree, cls)] == []
