"""Moves of a module that is never moved."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, IMPORTS, edited, observe, sides

from devfix.fixes.modules.module_moves import plan_move
from devfix.fixes.modules.module_roots import unmoved_roots

X = f"{DEVICE}x = torch.ones(3, 4).to(device)\n"


def plan(text):
    observations = observe(text)
    mismatch = observations.mismatches[0]
    return plan_move(observations, mismatch, unmoved_roots(observations, mismatch, mismatch.cpu[0])[0])


LISTINGS = [
    pytest.param("- net = nn.Linear(4, 2)\n+ net = nn.Linear(4, 2).to(device)\n  net(x)\n", "net", id="construction"),
    pytest.param(
        "  net = nn.Linear(4, 4)\n  head = nn.Linear(4, 2)\n  net.to(device)\n+ head.to(device)\n  head(net(x))\n",
        "head",
        id="after-its-sibling",
    ),
    pytest.param(
        "  head = nn.Linear(4, 2)\n  net = nn.Linear(4, 4)\n+ head.to(device)\n  net.to(device)\n  head(net(x))\n",
        "head",
        id="before-its-sibling",
    ),
    pytest.param(
        "  net = nn.Linear(4, 2)\n  net.load_state_dict(torch.load('a'))\n+ net.to(device)\n  net(x)\n",
        "net",
        id="after-the-checkpoint",
    ),
    pytest.param("- nn.Linear(4, 2)(x)\n+ nn.Linear(4, 2).to(device)(x)\n", "nn.Linear(4, 2)", id="without-a-name"),
    pytest.param(
        "  import sys\n  net = nn.Linear(4, 2)\n  if sys.argv[1:]:\n      net.to(device)\n+ net.to(device)\n  net(x)\n",
        "net",
        id="after-the-branches",
    ),
    pytest.param(
        "  class Box:\n      def __init__(self):\n          self.net = nn.Linear(4, 2)\n\n"
        "      def to(self, device):\n          self.net.to(device)\n          return self\n\n"
        "  box = Box()\n+ box.to(device)\n  box.net(x)\n",
        "box",
        id="object-with-a-to-method",
    ),
    pytest.param(
        "  class Net(nn.Module):\n      def forward(self, x):\n-         pool = nn.Linear(4, 2)\n"
        "+         pool = nn.Linear(4, 2).to(x.device)\n          return pool(x)\n\n  Net()(x)\n",
        "nn.Linear(4, 2)",
        id="where-its-input-is",
    ),
]


@pytest.mark.parametrize(("listing", "name"), LISTINGS)
def test_the_module_is_moved_as_its_author_would(listing, name):
    before, after = sides(listing, X)
    found = plan(before)

    assert edited(before, found.fixes[0].edits) == after
    assert found.name == name


def test_a_program_that_only_wraps_its_module_gets_a_device():
    before, after = sides(
        '+ device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "- net = nn.Linear(4, 2)\n+ net = nn.Linear(4, 2).to(device)\n"
        '  nn.DataParallel(net)(torch.ones(3, 4, device=torch.device("cuda")))\n',
        IMPORTS,
    )
    found = plan(before)

    assert [edited(before, fix.edits) for fix in found.fixes] == [after]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("net = nn.Linear(4, 2)\nnet(torch.ones(3, 4, device=torch.device('cuda')))", id="script"),
        pytest.param(
            "def f(net):\n    net(torch.ones(3, 4, device=torch.device('cuda')))\n\nf(nn.Linear(4, 2))",
            id="function",
        ),
    ],
)
def test_without_a_device_expression_there_is_no_fix(body):
    found = plan(f"{IMPORTS}{body}\n")

    assert found.fixes == ()
    assert found.name


def test_alternatives_are_limited_and_different():
    fixes = plan(
        f"{X}def run(net):\n    return net(x)\n\ndef make():\n    net = nn.Linear(4, 2)\n    return net\n\n"
        "model = make()\nrun(model)\n"
    ).fixes

    assert len({fix.edits for fix in fixes}) == len(fixes)
    assert 1 < len(fixes) <= 5


def test_an_attribute_of_some_instances_is_not_moved_before_the_branches_that_read_it():
    text = """\
import argparse

import torch
from torch import nn


class Scorer:
    def __init__(self, kind):
        self.kind = kind
        self.table = torch.randn(8, 4)
        if kind == "wide":
            self.net = nn.Linear(8, 4)
        elif kind == "plain":
            self.net = nn.Linear(4, 4)

    def rows(self, queries, gpu):
        found = self.table[queries]
        return found.cuda(gpu) if gpu >= 0 else found

    def score(self, queries, gpu=-1):
        count = len(queries)
        if self.kind == "plain":
            found = self.net(self.rows(queries, gpu))
        elif self.kind == "wide":
            found = self.net(torch.cat([self.rows(queries, gpu), self.rows(queries, gpu)], -1))
        else:
            found = self.rows(queries, gpu)
        return found.sum() / count


def main(args):
    print(Scorer(args.kind).score(torch.arange(3), gpu=args.gpu))


parser = argparse.ArgumentParser()
parser.add_argument("--kind")
parser.add_argument("--gpu", type=int)
main(parser.parse_args())
"""

    assert plan(text).fixes == ()
