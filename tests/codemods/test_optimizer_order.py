"""DEV401 by example: what moves behind the move of the model, and what keeps its place."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import decode

from .listings import listings, projects

CODE = "DEV401"


@pytest.mark.parametrize("listing", listings("optimizer_order", "repaired"))
def test_the_optimizer_is_built_where_its_parameters_are_in_place(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", listings("optimizer_order", "untouched"))
def test_an_optimizer_that_is_right_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


@pytest.mark.parametrize("files", projects("optimizer_order"))
def test_only_the_file_that_builds_it_changes(files, files_before_and_after, repair):
    before, after = files_before_and_after(files)

    assert repair(CODE, before) == after


RESUMED = """\
  device = torch.device("cuda")
  model = nn.Linear(4, 2).to(device)
  optimizer = torch.optim.AdamW(model.parameters(), fused=True)
  checkpoint = torch.load("last.pt", map_location="cpu")
  model.load_state_dict(checkpoint["model"])
  optimizer.load_state_dict(checkpoint["optimizer"])
+ for group in optimizer.param_groups:
+     if group.get("fused") or group.get("capturable"):
+         for parameter in group["params"]:
+             if "step" in optimizer.state[parameter]:
+                 optimizer.state[parameter]["step"] = optimizer.state[parameter]["step"].to(parameter.device)
  model(torch.randn(2, 4, device=device)).sum().backward()
  optimizer.step()
"""


@pytest.mark.parametrize("declared", ["torch~=2.1.0", "numpy\ntorch==2.0.1"])
def test_steps_of_a_fused_optimizer_are_moved_where_the_declared_release_leaves_them(
    declared, tmp_path, before_and_after, repair
):
    (tmp_path / "requirements.txt").write_text(declared)
    before, after = before_and_after(RESUMED)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("declared", ["torch>=2.3", "", "torchvision==0.10.0"])
def test_steps_stay_where_pytorch_may_restore_them_itself(declared, tmp_path, before_and_after, repair):
    (tmp_path / "requirements.txt").write_text(declared)
    before, _ = before_and_after(RESUMED)

    assert repair(CODE, before) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [('map_location="cpu"', "map_location=device"), ("fused=True", "fused=False"), (", fused=True", "")],
)
def test_state_on_the_accelerator_and_other_optimizers_need_no_move(old, new, tmp_path, before_and_after, repair):
    (tmp_path / "requirements.txt").write_text("torch==2.0.1")
    before = before_and_after(RESUMED)[0].replace(old, new)

    assert repair(CODE, before) == before


GENERATED = """\
import torch
from torch import nn


class Generated(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 4)
        self.last = None

    def loss(self, x):
        {made}
        return self.last(self.head(x)).mean()


model = Generated().cuda()
optimizer = torch.optim.Adam(model.parameters())
x = torch.ones(2, 4).cuda()
{before}
for step in range(3):
    {each}
    loss = model.loss(x)
    loss.backward()
    optimizer.step()
"""
MADE = "self.last = nn.Linear(4, 1, device=x.device)"


@pytest.mark.parametrize(
    ("made", "before", "each", "codes"),
    [
        pytest.param(MADE, "", "pass", [], id="by-each-step"),
        pytest.param("pass", "", f"model.{MADE[5:]}", [], id="in-the-loop"),
        pytest.param("pass", "", f"if step == 0:\n        model.{MADE[5:]}", [CODE], id="once-in-the-loop"),
        pytest.param(f"if self.last is None:\n            {MADE}", "", "pass", [CODE], id="by-the-first-step"),
        pytest.param("pass", f"model.{MADE[5:]}", "pass", [CODE], id="before-the-loop"),
    ],
)
def test_a_submodule_that_each_step_replaces_is_not_trained(tmp_path, made, before, each, codes):
    text = GENERATED.format(made=made, before=before, each=each)
    source = decode(str(tmp_path / "train.py"), text.encode())
    outcome = fixpoint.check([source], Settings(select=(CODE,), root=str(tmp_path)))

    assert [each.finding.code for each in outcome.resolutions] == codes


WRAPPED = """\
import argparse

