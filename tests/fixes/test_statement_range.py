"""The statements between the construction of a module and its first use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_programs import DEVICE, observe

from devfix.fixes.module_move import module_move_at
from devfix.fixes.modules.module_roots import unmoved_roots
from devfix.fixes.statement_range import StatementRange


def range_in(body):
    """Return the range of ``net``, and its move; the lines of the body are numbered from 0."""
    text = f"{DEVICE}x = torch.ones(3, 4).to(device)\nnet = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))\n{body}\n"
    observations = observe(text)
    mismatch = observations.mismatches[0]
    root = unmoved_roots(observations, mismatch, mismatch.cpu[0])[0]
    call_frame = root.allocated_at.call_stack[0]
    found = StatementRange(mismatch, root, call_frame, call_frame.stmt, "net")
    return found, module_move_at(observations, mismatch, call_frame)


@pytest.mark.parametrize(
    ("body", "offset"),
    [
        pytest.param("net(x)", 1, id="use"),
        pytest.param("print(1)\nnet(x)", 2, id="later-use"),
        pytest.param("opt = torch.optim.SGD(net.parameters(), lr=1)\nnet(x)", 1, id="optimizer"),
        pytest.param("import copy\ntwin = copy.copy(net)\nnet(x)", 2, id="copy"),
        pytest.param("net = net.train()\nnet(x)", 2, id="own-name"),
        pytest.param("size = net.training\nnet(x)", 2, id="attribute"),
        pytest.param("def f():\n    return net(x)\nf()", 2, id="definition-of-a-function"),
    ],
)
def test_the_range_ends_where_the_module_is_used_or_kept(body, offset):
    found, _ = range_in(body)

    assert found.limit == found.index + offset


@pytest.mark.parametrize(
    ("body", "changes", "loads"),
    [
        pytest.param("net[1] = nn.Linear(4, 2)\nnet(x)", [1], [], id="replaced-part"),
        pytest.param("print(1)\nnet.load_state_dict(torch.load('a'))\nnet(x)", [], [2], id="checkpoint"),
        pytest.param("net.eval()\nnet(x)", [], [], id="neither"),
        pytest.param("net(x)\nnet.load_state_dict(torch.load('a'))", [], [], id="after-the-use"),
    ],
)
def test_changes_and_checkpoints_before_the_use_are_found(body, changes, loads):
    found, _ = range_in(body)

    assert sorted({index - found.index for index in found.changes}) == changes
    assert [index - found.index for index in found.loads] == loads


@pytest.mark.parametrize(
    ("body", "loaded", "offset"),
    [
        pytest.param("net(x)", True, 0, id="at-once"),
        pytest.param("net.load_state_dict(torch.load('a'))\nnet(x)", True, 1, id="after-the-checkpoint"),
        pytest.param("net.load_state_dict(torch.load('a'))\nnet(x)", False, 0, id="before-the-checkpoint"),
        pytest.param("print(1)\nnet[1] = nn.Linear(4, 2)\nnet(x)", True, 2, id="after-the-change"),
    ],
)
def test_the_move_starts_after_changes_and_checkpoints(body, loaded, offset):
    found, move = range_in(body)

    assert found.start(move, loaded) == found.index + offset


FUNCTION = f"""{DEVICE}
def build():
    net = nn.Linear(4, 2)
    {{end}}

build()(torch.ones(3, 4).to(device))
"""


def range_in_function(end):
    observations = observe(FUNCTION.format(end=end))
    mismatch = observations.mismatches[0]
    root = unmoved_roots(observations, mismatch, mismatch.cpu[0])[0]
    call_frame = root.allocated_at.call_frame
    found = StatementRange(mismatch, root, call_frame, call_frame.stmt, "net")
    return found, module_move_at(observations, mismatch, call_frame)


def test_a_function_moves_before_it_returns():
    found, move = range_in_function("dev = device\n    return net")

    assert (found.start(move), found.limit) == (0, 2)
    assert found.index_of(found.block[2]) == 2
    assert found.index_of(found.call_frame.tree.tree.body[-1]) is None


def test_without_a_bound_device_there_is_no_start():
    found, move = range_in_function("if net.training:\n        dev = device\n    return net")

    assert found.start(replace(move, names=frozenset({"dev"}))) is None
    assert found.start(move) == 0
