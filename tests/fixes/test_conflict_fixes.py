"""Edits that replace a hard-coded device by the program's device."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, IMPORTS, edited, observe, sides

from devfix.fixes.devices.conflict_fixes import conflict_edits, move_operand_at_use
from devfix.fixes.devices.conflicting_devices import device_conflicts

NET = f"{DEVICE}net = nn.Linear(4, 2).to(device)\n"


def conflict_in(text):
    observations = observe(text)
    return observations, next(device_conflicts(observations))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("net(torch.ones(3, 4).cuda())", "net(torch.ones(3, 4).to(device))"),
        (
            "net(torch.ones(3, 4).cuda(non_blocking=True))",
            "net(torch.ones(3, 4).to(device, non_blocking=True))",
        ),
        ("net(torch.ones(3, 4).to('cuda'))", "net(torch.ones(3, 4).to(device))"),
        ("net(torch.ones(3, 4, device='cuda'))", "net(torch.ones(3, 4, device=device))"),
        ("net(torch.ones(3, 4).type(torch.cuda.FloatTensor))", "net(torch.ones(3, 4).to(device, torch.float))"),
        ("net(torch.cuda.FloatTensor(3, 4))", "net(torch.FloatTensor(3, 4).to(device))"),
        ("net(torch.randn(3, 4, device='cpu'))", "net(torch.randn(3, 4, device='cpu').to(device))"),
    ],
)
def test_the_call_gets_the_device_of_the_program(old, new):
    before, after = sides(f"- {old}\n+ {new}\n", NET)
    title, edits = next(conflict_edits(*conflict_in(before)))

    assert edited(before, edits) == after
    assert title == "use `device`"


def test_an_alias_of_a_cuda_type_is_replaced_with_its_uses():
    before, after = sides(
        "- Tensor = torch.cuda.FloatTensor\n+ Tensor = torch.FloatTensor\n"
        "- net(Tensor(3, 4))\n+ net(Tensor(3, 4).to(device))\n",
        NET,
    )

    assert edited(before, next(conflict_edits(*conflict_in(before)))[1]) == after


@pytest.mark.parametrize(
    ("listing", "title"),
    [
        pytest.param(
            "  def run(where):\n      net(torch.ones(4).to(where))\n\n- run('cpu')\n+ run(device)\n",
            "give it `device`",
            id="argument",
        ),
        pytest.param(
            "  def run(where='cuda'):\n      net(torch.ones(4).to(where))\n\n- run()\n+ run(where=device)\n",
            "say `where=device`",
            id="default",
        ),
    ],
)
def test_the_caller_chooses_the_device(listing, title):
    before, after = sides(listing, NET)
    found, edits = next(conflict_edits(*conflict_in(before)))

    assert (found, edited(before, edits)) == (title, after)


def test_a_default_is_replaced_where_no_single_call_can_choose_the_device():
    before, after = sides(
        "- def run(where='cuda'):\n+ def run(where=device):\n      return net(torch.ones(4).to(where))\n\n"
        "  run() + run()\n",
        NET,
    )
    title, edits = next(conflict_edits(*conflict_in(before)))

    assert (title, edited(before, edits)) == ("use `device`", after)


def test_a_default_stays_where_its_definition_has_no_device():
    definition = "def run(where='cuda'):\n    return torch.ones(4).to(where)\n\n"
    before = f"{IMPORTS}{definition}{NET.removeprefix(IMPORTS)}net(run() + run())\n"

    assert list(conflict_edits(*conflict_in(before))) == []


def test_without_a_device_expression_the_move_gets_the_condition_of_the_others():
    setup = f"{IMPORTS}use_cuda = torch.cuda.is_available()\nnet = nn.Linear(4, 2)\nif use_cuda:\n    net.cuda()\n"
    before, after = sides(
        "  x = torch.ones(3, 4)\n- x = x.cuda()\n+ if use_cuda:\n+     x = x.cuda()\n  net(x)\n", setup
    )

    assert edited(before, next(conflict_edits(*conflict_in(before)))[1]) == after


def test_a_value_kept_on_the_cpu_is_moved_at_its_use():
    before, after = sides("  x = torch.ones(3, 4).cpu()\n- net(x)\n+ net(x.to(device))\n", NET)

    assert edited(before, [move_operand_at_use(*conflict_in(before))]) == after


@pytest.mark.parametrize(
    "body",
    ["net(torch.ones(3, 4).cuda())", "class Net(nn.Module):\n    pass\nx = torch.ones(3, device='cuda')"],
    ids=["accelerator", "unused"],
)
def test_a_value_on_the_accelerator_is_not_moved_at_its_use(body):
    assert move_operand_at_use(*conflict_in(f"{NET}{body}\n")) is None


def test_an_aliased_type_with_another_use_is_not_replaced():
    before = f"{NET}Tensor = torch.cuda.FloatTensor\nprint(Tensor)\nnet(Tensor(3, 4))\n"

    assert list(conflict_edits(*conflict_in(before))) == []


REPLICATED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, {name}):
        mask = torch.ones(3, 4).cuda()
        return self.layer({name} * mask)


net = nn.DataParallel(Net()).to(device)
net(torch.ones(3, 4).to(device))
"""


def test_a_replica_gets_the_device_of_its_input():
    text = IMPORTS + DEVICE + REPLICATED.format(name="x")

    assert "mask = torch.ones(3, 4).to(x.device)" in edited(text, next(conflict_edits(*conflict_in(text)))[1])


@pytest.mark.parametrize(
    ("net", "titles"),
    [("nn.DataParallel(Net())", []), ("Net()", ["use `next(self.parameters()).device`"])],
    ids=["replicated", "alone"],
)
def test_what_holds_for_one_module_does_not_hold_for_its_replicas(net, titles):
    text = IMPORTS + DEVICE + REPLICATED.format(name="x").replace("forward(self, x)", "forward(self, *x)")
    text = text.replace("x * mask", "x[0] * mask").replace("nn.DataParallel(Net())", net)

    assert [title for title, _ in conflict_edits(*conflict_in(text))] == titles