import torch
from torch import nn, optim

parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true")
parser.add_argument("--resume", default="")
args = parser.parse_args()


def train(model, args):
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(checkpoint["state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    if args.cuda:
        model = nn.DataParallel(model).cuda()
    model(torch.ones(3, 4).cuda()).sum().backward()
    optimizer.step()


train(nn.Linear(4, 2), args)
"""


def test_a_wrapper_stays_behind_what_loads_the_entries_of_the_model(repair):
    built = "    optimizer = optim.Adam"

    assert repair(CODE, WRAPPED) == WRAPPED.replace(built, f"    if args.cuda:\n        model.cuda()\n{built}")


BACK = """
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.net.parameters(), fused=True)

    def save(self):
        SAVED
        self.net.cuda()

    def step(self):
        self.net(torch.randn(3, 4).cuda()).sum().backward()
        self.optimizer.step()


agent = Agent()
agent.save()
agent.step()
"""


@pytest.mark.parametrize(
    ("saved", "fixed"),
    [
        ("torch.save(self.net.state_dict(), 'x.pt')", True),
        ("torch.save(self.net.cpu().state_dict(), 'x.pt')", False),
        ("self.net.to('cpu')", False),
        ("torch.save(self.net.to(torch.device('cpu')), 'x.pt')", False),
    ],
)
def test_a_module_that_comes_back_from_the_cpu_is_not_moved_ahead(repair, saved, fixed):
    program = BACK.replace("SAVED", saved)

    assert (repair(CODE, program) != program) is fixed


def test_a_module_that_was_on_the_cpu_before_is_moved_ahead(repair):
    program = """
import torch
from torch import nn


def main():
    model = nn.Linear(4, 2)
    model.to(torch.device("cpu"))
    optimizer = torch.optim.Adagrad(model.parameters())
    model.cuda()
    model(torch.ones(3, 4).cuda()).sum().backward()
    optimizer.step()


main()
"""
    lines = program.splitlines()

    assert repair(CODE, program).splitlines()[8:10] == lines[9:7:-1]


REPLACED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
        self.head = nn.Linear(3, 3)

    def forward(self, x):
        return self.head(self.body(x))


def train(model, optimizer):
    model(torch.ones(3).cuda()).sum().backward()
    optimizer.step()


model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(20):
    if epoch == int(open("late").read()):
        NAME = torch.optim.Adam(model.body.parameters())
        model.head = nn.Linear(3, 3).cuda()
    train(model, optimizer)
"""


@pytest.mark.parametrize(("name", "codes"), [("optimizer", []), ("other", [CODE])])
def test_an_optimizer_whose_name_another_one_takes_lacks_no_later_parameters(name, codes, tmp_path):
    text = REPLACED.replace("NAME", name)
    outcome = fixpoint.check([decode(str(tmp_path / "train.py"), text.encode())], Settings(root=str(tmp_path)))

    assert [resolution.finding.code for resolution in outcome.resolutions] == codes


FROZEN = """\
        head = nn.Linear(3, 3).cuda()
        for p in head.parameters():
            SET
        model.head = head
"""


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("p.requires_grad = False", []),
        ("p.requires_grad_(False)", []),
        ("p.requires_grad = True", [CODE]),
        ("model.body.weight.requires_grad = False", [CODE]),
    ],
)
def test_a_later_part_that_is_not_trained_needs_no_optimizer(statement, codes, tmp_path):
    part = FROZEN.replace("SET", statement)
    text = REPLACED.replace("        model.head = nn.Linear(3, 3).cuda()\n", part).replace("NAME", "other")
    outcome = fixpoint.check([decode(str(tmp_path / "train.py"), text.encode())], Settings(root=str(tmp_path)))

    assert [resolution.finding.code for resolution in outcome.resolutions] == codes
