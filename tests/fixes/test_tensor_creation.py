"""Factory calls, and the edits that create the tensor on another device."""

from __future__ import annotations

import ast

import pytest
from small_programs import edited

from devfix.fixes.tensors.tensor_creation import FactoryCall, chain_end, initialized_later
from devfix.syntax.tree import SourceTree


def factory_in(text):
    """Return the innermost call of ``torch`` in the first statement."""
    tree = SourceTree("t.py", text)
    calls = [node for node in ast.walk(tree.tree.body[0]) if isinstance(node, ast.Call)]
    return FactoryCall(tree, next(call for call in reversed(calls) if ast.unparse(call.func).startswith("torch.")))


def created(text):
    edit = factory_in(text).edit("device")
    return None if edit is None else edited(text, [edit])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = torch.zeros(3)", "x = torch.zeros(3, device=device)"),
        ("x = torch.zeros(3).view(1, 3)", "x = torch.zeros(3, device=device).view(1, 3)"),
        ("x = torch.ones(3, requires_grad=True)", "x = torch.ones(3, requires_grad=True, device=device)"),
        ("x = torch.randn(3)", "x = torch.randn(3).to(device)"),
        ("x = torch.randn(3).view(1, 3).mean()", "x = torch.randn(3).view(1, 3).to(device).mean()"),
        ("x = torch.empty(3).uniform_()", "x = torch.empty(3).uniform_().to(device)"),
        ("x = torch.from_numpy(a).float()", "x = torch.from_numpy(a).float().to(device)"),
        ("x = torch.zeros(3).type(t)", "x = torch.zeros(3).type(t).to(device)"),
        ("x = torch.randn(3, requires_grad=True)", "x = torch.randn(3).to(device).requires_grad_()"),
        ("x = torch.randn(3, requires_grad=flag)", "x = torch.randn(3).to(device).requires_grad_(flag)"),
    ],
)
def test_the_tensor_is_created_on_the_device_with_the_same_random_numbers(text, expected):
    assert created(text) == expected


@pytest.mark.parametrize(
    "text", ["x = torch.zeros(3, device=d)", "x = torch.randn(3, device='cpu')", "torch.ones(**k)"]
)
def test_a_call_that_may_have_a_device_is_not_edited(text):
    assert created(text) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x = torch.zeros(3)", "x"),
        ("self.x = torch.zeros(3).view(1, 3)", "self.x"),
        ("x = torch.tril(torch.ones(3, 3))", "x"),
        ("x = 1 + torch.zeros(3)", "torch.zeros(...)"),
        ("f(torch.zeros(3))", "torch.zeros(...)"),
        ("x, y = torch.zeros(2)", "torch.zeros(...)"),
    ],
)
def test_a_tensor_is_described_by_its_name_or_its_call(text, name):
    assert factory_in(text).text == name


@pytest.mark.parametrize(
    ("text", "random"),
    [
        ("torch.randn(3)", True),
        ("torch.empty(3).normal_()", True),
        ("torch.randperm(3)", True),
        ("torch.zeros(3)", False),
        ("torch.empty(3).zero_()", False),
    ],
)
def test_random_numbers_come_from_the_factory_or_its_first_method(text, random):
    assert factory_in(text).is_random is random


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("torch.zeros(3).view(3).sqrt().mean()", "torch.zeros(3).view(3).sqrt()"),
        ("torch.zeros(3).shape", "torch.zeros(3)"),
        ("torch.zeros(3).view", "torch.zeros(3)"),
        ("f(torch.zeros(3))", "torch.zeros(3)"),
    ],
)
def test_a_chain_ends_before_the_first_other_method(text, end):
    factory = factory_in(text)

    assert ast.unparse(chain_end(factory.tree, factory.call)) == end


@pytest.mark.parametrize(
    ("later", "line"),
    [
        pytest.param("nn.init.xavier_uniform_(w)", 2, id="init"),
        pytest.param("w.normal_()\nw.uniform_()", 3, id="last-of-two"),
        pytest.param("with torch.no_grad():\n    w.normal_()", 2, id="in-a-block"),
    ],
)
def test_a_tensor_is_complete_after_its_last_random_initialization(later, line):
    name, statement = initialized_later(factory_in(f"w = torch.empty(3)\n{later}"))

    assert (name, statement.lineno) == ("w", line)


@pytest.mark.parametrize(
    "text",
    [
        "w = torch.empty(3)\nw.zero_()",
        "w = torch.empty(3)\nnn.init.xavier_uniform_(v)",
        "self.w = torch.empty(3)\nself.w.normal_()",
        "w = torch.empty(3)",
        "f(torch.empty(3))\nw.normal_()",
    ],
    ids=["zeros", "other-tensor", "attribute", "never", "no-name"],
)
def test_other_tensors_are_complete_at_once(text):
    assert initialized_later(factory_in(text)) is None
