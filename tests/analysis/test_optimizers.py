"""What happens to parameters between the construction of an optimizer and its first step."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from devfix.analysis.torch import optimizers
from devfix.analysis.torch.optimizers import OptimizerObject, hazard_of_move

SETUP = """
import itertools
from functools import partial
from torch.optim import AdamW
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
other = nn.Linear(3, 3)
"""

HAZARDS = [
    pytest.param("o = torch.optim.Adagrad(model.parameters())\nmodel.cuda()\no.step()", "eager-state", id="adagrad"),
    pytest.param("o = torch.optim.Adam(model.parameters())\nmodel.cuda()\no.step()", "harmless", id="adam"),
    pytest.param("o = AdamW(model.parameters(), fused=True)\nmodel.cuda()\no.step()", "fused", id="fused"),
    pytest.param(
        "o = torch.optim.Adam(model.parameters(), capturable=True)\nmodel.cuda()\no.step()", "fused", id="capturable"
    ),
    pytest.param(
        "o = torch.optim.Adam(model.parameters())\no.load_state_dict(state)\nmodel.cuda()\no.step()",
        "state-loaded",
        id="state-loaded",
    ),
    pytest.param(
        "model.cuda()\no = torch.optim.SGD(model.parameters(), lr=1)\nmodel[1] = nn.Linear(3, 3).cuda()\no.step()",
        "replaced",
        id="replaced",
    ),
    pytest.param(
        "model.cuda()\no = torch.optim.SGD(model.parameters(), lr=1)\nmodel.append(nn.Linear(3, 3).cuda())\no.step()",
        "replaced",
        id="added",
    ),
    pytest.param(
        "model.cuda()\no = torch.optim.SGD(model.parameters(), lr=1)\nlayer = nn.Linear(3, 3).cuda()\n"
        "layer.weight = nn.Parameter(torch.ones(3, 3).cuda())\nmodel[1] = layer\no.step()",
        "replaced",
        id="new-weights",
    ),
    pytest.param(
        "o = torch.optim.Adagrad(model.parameters())\nmodel = model.to('cuda')\no.step()", "eager-state", id="assigned"
    ),
    pytest.param("o = torch.optim.Adagrad(list(model.parameters()))\nmodel.cuda()\no.step()", "eager-state", id="list"),
    pytest.param(
        "o = torch.optim.Adagrad([{'params': model[0].parameters()}])\nmodel.cuda()\no.step()",
        "eager-state",
        id="groups",
    ),
    pytest.param(
        "o = torch.optim.Adagrad(itertools.chain(model.parameters(), other.parameters()))\nother.cuda()\no.step()",
        "eager-state",
        id="chain",
    ),
    pytest.param(
        "o = torch.optim.Adagrad([p for p in model.parameters() if p.requires_grad])\nmodel.cuda()\no.step()",
        "eager-state",
        id="comprehension",
    ),
    pytest.param(
        "o = torch.optim.Adagrad(filter(lambda p: p.requires_grad, model.parameters()))\nmodel.cuda()\no.step()",
        "eager-state",
        id="filter",
    ),
    pytest.param(
        "o = torch.optim.Adagrad([p for n, p in model.named_parameters() if 'bias' in n])\nmodel.cuda()\no.step()",
        "eager-state",
        id="named",
    ),
    pytest.param(
        "o = torch.optim.Adagrad(params=model.parameters())\nmodel.cuda()\no.step()", "eager-state", id="keyword"
    ),
    pytest.param(
        "o = partial(torch.optim.Adagrad, lr=1)(model.parameters())\nmodel.cuda()\no.step()",
        "eager-state",
        id="partial",
    ),
    pytest.param(
        "o = getattr(torch.optim, 'Adagrad')(model.parameters())\nmodel.cuda()\no.step()", "eager-state", id="getattr"
    ),
    pytest.param(
        "def build(m):\n    return torch.optim.Adagrad(m.parameters())\no = build(model)\nmodel.cuda()\no.step()",
        "eager-state",
        id="factory",
    ),
    pytest.param(
        "o = torch.optim.Adagrad(model.parameters())\nmodel.cuda()\nscaler = torch.amp.GradScaler()\nscaler.step(o)",
        "eager-state",
        id="stepped-by-a-scaler",
    ),
    pytest.param("o = torch.optim.Adagrad(model[0].parameters())\nmodel.cuda()\no.step()", "eager-state", id="a-part"),
]
RIGHT = [
    pytest.param("model.cuda()\no = torch.optim.Adagrad(model.parameters())\no.step()", id="in-order"),
    pytest.param("o = torch.optim.Adagrad(model.parameters())\no.step()", id="never-moved"),
    pytest.param(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc, self.strategy = nn.Linear(3, 3), None\n"
        "    def forward(self, x):\n        if self.strategy is None:\n            self.strategy = mystery(x)\n"
        "        return self.strategy.predict(self.fc(x))\n"
        "net = Net().cuda()\no = torch.optim.SGD(net.parameters(), lr=1)\n"
        "for _ in range(3):\n    net(torch.ones(3).cuda())\n    o.step()",
        id="attribute-of-unknown-class",
    ),
    pytest.param(
        "import zoo\nnet = zoo.net().to('cuda')\no = torch.optim.SGD(net.parameters(), lr=1)\n"
        "net.head = nn.DataParallel(net.head)\nnet(torch.ones(3).cuda()).sum().backward()\no.step()",
        id="wrapped-part-of-a-module-of-unknown-class",
    ),
    pytest.param("o = torch.optim.Adagrad(model.parameters())\nmodel.cuda()", id="never-stepped"),
    pytest.param("o = torch.optim.Adagrad(model.parameters())\nmodel.cpu()\no.step()", id="moved-to-the-cpu"),
    pytest.param("o = torch.optim.Adagrad(model.parameters())\nmodel.half().eval()\no.step()", id="not-moved"),
    pytest.param("o = torch.optim.Adagrad(model.parameters())\nother.cuda()\no.step()", id="another-model"),
    pytest.param("model.cuda()\no = torch.optim.Adagrad(model.parameters())\nmodel.cuda()\no.step()", id="moved-twice"),
    pytest.param(
        "model.cuda()\no = torch.optim.SGD(model.parameters(), lr=1)\nmodel[1] = nn.Identity()\no.step()",
        id="no-weights",
    ),
    pytest.param(
        "model.cuda()\n"
        "o = torch.optim.SGD(model.parameters(), lr=1)\n"
        "model[1] = nn.Linear(3, 3).cuda()\n"
        "o.add_param_group({'params': model[1].parameters()})\n"
        "o.step()",
        id="group-added",
    ),
    pytest.param(
        "model.cuda()\n"
        "o = torch.optim.SGD(model.parameters(), lr=1)\n"
        "model[1] = nn.Linear(3, 3).cuda()\n"
        "o = torch.optim.SGD(model.parameters(), lr=1)\n"
        "o.step()",
        id="rebuilt",
    ),
    pytest.param(
        "model.cuda()\n"
        "o = torch.optim.SGD(model.parameters(), lr=1)\n"
        "model[1] = nn.Linear(3, 3).cuda().requires_grad_(False)\n"
        "o.step()",
        id="frozen",
    ),
    pytest.param(
        "model = nn.DataParallel(model.cuda())\n"
        "o = torch.optim.Adam(model.parameters())\n"
        "o.load_state_dict(state)\n"
        "model.cuda()\n"
        "o.step()",
        id="wrapped-later",
    ),
    pytest.param(
        "head = nn.Linear(3, 3).cuda()\n"
        "model.cuda()\n"
        "o = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=1)\n"
        "model[1] = head\n"
        "o.step()",
        id="held-already",
    ),
    pytest.param(
        "model.cuda()\n"
        "o = torch.optim.SGD(model.parameters(), lr=1)\n"
        "layer = nn.Linear(3, 3, device='meta')\n"
        "layer.weight, layer.bias = model[1].weight, model[1].bias\n"
        "model[1] = layer\n"
        "o.step()",
        id="shares-weights",
    ),
    pytest.param(
        "model.cuda()\n"
        "o = torch.optim.SGD(model.parameters(), lr=1)\n"
        "layer = nn.Linear(3, 3, device='meta')\n"
        "layer.weight = find_layer(model).weight\n"
        "model[1] = layer\n"
        "o.step()",
        id="unknown-weights",
    ),
    pytest.param(
        "import torchvision\n"
        "net = torchvision.models.resnet18().cuda()\n"
        "o = torch.optim.SGD(net.parameters(), lr=1)\n"
        "kept = net.bn1.momentum\n"
        "net.bn1.momentum = 1.0\n"
        "net(torch.ones(1, 3, 9, 9).cuda())\n"
        "net.bn1.momentum = kept\n"
        "net(torch.ones(1, 3, 9, 9).cuda()).sum().backward()\n"
        "o.step()",
        id="restored-attribute",
    ),
]


@pytest.mark.parametrize(("program", "kind"), HAZARDS)
def test_a_hazard_is_noted_with_its_kind(analyse, program, kind):
    assert {hazard.kind for hazard in analyse(f"{SETUP}\n{program}\n").hazards} == {kind}


@pytest.mark.parametrize("program", RIGHT)
def test_no_hazard_is_noted_where_nothing_goes_wrong(analyse, program):
    assert analyse(f"{SETUP}\n{program}\n").hazards == []


def test_a_hazard_tells_where_it_was_built_broken_and_shown(analyse):
    program = "o = torch.optim.Adagrad(model.parameters())\nmodel.cuda()\no.step()\n"
    (hazard,) = analyse(SETUP + program).hazards

    lines = [site.tree.line(site.span.line) for site in (hazard.built, hazard.late, hazard.step)]
    assert lines == program.splitlines()
    assert hazard.optimizer.endswith("Adagrad")


def test_state_that_sgd_does_not_have_cannot_stay_behind(analyse):
    program = "o = torch.optim.SGD(model.parameters(), lr=1)\no.load_state_dict(state)\nmodel.cuda()\no.step()\n"

    assert "state-loaded" not in {hazard.kind for hazard in analyse(SETUP + program).hazards}


@pytest.mark.parametrize(
    ("moved", "loaded", "kind"), [(2, 1, "state-loaded"), (1, 2, "harmless"), (1, None, "harmless")]
)
def test_a_load_on_one_of_two_joined_paths_follows_the_move_of_the_other(moved, loaded, kind):
    points = {"moved_late": SimpleNamespace(time=moved), "loaded": loaded and SimpleNamespace(time=loaded)}

    assert hazard_of_move(OptimizerObject("Adam", **points)) == kind


@pytest.mark.parametrize(("value", "count"), [("attend(x).mean(dim=1)", 0), ("nn.Linear(3, 3).cuda()", 1)])
def test_what_unknown_code_returns_is_no_submodule_for_being_kept_twice(analyse, value, count):
    program = f"""
