"""How a program moves values, and how a new move follows it."""

from __future__ import annotations

import ast

import pytest
from small_programs import DEVICE, IMPORTS, observe

from devfix.fixes.move_style import Move, device_for_batch, last_move, move_of, style_at
from devfix.fixes.tensors.misplaced_items import MisplacedItem

FLAGS = f"{IMPORTS}import sys\n\nuse_cuda = torch.cuda.is_available()\nrank = int(sys.argv[1])\ndevice = 'cuda'\n"


def first_move(body):
    return observe(f"{FLAGS}net = nn.Linear(2, 2)\n{body}\n").moves[0]


@pytest.mark.parametrize(
    ("call", "trailer"),
    [
        ("net.to(device)", ".to(device)"),
        ("net.to(device=device, non_blocking=True)", ".to(device=device, non_blocking=True)"),
        ("net.to(device, torch.float16)", ".to(device)"),
        ("net.to(device, dtype=torch.half)", ".to(device)"),
        ("net.cuda()", ".cuda()"),
        ("net.cuda(rank)", ".cuda(rank)"),
    ],
)
def test_a_move_is_repeated_without_its_dtype(call, trailer):
    move = Move(first_move(call))

    assert move.trailer() == trailer
    assert move.legacy is ("cuda(" in call)


@pytest.mark.parametrize(
    ("body", "guard"),
    [
        pytest.param("if use_cuda:\n    net.cuda()", "use_cuda", id="if"),
        pytest.param("net = net.cuda() if use_cuda else net", "use_cuda", id="conditional-expression"),
        pytest.param("if use_cuda:\n    with torch.no_grad():\n        net.cuda()", "use_cuda", id="nested"),
        pytest.param("if use_cuda:\n    net.cuda()\nelse:\n    net.cpu()", None, id="with-else"),
        pytest.param("net.cuda()", None, id="unconditional"),
        pytest.param("if use_cuda:\n    def f():\n        net.cuda()\n    f()", None, id="around-the-function"),
    ],
)
def test_the_guard_is_the_innermost_condition_without_an_alternative(body, guard):
    found = Move(first_move(body)).guard

    assert (found and ast.unparse(found.test)) == guard


def test_a_wrapper_that_moves_its_module_names_no_device():
    moves = observe(f"{FLAGS}net = nn.Linear(2, 2)\nnet.to(device)\nimport nets\nnn.DataParallel(nets.small())\n").moves

    assert [last_move(moves, moves[-1].time).trailer(), len(moves)] == [".to(device)", 2]


def test_the_last_move_before_a_time_counts():
    first, second = observe(f"{FLAGS}net = nn.Linear(2, 2)\nnet.to(device)\nnet.cuda()\n").moves

    assert last_move([second, first], second.time).legacy
    assert not last_move([second, first], second.time - 1).legacy
    assert last_move([second, first], first.time - 1) is None


def test_a_point_without_a_call_is_no_move():
    point = observe(f"{FLAGS}torch.ones(3).cuda() + torch.ones(3)\n").mismatches[0].point

    assert move_of(None) is None
    assert move_of(point) is None
    assert move_of(first_move("net.cuda()")).trailer() == ".cuda()"


LOOP = """\
loader = DataLoader(TensorDataset(torch.ones(8, 4)), pin_memory=True)
{move}
for (x,) in loader:
    {before}
    net(x)
"""


def batch_style(move, setup=DEVICE, before="pass"):
    observations = observe(f"{setup}net = nn.Linear(4, 2)\n{LOOP.format(move=move, before=before)}")
    mismatch = observations.mismatches[0]
    (origin,) = mismatch.cpu[0].origins
    item = MisplacedItem(origin.site_id, origin.path, (mismatch,), ("x",))
    return style_at(observations, mismatch.point, item), device_for_batch(observations, mismatch.point, item)


@pytest.mark.parametrize(
    ("move", "setup", "style", "device"),
    [
        pytest.param("net.to(device)", DEVICE, (".to(device, non_blocking=True)", None), "device", id="device"),
        pytest.param("net.cuda()", DEVICE, (".cuda()", None), "device", id="cuda"),
        pytest.param("if use_cuda:\n    net.cuda()", FLAGS, (".cuda()", "use_cuda"), "device", id="if"),
        pytest.param(
            'net.to("cuda")',
            IMPORTS,
            (".to(next(net.parameters()).device, non_blocking=True)", None),
            "next(net.parameters()).device",
            id="the-module-of-the-mismatch",
        ),
    ],
)
def test_a_batch_item_is_moved_like_the_module(move, setup, style, device):
    found, expression = batch_style(move, setup)

    assert (found, expression) == (style, device)


@pytest.mark.parametrize(
    ("other", "overlaps"),
    [("y = x.to(device)", False), ("y = x.to(device, non_blocking=True)", True), ("pass", True)],
    ids=["blocking", "non-blocking", "no-other-move"],
)
def test_a_move_is_non_blocking_if_the_other_moves_of_batches_are(other, overlaps):
    (trailer, _), _ = batch_style("net.to(device)", before=other)

    assert ("non_blocking" in trailer) is overlaps
