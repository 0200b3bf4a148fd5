"""Batch items that stay on the CPU: their names, expressions and siblings."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from misplaced_batches import misplaced_items
from small_programs import DEVICE, edited, observe

from devfix.fixes.tensors.misplaced_items import (
    append_move,
    bindings_of,
    expression_of,
    is_plain_access,
    moved_siblings,
    name_of,
)
from devfix.syntax.tree import SourceTree

LOADER = "loader = DataLoader(TensorDataset(torch.ones(8, 4), torch.ones(8)))\n"
SETUP = f"{DEVICE}net = nn.Linear(4, 2).to(device)\n{LOADER}"


def item_in(body):
    observations = observe(f"{SETUP}{body}\n")
    return observations, misplaced_items(observations)[0]


@pytest.mark.parametrize(
    ("body", "name", "names"),
    [
        pytest.param("for x, y in loader:\n    net(x)", "x", ["x"], id="unpacked"),
        pytest.param("for batch in loader:\n    net(batch[0])", "batch[0]", [], id="no-name"),
        pytest.param("for x, y in loader:\n    z = x\n    net(z)", "x", ["x", "z"], id="second-name"),
        pytest.param("def run(z):\n    net(z)\n\nfor x, y in loader:\n    run(x)", "x", ["x", "z"], id="parameter"),
    ],
)
def test_an_item_has_its_first_name(body, name, names):
    observations, item = item_in(body)

    assert name_of(observations, item) == name
    assert [binding.name for binding in bindings_of(observations, item)] == names


MAKE = "def make():\n    return torch.ones(3, 4), torch.ones(3, 4), 1\n\n"


@pytest.mark.parametrize(
    ("body", "siblings"),
    [
        pytest.param(f"{MAKE}x, y, n = make()\ny = y.to(device)\nnet(x)", ["y.to(device)"], id="created"),
        pytest.param(f"{MAKE}x, y, n = make()\nnet(x)", [], id="no-move"),
        pytest.param(f"{MAKE}x, y, n = make()\ny = y.to('cpu')\nnet(x)", [], id="to-the-cpu"),
        pytest.param("for x, y in loader:\n    y = y.to(device)\n    net(x)", [], id="batch"),
        pytest.param(
            f"{MAKE}def f():\n    x, y, n = make()\n    net(x)\n\nz = torch.ones(3).to(device)\nf()",
            [],
            id="function",
        ),
    ],
)
def test_the_moves_of_values_from_one_function_are_siblings(body, siblings):
    observations, item = item_in(body)

    assert [ast.unparse(transfer.call) for transfer in moved_siblings(observations, item)] == siblings


@pytest.mark.parametrize(
    ("body", "expressions"),
    [
        pytest.param("for x, y in loader:\n    net(x)", ["x"], id="name"),
        pytest.param("for batch in loader:\n    net(batch[0])", ["batch[0]"], id="subscript"),
        pytest.param(
            "def run(z):\n    net(z)\n\nfor x, y in loader:\n    run(x)", ["x", "z"], id="outermost-frame-first"
        ),
        pytest.param("for x, y in loader:\n    net(x + 1)", ["x"], id="inside-an-expression"),
    ],
)
def test_an_item_has_an_expression_in_each_frame(body, expressions):
    _, item = item_in(body)
    point = item.mismatches[0].point
    found = [expression_of(point, frame, item, "…") for frame in point.call_stack]

    assert [ast.unparse(node) for node in found] == expressions


@pytest.mark.parametrize(("text", "found"), [("…", None), ("missing", None), ("net", "net")])
def test_a_value_without_a_path_is_found_by_its_text(text, found):
    _, item = item_in("for x, y in loader:\n    net(x)")
    point = item.mismatches[0].point
    node = expression_of(point, point.call_frame, replace(item, path=("9",)), text)

    assert (node and ast.unparse(node)) == found


@pytest.mark.parametrize(
    ("text", "plain"), [("batch['x']", True), ("batch.x", True), ("x", False), ("f(x)", False), ("a + b", False)]
)
def test_a_move_can_be_appended_to_a_plain_access(text, plain):
    tree = SourceTree("t.py", text)
    node = tree.tree.body[0].value
    planned = append_move(tree, node, ".cuda()", "x")

    assert is_plain_access(node) is plain
    assert planned.description == "`x`"
    assert edited(text, [planned.edit]) == (f"({text}).cuda()" if " " in text else f"{text}.cuda()")