from library import attend

class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = self.second = None
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        self.first = {value}
        self.second = self.first
        return self.fc(x)

net = Part().cuda()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(3):
    net(torch.ones(3, 3).cuda()).sum().backward()
    optimizer.step()
"""
    assert len({hazard.kind for hazard in analyse(program).hazards}) == count


def test_a_part_of_an_unknown_object_is_no_new_submodule(analyse):
    program = """
from library import read

model = nn.Linear(3, 3).cuda()
options = read().cuda()
options.eval()
optimizer = torch.optim.Adam(options.parameters())
for epoch in range(3):
    options.current_rate = options.rate
    model(torch.ones(3).cuda()).sum().backward()
    optimizer.step()
"""
    assert analyse(program).hazards == []


@pytest.mark.parametrize(
    ("part", "count"),
    [
        pytest.param("nn.CrossEntropyLoss(weight=torch.ones(3))", 0, id="loss"),
        pytest.param("nn.Linear(3, 3)", 1, id="layer"),
    ],
)
def test_class_weights_of_a_loss_are_no_parameters_that_the_optimizer_lacks(analyse, part, count):
    program = f"""
class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.optimizer = torch.optim.SGD(list(self.parameters()), lr=0.1)
        self.last = {part}

learner = Learner()
learner.layer(torch.ones(2, 3)).sum().backward()
learner.optimizer.step()
"""
    assert len(analyse(program).hazards) == count


LOADED = """
from agents import choose, other

