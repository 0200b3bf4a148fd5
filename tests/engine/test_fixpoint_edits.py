"""Edits that do not hold: dropped with the reason, tried again, tried together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_programs import (
    BATCH,
    DEVICE,
    HEAD,
    HEAD_FIXED,
    IMPORTS,
    changed_remedies,
    settings,
    texts,
    told,
    with_rules,
)

from devfix.engine import fixpoint
from devfix.engine.edit_trials import Objection, Trial
from devfix.engine.fixpoint import apply, check
from devfix.model import Status
from devfix.rules import registry


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param("print(model)", "the finding is still there", id="does-not-help"),
        pytest.param(
            "model.to(device)[1].weight + model[1].weight.cpu()", "would fail instead", id="brings-a-new-hazard"
        ),
        pytest.param(
            "model.to(device).load_state_dict(torch.load('w.pt'))", "bring a new finding", id="brings-a-new-finding"
        ),
        pytest.param("x = = 1", "cannot be placed", id="does-not-compile"),
    ],
)
def test_an_edit_that_does_not_hold_is_dropped_with_the_reason(write, monkeypatch, code, reason):
    changed_remedies(monkeypatch, lambda fix: replace(fix, edits=tuple(replace(edit, code=code) for edit in fix.edits)))
    outcome = apply(write(train=HEAD), settings(ignore=("DEV501",)))

    assert told(outcome) == [("DEV201", "train.py", Status.NOT_FIXED)]
    assert reason in outcome.resolutions[0].reason
    assert outcome.patch.files == ()


def test_an_edit_that_brings_a_new_finding_is_tried_again_after_another_repair(write):
    text = BATCH.replace("    nn.functional", "    x = x.cuda()\n    nn.functional")

    outcome = apply(write(train=text), settings())

    assert {item.status for item in outcome.resolutions} == {Status.FIXED}
    assert "    x = x.to(device)\n    y = y.to(device)\n" in texts(outcome)["train.py"]


MARGIN = (
    IMPORTS + DEVICE + "\n\n"
    "class Margin(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.anchors = nn.Parameter(torch.randn(4, 2))\n\n"
    "    def forward(self, z, y):\n"
    "        near = self.anchors + y\n"
    "        return (z - near).pow(2).mean()\n\n\n"
    "net = nn.Linear(3, 2).to(device)\n"
    "margin = Margin()\n"
    "y = torch.ones(4, 2)\n"
    "y.to(device)\n"
    "margin(net(torch.randn(4, 3).to(device)), y).backward()\n"
)


def test_edits_that_fail_one_without_the_other_are_made_together(write):
    outcome = apply(write(train=MARGIN), settings())

    assert told(outcome) == [("DEV204", "train.py", Status.FIXED), ("DEV103", "train.py", Status.FIXED)]
    new = MARGIN.replace("margin = Margin()", "margin = Margin().to(device)").replace("\ny.to(", "\ny = y.to(")
    assert texts(outcome)["train.py"] == new


FOLLOWED = f"""\
{IMPORTS}

class Embedding(nn.Module):
    def forward(self, step):
        return step[:, None] * torch.arange(4)[None, :]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.Sequential(Embedding(), nn.Linear(4, 4))

    def forward(self, x, t):
        return x + self.step(t)


def noised(x, t):
    return table.gather(0, t)[:, None] * x


table = torch.rand(9)
{DEVICE}net = Net().to(device)
x = torch.rand(3, 4).to(device)
t = torch.randint(0, 9, (3,))
net(noised(x, t), t)
"""


def test_what_an_edit_makes_meet_is_repaired_with_it(write):
    outcome = apply(write(train=FOLLOWED), settings())

    assert told(outcome) == [("DEV102", "train.py", Status.FIXED)]
    new = FOLLOWED.replace("self.step(t)", "self.step(t.to(x.device))").replace(
        "arange(4)", "arange(4, device=step.device)"
    )
    assert texts(outcome)["train.py"] == new.replace("t)[:, None]", "t)[:, None].to(x.device)")


def test_it_is_not_where_a_comment_answers_for_it(write):
    text = FOLLOWED.replace("torch.arange(4)[None, :]", "torch.arange(4)[None, :]  # devfix: ignore[DEV102]")

    outcome = apply(write(train=text), settings())

    assert not outcome.patch.files


def test_where_one_of_two_edits_is_left_out_the_other_is_not_made(write):
    files = write(train=MARGIN)
    left = [item.finding for item in check(files, settings()).resolutions if item.finding.code == "DEV103"]

    outcome = apply(files, settings(), without=left)

    assert outcome.patch.files == ()
    assert ["would fail instead" in item.reason for item in outcome.resolutions] == [True, False]


def test_the_next_remedy_is_tried_where_the_first_does_not_hold(write, monkeypatch):
    original = registry.rule_for("DEV201").detect

    def detect(facts):
        for finding in original(facts):
            (good,) = finding.fixes
            bad = replace(good, edits=tuple(replace(edit, code="print(model)") for edit in good.edits))
            yield replace(finding, fixes=(bad, good))

    with_rules(monkeypatch, DEV201=detect)

    assert texts(apply(write(train=HEAD), settings())) == {"train.py": HEAD_FIXED}


def test_what_does_not_hold_is_tried_again_after_another_repair(write, monkeypatch):
    """The last finding is tried first; its edit holds only where the model has been moved again."""
    tried = []
    original = Trial.hold

    def hold(trial, before, fix, findings, **more):
        tried.append([finding.code for finding in findings])
        moved = trial.programs.space.text("train.py").count("model.to(device)") > 1
        return original(trial, before, fix, findings, **more) if moved or "DEV102" not in tried[-1] else Objection("-")

    monkeypatch.setattr(Trial, "hold", hold)
    monkeypatch.setattr(fixpoint, "repair_together", lambda *_: None)
    outcome = apply(write(train=HEAD + "x = torch.randn(2, 4)\nmodel(x)\n"), settings())

    assert tried[:2] == [["DEV102", "DEV201"], ["DEV102"]]
    assert tried[-2:] == [["DEV201"], ["DEV102"]]
    assert {item.status for item in outcome.resolutions} == {Status.FIXED}


def test_a_finding_without_a_remedy_keeps_its_reason(write):
    text = IMPORTS + 'print(nn.Linear(4, 2).to("cuda")(torch.ones(2, 4)))\n'
    outcome = apply(write(train=text), settings())

    assert told(outcome) == [("DEV102", "train.py", Status.NOT_FIXED)]
    assert outcome.resolutions[0].reason
