"""When two known places meet, and when they may."""

from __future__ import annotations

import textwrap
from collections import Counter

import pytest

from devfix.analysis.domain.values import Device

SETUP = """
import torch.nn.functional as F
import numpy as np
here = torch.ones(3, 3)
there = torch.ones(3, 3, device="cuda")
scalar = torch.tensor(2.0)
index = torch.tensor([0, 1])
model = nn.Linear(3, 3).cuda()
left = nn.Linear(3, 3)
target = torch.zeros(3, dtype=torch.long)
criterion = nn.CrossEntropyLoss()
weighted = nn.CrossEntropyLoss(weight=torch.ones(3))
gru = nn.GRU(3, 3).cuda()
"""

FAILS = [
    "here + there",
    "there + here",
    "there * here.sum(dim=0)",
    "there @ here",
    "torch.matmul(there, here)",
    "torch.cat([there, here])",
    "torch.cat((there, here), dim=1)",
    "torch.stack([there, here])",
    "torch.where(there > 0, there, here)",
    "F.cross_entropy(there, target)",
    "F.mse_loss(there, here)",
    "criterion(there, target)",
    "weighted(there, target.cuda())",
    "F.linear(there, here)",
    "F.embedding(target, there)",
    "model(here)",
    "left(there)",
    "model.weight @ here",
    "there.add_(here)",
    "there.mul(here)",
    "there.masked_fill(here > 0, 0)",
    "there.gather(1, target[:, None])",
    "there == here",
    "there.index_select(0, index)",
    "torch.einsum('ij,jk->ik', there, here)",
    "nn.functional.scaled_dot_product_attention(there, here, here)",
    "nn.MSELoss()(there, here)",
    "(there - here).pow(2).mean()",
    "gru(here)",
    "here[there.argmax(dim=1)]",
    "here[there > 0]",
    "here[:, there.argmax(dim=1)]",
    "there.backward(here)",
    "torch.autograd.grad(there, there, grad_outputs=here)",
    "scalar.add_(there.sum())",
]
WORKS = [
    "there[index]",
    "there[here > 0]",
    "here[there.sum().long()]",
    "there.add_(scalar)",
    "there * torch.sum(here)",
    "there * torch.zeros(())",
    "there * torch.tensor(unknown)",
    "there + there",
    "here + here",
    "there + 1",
    "there * scalar",
    "scalar * there",
    "there / torch.tensor(3)",
    "there * index[0]",
    "torch.where(there > 0, there, scalar)",
    "there[index]",
    "there[index, index]",
    "there[here > 0]",
    "there.copy_(here)",
    "here.copy_(there)",
    "there.size(0) + here.size(0)",
    "there.sum().item() + here",
    "len(there) * here",
    "there.shape[0] * here",
    "model(there)",
    "left(here)",
    "criterion(there, target.cuda())",
    "criterion(there.cpu(), target)",
    "torch.cat([there.cpu(), here])",
    "unknown(there, here)",
    "print(there, here)",
    "(there, here)",
    "[there, here]",
    "{'a': there, 'b': here}",
    "isinstance(there, torch.Tensor) and here",
    "here.to(there) + there",
    "here.type_as(there) + there",
    "there.view_as(here)",
    "there.expand_as(here)",
    "there.clamp(0, 1)",
    "torch.zeros(3, 3)[index]",
]
NEEDS_CPU = [
    "there.numpy()",
    "np.array(there)",
    "np.asarray(there)",
    "there.detach().numpy()",
]
FREE_TO_NUMPY = [
    "there.cpu().numpy()",
    "there.detach().cpu().numpy()",
    "here.numpy()",
    "there.tolist()",
    "there.item()",
]


@pytest.mark.parametrize("expression", FAILS)
def test_these_fail(met, expression):
    assert met(f"{SETUP}\nresult = {expression}\n") == [f"result = {expression}"]


@pytest.mark.parametrize("expression", WORKS)
def test_these_work(met, expression):
    assert met(f"{SETUP}\nresult = {expression}\n") == []


