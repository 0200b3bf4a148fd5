"""Facts that go together: a join remembers both sides, and a later test of the same condition tells them apart."""

from __future__ import annotations

import textwrap

import pytest

SETUP = """
from settings import args, choose

class Trainer:
    def __init__(self):
        self.wide = args.wide
        self.model = nn.Linear(3, 3)
        self.scale = torch.ones(3)
        %s

    def step(self, x):
        y = torch.zeros(3)
        %s
"""
START = """
trainer = Trainer()
trainer.model.train()
for x in DataLoader(torch.ones(8, 3)):
    trainer.step(x)
"""
MOVED = "if self.wide: self.model.cuda()"

BOTH = "x, y = x.cuda(), y.cuda()"

AGREE = [
    pytest.param(MOVED, f"if self.wide: {BOTH}\n        self.model(x) + y", id="across-methods"),
    pytest.param(MOVED, f"if args.wide: {BOTH}\n        self.model(x) + y", id="same-option"),
    pytest.param(
        "if self.wide: self.scale = self.scale.cuda()",
        f"if self.wide: {BOTH}\n        self.scale * x + y",
        id="tensor-attribute",
    ),
    pytest.param(
        "if args.kind == 'a': self.model.cuda()",
        f"if args.kind in ('a', 'b'):\n            if args.kind == 'b': return\n            {BOTH}\n"
        "        self.model(x) + y",
        id="one-of-several",
    ),
    pytest.param(
        "if args.kind in ['a', 'b']: self.model.cuda()",
        "if args.kind == 'a': self.model(x.cuda()) + y.cuda()",
        id="member-of-the-moved",
    ),
    pytest.param(
        "if args.kind not in ['a', 'b']: self.model.cuda()",
        "if args.kind == 'a': self.model(x) + y",
        id="no-member",
    ),
    pytest.param(
        "if args.kind == 'a': self.model = nn.Linear(3, 3)\n        else: self.model = nn.Linear(3, 3).cuda()",
        f"if not args.kind == 'a': {BOTH}\n        self.model(x) + y",
        id="another-object",
    ),
]
DISAGREE = [
    pytest.param(MOVED, "self.model(x.cuda()) + y", id="input-always-moved"),
    pytest.param(MOVED, "if self.wide: x = x.cuda()\n        self.model(x) + y", id="other-tensor"),
    pytest.param(MOVED, f"if self.wide: {BOTH}\n        self.model.cpu()\n        self.model(x) + y", id="moved-again"),
    pytest.param(
        "if args.kind == 'a': self.model.cuda()",
        "if args.kind in ('a', 'b'): self.model(x.cuda()) + y.cuda()",
        id="wider",
    ),
]


@pytest.mark.parametrize(("built", "used"), AGREE)
def test_conditions_that_go_together_are_decided_together(met, built, used):
    assert met(SETUP % (built, used) + START) == []


@pytest.mark.parametrize(("built", "used"), DISAGREE)
def test_conditions_that_do_not_go_together_are_not(met, built, used):
    assert met(SETUP % (built, used) + START)


NESTED = """
from settings import args

class Wide(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base.cuda()

    def forward(self, x):
        return self.base(x.cuda())

base = nn.Linear(3, 3)
if args.kind == "a":
    model = nn.Sequential(base){moved}
elif args.kind == "b":
    if args.wide:
        model = Wide(base)
    else:
        model = nn.Sequential(base)
else:
    raise ValueError(args.kind)
if not args.wide:
    model = model.cuda()
model(torch.ones(2, 3).cuda())
"""


@pytest.mark.parametrize(("moved", "fails"), [(".cuda()", False), ("", True)], ids=["every-path", "not-every-path"])
def test_a_condition_inside_one_of_several_branches_tells_what_comes_later(met, moved, fails):
    """With kind "a" and ``wide``, nothing but the branch itself moves the model."""
    assert bool(met(NESTED.format(moved=moved))) is fails


def test_each_of_several_objects_keeps_its_sides(met):
    """The programs of a family are chosen by name, and each moves its own model under the same option."""
    text = SETUP % (MOVED, f"if self.wide: {BOTH}\n        self.model(x) + y")
    other = text.replace("Trainer", "Other").replace("from settings import args, choose\n", "")
    start = """
if choose() == 1:
    trainer = Trainer()
else:
    trainer = Other()
for x in DataLoader(torch.ones(8, 3)):
    trainer.step(x)
"""

    assert met(text + other + start) == []


