"""The call that moves a module in a frame, in the style of the program's other moves."""

from __future__ import annotations

import ast

import pytest
from small_programs import DEVICE, IMPORTS, observe

from devfix.fixes.module_move import is_bound_ahead, module_move_at

FLAGS = f"{IMPORTS}use_cuda = torch.cuda.is_available()\nimport sys\nflag = len(sys.argv) > 1\n"


def move_in(text, data="torch.ones(3, 4).cuda()"):
    observations = observe(f"{text}\nhead({data})\n")
    mismatch = observations.mismatches[-1]
    return module_move_at(observations, mismatch, mismatch.point.call_frame)


MODULES = "net = nn.Linear(4, 4)\nhead = nn.Linear(4, 2)\n"


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        pytest.param(DEVICE + MODULES + "net.to(device)", "head.to(device)", id="statement"),
        pytest.param(DEVICE + MODULES + "net = net.to(device)", "head = head.to(device)", id="assignment"),
        pytest.param(FLAGS + MODULES + "if use_cuda:\n    net.cuda()", "if use_cuda:\n    head.cuda()", id="if"),
        pytest.param(FLAGS + MODULES + "if flag:\n    net.cuda()", "head.cuda()", id="if-on-something-else"),
        pytest.param(
            FLAGS + MODULES + "net = net.cuda() if use_cuda else net",
            "head = head.cuda() if use_cuda else head",
            id="conditional-expression",
        ),
        pytest.param(FLAGS + MODULES + "net.cuda(non_blocking=True)", "head.cuda()", id="non-blocking"),
    ],
)
def test_a_module_is_moved_like_its_siblings(text, statement):
    move = move_in(text)

    assert move.statement("head") == statement
    assert move.is_unconditional is (" if " not in f" {statement}")


@pytest.mark.parametrize(
    ("setup", "data", "trailer"),
    [
        pytest.param(DEVICE, "torch.ones(3, 4).cuda()", ".cuda()", id="cuda"),
        pytest.param(DEVICE, "torch.ones(3, 4).to(device)", ".to(device)", id="device"),
        pytest.param(DEVICE, "torch.ones(3, 4, device=device)", ".to(device)", id="live"),
        pytest.param(IMPORTS, 'torch.ones(3, 4, device="cuda")', '.to("cuda")', id="literal"),
    ],
)
def test_without_a_sibling_a_module_is_moved_like_the_tensors(setup, data, trailer):
    move = move_in(setup + "head = nn.Linear(4, 2)", data)

    assert (move.trailer, move.sibling) == (trailer, None)


def test_without_a_device_expression_there_is_no_move():
    assert move_in(IMPORTS + "head = nn.Linear(4, 2)", 'torch.ones(3, 4, device=torch.device("cuda"))') is None


@pytest.mark.parametrize(
    ("move", "chained", "stated", "assigned"),
    [
        ("net = nn.Linear(4, 4).to(device)", True, False, False),
        ("net = nn.Linear(4, 4)\nother = net.to(device)", True, False, False),
        ("net = nn.Linear(4, 4)\nnet.to(device)", False, True, False),
        ("net = nn.Linear(4, 4)\nnet = net.to(device)", False, True, True),
        ("pass", False, False, False),
    ],
    ids=["construction", "other-name", "statement", "assignment", "no-sibling"],
)
def test_the_form_of_the_siblings_move(move, chained, stated, assigned):
    found = move_in(f"{DEVICE}{move}\nhead = nn.Linear(4, 2)")

    assert (found.is_chained, found.is_statement, found.is_assigned) == (chained, stated, assigned)


FUNCTION = f"""{IMPORTS}
def main():
    first = 1
    device = torch.device("cuda")
    net = nn.Linear(4, 4).to(device)
    head = nn.Linear(4, 2)
    head(torch.ones(3, 4).cuda())
    late = 1

main()
"""


@pytest.mark.parametrize(("line", "ready"), [(0, False), (1, False), (2, True), (4, True)])
def test_a_move_is_ready_after_its_device_is_bound(line, ready):
    observations = observe(FUNCTION)
    mismatch = observations.mismatches[0]
    call_frame = mismatch.point.call_frame
    move = module_move_at(observations, mismatch, call_frame)

    assert move.names == {"device"}
    assert move.is_bound_before(call_frame, call_frame.activation.node.body[line]) is ready


METHOD = f"""{IMPORTS}
class Trainer:
    def __init__(self, gpu):
        self.net = nn.Linear(4, 4)
        self.device = gpu
        self.net(torch.ones(4).cuda())

Trainer(torch.device("cuda"))
"""


@pytest.mark.parametrize(
    ("name", "line", "ahead"),
    [("self.device", 0, False), ("self.device", 2, True), ("self.other", 0, True), ("gpu", 0, True)],
)
def test_an_attribute_is_bound_after_its_assignment(name, line, ahead):
    call_frame = observe(METHOD).mismatches[0].point.call_frame
    statement = call_frame.activation.node.body[line]

    assert isinstance(statement, ast.stmt)
    assert is_bound_ahead(call_frame, statement, name) is ahead