@pytest.mark.parametrize("expression", NEEDS_CPU)
def test_these_need_the_cpu(analyse, expression):
    observations = analyse(f"{SETUP}\nresult = {expression}\n")

    assert len(observations.host_accesses) == 1
    assert observations.mismatches == []


@pytest.mark.parametrize("expression", FREE_TO_NUMPY)
def test_these_are_on_the_cpu_when_they_have_to_be(analyse, expression):
    assert analyse(f"{SETUP}\nresult = {expression}\n").host_accesses == {}


def test_a_meeting_names_both_sides_and_the_operation(analyse):
    (mismatch,) = analyse(SETUP + "\nloss = F.cross_entropy(there, target)\n").mismatches

    assert "cross_entropy" in mismatch.operation
    assert [operand.text for operand in mismatch.cpu] == ["target"]
    assert [operand.text for operand in mismatch.accelerator] == ["there"]


def test_the_result_of_an_index_that_fails_meets_nothing(met):
    program = """
        found = here[there > 0]
        print(found + here, found + there)
        """

    assert met(SETUP + textwrap.dedent(program)) == ["found = here[there > 0]"]


def test_a_side_that_may_be_anywhere_meets_nothing(met):
    program = """
        x = torch.ones(3)
        if choose():
            x = x.cuda()
        print(x + torch.ones(3))
        print(x + torch.ones(3, device="cuda"))
        """

    # on one path each of the lines fails, whatever decides it
    assert met(program) == ["print(x + torch.ones(3))", 'print(x + torch.ones(3, device="cuda"))']


@pytest.mark.parametrize(
    ("test", "expected"),
    [("is_map(x)", []), ("isinstance(x, torch.Tensor)", ["print(x + there)"]), ("is_map(y)", ["print(x + there)"])],
)
def test_a_check_of_the_value_may_hold_for_those_on_the_accelerator_only(met, test, expected):
    program = f"""
        import pictures
        from pictures import is_map
        there = y = torch.ones(3, device="cuda")
        for each in pictures.load():
            x = torch.ones(3, device="cuda")
            if each.caption:
                x = torch.ones(3)
            if {test}:
                print(x + there)
        """

    assert met(program) == expected


def test_two_sides_that_depend_on_the_same_thing_do_not_meet(met):
    program = """
        x, y = torch.ones(3), torch.ones(3)
        if choose():
            x, y = x.cuda(), y.cuda()
        print(x + y)
        """

    assert met(program) == []


def test_a_failing_line_is_told_for_each_place_in_the_source_once(met):
    program = """
        def add(x):
            return x + torch.ones(3)

        for _ in range(5):
            add(torch.ones(3, device="cuda"))
        """

    assert met(program) == ["return x + torch.ones(3)"]


@pytest.mark.parametrize(
    ("statement", "fails"),
    [
        ("scalar += there.sum()", True),
        ("scalar = scalar + there.sum()", False),
        ("there += scalar", False),
        ("there[index] = here[:2]", True),
        ("there[index] = scalar", False),
        ("there[0] = here[0]", False),
        ("here[0] = there[0]", False),
        ("here[index.cuda()] = 1", False),
        ("here[index, index.cuda()] = here[0]", False),
        ("here[there > 0] = 0", False),
        ("here[index.cuda()] += 1", True),
        ("there[index] = 0", False),
        ("here[index[0].cuda()] = 1", False),
    ],
)
def test_what_is_written_in_place_must_be_where_the_rest_is(met, statement, fails):
    assert met(SETUP + statement) == ([statement] if fails else [])


@pytest.mark.parametrize("shape", ["reshape(1)", "view(1, -1)", "expand(3)", "repeat(3)", "flatten()", "unsqueeze(0)"])
def test_a_number_that_is_given_a_shape_is_one_no_more(met, shape):
    text = f"total = torch.rand(9).sum()\nfree = total * torch.ones(3).cuda()\ntotal.{shape} * torch.ones(3).cuda()\n"

    assert met(text) == [f"total.{shape} * torch.ones(3).cuda()"]