def test_a_model_that_is_moved_under_an_option_meets_what_is_moved_under_the_same_one(repair):
    """The constructor and the training loop test the same option."""
    text = """
        import argparse
        import torch
        from torch import nn
        from torch.utils.data import DataLoader


        class Trainer:
            def __init__(self, args):
                self.wide = args.wide
                self.model = nn.Linear(3, 3)
                if self.wide:
                    self.model.cuda()

            def train(self):
                ones = torch.ones(8, 3)
                if self.wide:
                    ones = ones.cuda()
                for x in DataLoader(torch.ones(80, 3), batch_size=8):
                    if self.wide:
                        x = x.cuda()
                    (self.model(x) - ones).pow(2).mean().backward()


        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--wide", type=bool, default=True)
            args = parser.parse_args()
            trainer = Trainer(args)
            trainer.train()


        if __name__ == "__main__":
            main()
    """
    assert repair("DEV204", textwrap.dedent(text)) == textwrap.dedent(text)


CHOSEN = """
if args.kind == "index":
    encoder = nn.Embedding(3, 4)
elif args.kind == "line":
    encoder = nn.Linear(3, 4)
else:
    encoder = None
%s
y = net(torch.zeros(3, device="cuda"))
"""


@pytest.mark.parametrize(
    "moved",
    [
        "if encoder is not None: net = encoder.cuda()\nelse: net = None",
        "if encoder is None: net = None\nelse: net = encoder.cuda()",
        "net = None\nif encoder is not None:\n    encoder = encoder.cuda()\n    net = encoder",
        "if encoder: net = encoder.cuda()\nelse: net = None",
        "if not encoder: net = None\nelse: net = encoder.cuda()",
        "def build(part): return part.cuda() if part is not None else None\nnet = build(encoder)",
    ],
)
def test_a_module_or_none_tells_how_it_was_chosen(met, moved):
    """Where it is ``None`` there is no module that was left on the CPU."""
    assert met("from settings import args\n" + CHOSEN % moved) == []


@pytest.mark.parametrize(
    "moved",
    [
        "net = encoder",
        "if encoder is None: net = encoder\nelse: net = encoder",
        "if encoder is not None: net = encoder\nelse: net = None",
    ],
)
def test_a_module_that_one_path_leaves_is_found(met, moved):
    assert met("from settings import args\n" + CHOSEN % moved)


@pytest.mark.parametrize("copied", ["copy.deepcopy(self.model)", "copy.deepcopy([self.model])[0]"])
def test_a_copy_takes_the_side_of_its_original(met, copied):
    start = f"{MOVED}\n        self.best = {copied}"
    agrees = SETUP % (start, f"if self.wide: {BOTH}\n        self.best(x) + y")
    differs = SETUP % (start, "if self.wide: self.best(x.cuda()) + y")

    assert met("import copy\n" + agrees + START) == []
    assert met("import copy\n" + differs + START) == ["if self.wide: self.best(x.cuda()) + y"]


CHAIN = """
from settings import args

def build(kind):
    if kind == "a":
        FIRST nn.Linear(3, 3).cuda()
    elif kind == "b":
        FIRST nn.Linear(3, 3)
    else:
        FIRST nn.Linear(3, 4).cuda()
    LAST

def run(net):
    if args.kind == "KIND":
        return net(torch.ones(3))
    return net(torch.ones(3).cuda())

net = build(args.kind)
run(net)
"""
FAILING = ["return net(torch.ones(3))", "return net(torch.ones(3).cuda())"]


@pytest.mark.parametrize(("first", "last"), [("net =", "return net"), ("return", "")])
def test_what_a_function_returns_for_one_of_several_literals_is_that_for_a_later_test(met, first, last):
    program = CHAIN.replace("FIRST", first).replace("LAST", last)

    assert met(program.replace("KIND", "b")) == []
    assert met(program.replace("KIND", "a")) == FAILING


@pytest.mark.parametrize("last", ["else:\n    net = nn.Linear(3, 4).cuda()", ""])
def test_a_literal_excludes_the_others_of_a_chain(met, last):
    program = (
        "from settings import args\nkind = args.kind\nif kind == 'a':\n    net = nn.Linear(3, 3).cuda()\n"
        f"elif kind == 'b':\n    net = nn.Linear(3, 3)\n{last}\n"
        "if args.kind == 'b':\n    net(torch.ones(3))\nelse:\n    net(torch.ones(3).cuda())\n"
    )

    assert met(program) == []
    assert met(program.replace("args.kind == 'b':\n    net(", "args.kind == 'a':\n    net(")) != []


def test_conditions_with_a_membership_inside_do_not_exclude_each_other(met):
    program = """
        import sys
        name = sys.argv[1]
        net = nn.Linear(3, 3).cuda()
        x = torch.ones(3)
        if not any(k in name for k in ["a"]):
            x = x.cuda()
        if any(k in name for k in ["b"]):
            net(x)
        """

    assert met(program) == ["net(x)"]
