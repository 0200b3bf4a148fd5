"""Statements that are moved after the move of a model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_programs import IMPORTS, edited, observe, sides

from devfix.analysis.domain.location import CallFrame
from devfix.fixes.reorder_after_move import constructed_after, model_names, moved_ahead

SETUP = f"{IMPORTS}net = nn.Linear(4, 2)\nnew = nn.Linear(4, 2)\nx = torch.ones(3, 4).cuda()\n"
STEP = """
  net(x).sum().backward()
  opt.step()
"""


def hazard_in(text):
    observations = observe(text)
    return observations, observations.hazards[0]


def point_at(point, start):
    """Return a program point like ``point`` at the statement of the script that starts with ``start``."""
    statement = next(stmt for stmt in point.tree.tree.body if point.tree.source(stmt).startswith(start))
    frame = CallFrame(point.call_stack[0].activation, statement)
    return replace(point, node=statement, call_stack=(frame,))


ADAGRAD = "torch.optim.Adagrad(net.parameters())"


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(f"- opt = {ADAGRAD}\n  net.cuda()\n+ opt = {ADAGRAD}\n{STEP}", id="one-statement"),
        pytest.param(
            f"- opt = {ADAGRAD}\n- plan = torch.optim.lr_scheduler.StepLR(opt, 2)\n  print(1)\n  net.cuda()\n"
            f"+ opt = {ADAGRAD}\n+ plan = torch.optim.lr_scheduler.StepLR(opt, 2)\n{STEP}",
            id="with-its-scheduler",
        ),
        pytest.param(
            f"  def main():\n-     opt = {ADAGRAD}\n      net.cuda()\n+     opt = {ADAGRAD}\n"
            "      net(x).sum().backward()\n      opt.step()\n  main()\n",
            id="in-a-function",
        ),
    ],
)
def test_an_optimizer_is_built_after_the_move(listing):
    before, after = sides(listing, SETUP)
    observations, hazard = hazard_in(before)
    fix, reason = constructed_after(observations, hazard.built, hazard.late)

    assert edited(before, fix.edits) == after
    assert (fix.title, reason) == ("construct it after `net.cuda()`", "")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(
            f"opt = {ADAGRAD}\nstate = opt.state\nnet.cuda(print(state))",
            "uses what would have to move",
            id="dependent",
        ),
        pytest.param(
            f"def build():\n    return {ADAGRAD}\n\ndef move():\n    net.cuda()\n\n"
            "def pair():\n    return build(), move()\n\nopt, _ = pair()",
            "construction and move are part of one statement",
            id="one-statement",
        ),
    ],
)
def test_a_construction_that_cannot_be_moved_has_a_reason(body, reason):
    observations, hazard = hazard_in(f"{SETUP}{body}\nnet(x).sum().backward()\nopt.step()\n")
    fix, why = constructed_after(observations, hazard.built, hazard.late)

    assert fix is None
    assert reason in why


def test_the_statement_that_collects_the_parameters_moves_as_well():
    before, after = sides(
        "- weights = list(net.parameters())\n- opt = torch.optim.SGD(weights, lr=1)\n  net.weight = new.weight\n"
        f"+ weights = list(net.parameters())\n+ opt = torch.optim.SGD(weights, lr=1)\n{STEP}",
        SETUP,
    )
    observations = observe(before)
    built, late = (point_at(observations.mismatches[0].point, start) for start in ("opt =", "net.weight ="))

    assert edited(before, constructed_after(observations, built, late, replaced=True)[0].edits) == after
    assert edited(before, constructed_after(observations, built, late)[0].edits) != after


LOAD = "opt.load_state_dict(torch.load('a'))"


@pytest.mark.parametrize(
    "between",
    ["", "  print(1)\n", "  state = opt.state\n"],
    ids=["adjacent", "independent", "reads-the-optimizer"],
)
def test_a_move_goes_ahead_of_the_restored_state(between):
    before, after = sides(f"  opt = {ADAGRAD}\n+ net.cuda()\n  {LOAD}\n{between}- net.cuda()\n  net(x)\n", SETUP)
    late = observe(before).moves[0]

    assert edited(before, moved_ahead(point_at(late, LOAD), late).edits) == after


def test_a_move_that_needs_the_restored_state_stays():
    text = f"{SETUP}opt = {ADAGRAD}\n{LOAD}\ngpu = opt.state\nnet.cuda(gpu)\nnet(x)\n"
    point = observe(text).moves[0]

    assert moved_ahead(point_at(point, LOAD), point) is None
    assert moved_ahead(point, point_at(point, "opt =")) is None


def test_the_names_of_modules_are_shared():
    point = observe(f"{SETUP}class Box:\n    pass\n\nbox = Box()\nbox.net = net\nnet.cuda()\n").moves[0]

    assert model_names(point, point.call_frame) == {"net", "new", "box.net"}


def test_a_thread_that_moves_the_model_is_not_started_ahead_of_the_restored_state():
    text = (
        f"import threading\n{SETUP}opt = {ADAGRAD}\n{LOAD}\n\ndef work():\n    net.cuda()\n    net(x)\n\n"
        "thread = threading.Thread(target=work)\nthread.start()\n"
    )
    late = observe(text).moves[0]

    assert moved_ahead(point_at(late, LOAD), late) is None
