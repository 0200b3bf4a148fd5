"""What becomes of findings, without any repair."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint, suppressions
from devfix.engine.outcome import Resolutions
from devfix.engine.scan import identity, scan_program
from devfix.engine.workspace import Workspace
from devfix.model import Status
from devfix.sources import SourceFile

BROKEN = """\
import torch

model = torch.nn.Linear(4, 2).to("cuda")
x = torch.ones(3, 4)
model(x)
"""


@pytest.fixture
def settled():
    """The one resolution of a text."""

    def call(text: str, without=frozenset()):
        space = Workspace([SourceFile("train.py", text.encode(), text)], Settings())
        comments = {"train.py": suppressions.collect(text)}
        collected = Resolutions(space, comments, without, repair=False)
        (resolution,) = fixpoint.settle(collected, [scan_program(space, "train.py")]).resolutions
        return resolution

    return call


def test_what_has_a_safe_remedy_is_fixable(settled):
    assert settled(BROKEN).status is Status.FIXABLE


def test_a_comment_suppresses(settled):
    assert settled(BROKEN.replace("4)\nmodel", "4)  # devfix: ignore\nmodel")).status is Status.SUPPRESSED


def test_what_the_caller_leaves_out_is_left(settled):
    resolution = settled(BROKEN, without={identity(settled(BROKEN).finding)})

    assert (resolution.status, resolution.reason) == (Status.NOT_FIXED, "left out")


def test_a_safe_fix_that_no_pass_tried_is_for_the_next_run():
    space = Workspace([SourceFile("train.py", BROKEN.encode(), BROKEN)], Settings())
    collected = Resolutions(space, {}, frozenset(), repair=True)

    collected.leave(scan_program(space, "train.py").findings)

    (resolution,) = collected.outcome(1).resolutions
    assert (resolution.status, "run the command again" in resolution.reason) == (Status.FIXABLE, True)