class Agent(nn.Module):
    def fit(self):
        if choose():
            self.model = nn.Linear(3, 3)
        elif other():
            self.model = nn.Linear(3, 3)
        else:
            self.model = eval(choose())
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model = REPLACED
        self.model(torch.randn(2, 3))

Agent().fit()
"""


@pytest.mark.parametrize(("replaced", "lacks_any"), [("self.model.train()", False), ("nn.Linear(3, 3)", True)])
def test_a_model_of_which_nothing_is_known_may_be_what_its_methods_return(analyse, monkeypatch, replaced, lacks_any):
    missing = set()

    def noting(interp, *attached):
        note_attach(interp, *attached)
        missing.update(key for _, optimizer in optimizers._optimizers(interp) for key in optimizer.missing)

    note_attach = optimizers.note_attach
    monkeypatch.setattr(optimizers, "note_attach", noting)

    analyse(LOADED.replace("REPLACED", replaced))

    assert bool(missing) is lacks_any


SCHEDULED = """
from options import late
model, other = nn.Sequential(nn.Linear(3, 3)).cuda(), nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
for epoch in range(10):
    if epoch == late:
        optimizer = CHANGED
        model.append(nn.Linear(3, 3).cuda())
    model(torch.randn(2, 3).cuda()).sum().backward()
    optimizer.step()
    scheduler.step()
"""


@pytest.mark.parametrize(
    ("changed", "lacks_any"),
    [pytest.param("torch.optim.SGD(other.parameters(), lr=0.1)", False, id="new"), ("optimizer", True)],
)
def test_an_optimizer_that_a_scheduler_alone_holds_never_steps(analyse, changed, lacks_any):
    assert bool(analyse(SCHEDULED.replace("CHANGED", changed)).hazards) is lacks_any


NEW_PARTS = """
model = nn.Sequential(nn.Linear(3, 3))
model.extra = nn.ModuleList([nn.Linear(3, 3)])
model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.extra = nn.ModuleList([PART])
model(torch.randn(2, 3).cuda()).sum().backward()
model.extra[0](torch.randn(2, 3).cuda())
optimizer.step()
"""


@pytest.mark.parametrize(("part", "count"), [("eval(name)(3)", 0), ("nn.Linear(3, 3).cuda()", 1)])
def test_parts_of_which_nothing_is_known_are_no_parameters_that_the_optimizer_lacks(analyse, part, count):
    assert len(analyse(NEW_PARTS.replace("PART", part)).hazards) == count