@pytest.mark.parametrize("shape", ["reshape(())", "view(torch.float32)", "detach()", "squeeze()"])
def test_a_number_without_a_shape_stays_one(met, shape):
    assert met(f"torch.rand(9).sum().{shape} * torch.ones(3).cuda()") == []


def test_a_model_of_many_parts_is_met_once_and_not_part_by_part(met, monkeypatch):
    asked = Counter()
    differs = Device.differs
    monkeypatch.setattr(Device, "differs", lambda *devices: (asked.update(["times"]), differs(*devices))[1])
    parts = "\n".join(f"        self.part{number} = nn.Linear(3, 3)" for number in range(300))
    program = f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{parts}\n"

    assert met(program + "net = Net().cuda()\nnet(torch.ones(3))") == ["net(torch.ones(3))"]
    assert asked["times"] < 300 * 20


TABLE = """
class Encoding(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros({size})

    def forward(self, x):
        return x + self.table[:, :2].repeat(3, 1)

Encoding()(torch.ones(3).cuda())
"""


def test_a_table_without_entries_is_a_placeholder(met):
    assert met(TABLE.format(size="0, 0")) == []
    assert met(TABLE.format(size="0, 4")) == ["return x + self.table[:, :2].repeat(3, 1)"]


@pytest.mark.parametrize(("size", "expected"), [("x.size(0), 0", []), ("0, 4", ["fc(code)"]), ("3, 4", ["fc(code)"])])
def test_rows_without_features_are_a_placeholder(met, size, expected):
    program = f"""
        x = torch.ones(3, 4).cuda()
        fc = nn.Linear(4, 4).cuda()
        code = torch.empty({size})
        fc(code)
        """

    assert met(program) == expected


@pytest.mark.parametrize(("default", "count"), [("torch.rand(3)", 0), ("torch.randn((3,))", 0), ("torch.ones(3)", 1)])
def test_random_numbers_as_a_default_are_a_placeholder(met, default, count):
    program = f"def add(x, y={default}):\n    return x + y\n\nadd(torch.ones(3).cuda())\n"

    assert len(met(program)) == count


@pytest.mark.parametrize(
    ("joined", "is_there"),
    [
        pytest.param("torch.maximum(anything(), scalar)", False, id="a-number-may-join-what-is-there"),
        pytest.param("anything() + scalar", False, id="in-an-operator"),
        pytest.param("torch.maximum(anything(), here)", True, id="dimensions-may-not"),
        pytest.param("torch.maximum(2, scalar)", True, id="numbers-alone"),
    ],
)
def test_a_tensor_without_dimensions_does_not_tell_where_an_unknown_operand_is(met, joined, is_there):
    assert bool(met(f"{SETUP}\ntorch.matmul({joined} * torch.ones(3, 3).to({joined}.device), there)")) is is_there


@pytest.mark.parametrize(
    ("handler", "count"),
    [
        pytest.param("area = torch.max(torch.zeros(1).cuda(), x)", 0, id="moved"),
        pytest.param("area = None", 1, id="given-up"),
        pytest.param("other = torch.zeros(1).cuda()", 1, id="another-name"),
    ],
)
def test_what_a_handler_repeats_with_a_move_is_meant(met, handler, count):
    attempt = "try:\n    area = torch.max(torch.zeros(1), x)\nexcept RuntimeError:\n    "

    assert len(met(f"x = torch.ones(3).cuda()\n{attempt}{handler}\n")) == count


@pytest.mark.parametrize("read", ["images.numpy()", "images[0].numpy()", "[x.numpy() for x in images]"])
def test_what_has_the_method_of_tensors_is_a_tensor(analyse, read):
    program = "for images in load():\n    images = images.to('cuda')\n"

    assert len(analyse(f"{program}    {read}\n").host_accesses) == 1
    assert analyse(f"{program}    print(len(images))\n").host_accesses == {}
