"""Tensors that are created on the CPU and used on the accelerator."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, IMPORTS, edited, observe, sides

from devfix.fixes.tensors.factory_fixes import creation_fixes, misplaced_creations

NET = f"{DEVICE}net = nn.Linear(4, 2).to(device)\n"


def fixes_in(text):
    observations = observe(text)
    group = next(misplaced_creations(observations))
    return group, list(creation_fixes(observations, group))


@pytest.mark.parametrize(
    ("listing", "title"),
    [
        pytest.param(
            "- x = torch.ones(3, 4)\n+ x = torch.ones(3, 4, device=device)\n  net(x)\n",
            "create `x` on the device",
            id="keyword",
        ),
        pytest.param(
            "- x = torch.randn(3, 4)\n+ x = torch.randn(3, 4).to(device)\n  net(x)\n", "move `x`", id="random-numbers"
        ),
        pytest.param(
            "  x = torch.empty(3, 4)\n  x.normal_()\n+ x = x.to(device)\n  net(x)\n", "move `x`", id="initialized-later"
        ),
        pytest.param(
            "- net(torch.ones(3, 4))\n+ net(torch.ones(3, 4, device=device))\n",
            "create `torch.ones(...)` on the device",
            id="no-name",
        ),
        pytest.param(
            "- a = torch.ones(3, 2)\n+ a = torch.ones(3, 2, device=device)\n- b = torch.ones(3, 2)\n"
            "+ b = torch.ones(3, 2, device=device)\n  net(torch.cat([a, b], 1))\n",
            "create `a`, `b` on the device",
            id="one-operand",
        ),
        pytest.param(
            "  def make():\n      return torch.ones(3, 4)\n\n- x = make()\n+ x = make().to(device)\n  net(x)\n",
            "move `torch.ones(...)`",
            id="helper",
        ),
        pytest.param(
            "  def scale(x, device=None):\n-     return x * torch.ones(4, device=device)\n"
            "+     return x * torch.ones(4, device=x.device if device is None else device)\n\n"
            "  scale(net.weight)\n",
            "create `torch.ones(...)` on the device",
            id="a-device-that-callers-may-leave-out",
        ),
    ],
)
def test_the_tensor_reaches_the_device_as_its_author_would_write(listing, title):
    before, after = sides(listing, NET)
    _, fixes = fixes_in(before)

    assert (fixes[0].title, edited(before, fixes[0].edits)) == (title, after)


def test_the_alternatives_of_a_helper_are_different():
    _, fixes = fixes_in(f"{NET}def make():\n    return torch.ones(3, 4)\n\nx = make()\nnet(x)\n")

    assert len({fix.edits for fix in fixes}) == len(fixes) > 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("net(torch.ones(3, 4).to(device))", id="moved"),
        pytest.param("x = torch.ones(3, 4)\nprint(x)", id="unused"),
        pytest.param("class A:\n    pass\na = A()\na.x = torch.ones(3, 4)\nnet(a.x)", id="attribute"),
        pytest.param("nn.Linear(4, 2)(torch.ones(3, 4).to(device))", id="module"),
        pytest.param("for (x,) in DataLoader(TensorDataset(torch.ones(3, 4))):\n    net(x)", id="batch"),
    ],
)
def test_other_values_are_no_misplaced_creations(body):
    assert list(misplaced_creations(observe(f"{NET}{body}\n"))) == []


def test_without_a_device_expression_there_is_no_fix():
    text = f"{IMPORTS}nn.Linear(4, 2, device=torch.device('cuda'))(torch.ones(3, 4))\n"

    assert fixes_in(text)[1] == []


def test_a_tensor_with_a_device_is_not_created_on_another():
    _, fixes = fixes_in(f"{NET}net(torch.ones(3, 4, device=None))\n")
    texts = [edit.code for fix in fixes for edit in fix.edits]

    assert texts == [".to(device)"]


@pytest.mark.parametrize(
    ("body", "is_in_helper", "partners"),
    [
        ("y = torch.ones(3, 4).to(device)\nx = torch.ones(3, 4)\ny + x", False, ["y"]),
        ("def make():\n    return torch.ones(3, 4)\n\ny = torch.ones(4).to(device)\ny + make()", True, []),
    ],
    ids=["script", "helper"],
)
def test_a_creation_has_its_function_and_partners(body, is_in_helper, partners):
    ((creation,), _) = fixes_in(f"{NET}{body}\n")

    assert creation.is_in_helper is is_in_helper
    assert creation.partners(creation.point.call_frame) == partners


@pytest.mark.parametrize(
    ("parameter", "options"),
    [("x=None, device=None", "device=device"), ("x, device=None", "device=device, pin_memory=True")],
)
def test_a_device_that_may_be_none_or_must_not_be_one_is_left_out(parameter, options):
    text = f"{NET}def scale({parameter}):\n    return x * torch.ones(4, {options})\n\nscale(net.weight)\n"
    _, fixes = fixes_in(text)

    assert all("if device is None" not in edited(text, fix.edits) for fix in fixes)


@pytest.mark.parametrize(
    ("expression", "moved"),
    [
        pytest.param("masks * gamma * x", "masks.to(x.device) * gamma * x", id="number"),
        pytest.param("x - (1 - masks) * 0.9", "x - (1 - masks.to(x.device)) * 0.9", id="literals"),
        pytest.param("masks * steps * x", None, id="another-tensor"),
    ],
)
def test_of_arithmetic_with_numbers_the_tensor_is_moved(expression, moved):
    text = f"""{IMPORTS}
gamma = 0.9

def sample():
    return [torch.Tensor([1.0]) for _ in range(3)]

def loss(x, masks):
    masks, steps = torch.stack(masks), torch.arange(3)
    return {expression}

loss(nn.Linear(4, 1, device="cuda")(torch.ones(3, 4, device="cuda")), sample())
"""
    _, fixes = fixes_in(text)
    assert [edited(text, fix.edits) for fix in fixes] == ([text.replace(expression, moved)] if moved else [])
