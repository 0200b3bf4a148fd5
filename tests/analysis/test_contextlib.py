"""Context managers of the program: what they do before and behind the body of a ``with`` statement."""

from __future__ import annotations

import pytest

DEFINITIONS = """
import contextlib
from contextlib import contextmanager

@contextmanager
def placed(net):
    net.to("cuda")
    yield net
    net.cpu()

@contextlib.contextmanager
def parked(net):
    before = next(net.parameters()).device
    net.to("cpu")
    try:
        yield
    finally:
        net.to(before)

@contextmanager
def sometimes(net, flag):
    if flag:
        yield net.cuda()
    else:
        yield net

class Placed:
    def __init__(self, net):
        self.net = net

    def __enter__(self):
        return self.net.cuda()

    def __exit__(self, *error):
        self.net.cpu()

def run(net, x):
    with placed(net) as same:
        return same(x)

net, x = nn.Linear(3, 3), torch.ones(2, 3)
"""
RIGHT = {
    "within": "with placed(net) as same:\n    same(x.cuda())\n    net(x.cuda())",
    "behind": "with placed(net):\n    pass\nnet(x)",
    "a return": "run(net, x.cuda())\nnet(x)",
    "a break": "for _ in range(3):\n    with placed(net):\n        if net(x.cuda()).sum():\n            break\nnet(x)",
    "finally": "net.cuda()\nwith parked(net):\n    net(x)\nnet(x.cuda())",
    "twice": "with placed(net):\n    net(x.cuda())\nnet(x)\nwith placed(net):\n    net(x.cuda())",
    "nested": "with placed(net):\n    with parked(net):\n        net(x)\n    net(x.cuda())",
    "two at once": "with placed(net), parked(net):\n    net(x)\nnet(x)",
    "a class": "with Placed(net) as same:\n    same(x.cuda())\nnet(x)",
    "a stack": "net.cuda()\nwith contextlib.ExitStack() as stack:\n    stack.enter_context(parked(net))\nnet(x.cuda())",
    "a decorator": "net.cuda()\n@parked(net)\ndef f():\n    pass\nf()\nnet(x.cuda())",
    "by hand": "net.cuda()\nman = parked(net)\nman.__enter__()\nman.__exit__(None, None, None)\nnet(x.cuda())",
    "or none": "net.cuda()\nwith parked(net) if ASKED else contextlib.nullcontext():\n    pass\nnet(x.cuda())",
    "an object": "manager = placed(net)\nwith manager:\n    net(x.cuda())\nnet(x)",
}
WRONG = {
    "within": ("with placed(net):\n    net(x)", "net(x)"),
    "behind": ("with placed(net):\n    net(x.cuda())\nnet(x.cuda())", "net(x.cuda())"),
    "a return": ("run(net, x.cuda())\nnet(x.cuda())", "net(x.cuda())"),
    "finally": ("net.cuda()\nwith parked(net):\n    net(x.cuda())", "net(x.cuda())"),
    "a class": ("with Placed(net):\n    pass\nnet(x.cuda())", "net(x.cuda())"),
}


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_a_module_is_where_its_manager_has_it(met, program):
    assert met(f"{DEFINITIONS}\n{program}\n") == []


@pytest.mark.parametrize(("program", "line"), WRONG.values(), ids=WRONG)
def test_what_meets_it_elsewhere_is_found(met, program, line):
    assert met(f"{DEFINITIONS}\n{program}\n") == [line]


def test_one_that_yields_on_one_of_several_paths_is_followed_as_a_whole(met):
    assert met(f"{DEFINITIONS}\nwith sometimes(net, True) as same:\n    same(x)\n") == ["same(x)"]
