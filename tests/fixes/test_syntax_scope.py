"""Which expression for the device can be written where."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from devfix.fixes.device_expression import FOR_TRIAL, Query, device_expressions
from devfix.fixes.syntax_scope import SyntaxScope, movers
from devfix.syntax.bindings import bound_names, in_scope, root_name
from devfix.syntax.tree import SourceTree

TEXT = dedent("""\
    import torch

    device = torch.device("cuda")


    def step(batch, args, gpu):
        x, y = batch
        x = x.to(args.device)
        size = torch.zeros(3)
        names = [here for item in batch]
        dev = None

        def inner(z):
            return there

        return x


    class Net(torch.nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.table = made

        def forward(self, x):
            return middle
    """)


def expressions(tree, at, peers=()):
    return list(device_expressions(SyntaxScope(tree, at), FOR_TRIAL, Query(partners=tuple(peers))))


@pytest.fixture
def tree():
    return SourceTree("train.py", TEXT)


def node(tree, fragment):
    return next(each for each in ast.walk(tree.tree) if ast.get_source_segment(TEXT, each) == fragment)


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("a", "a"),
        ("self.head[0].weight", "self"),
        ("next(model.parameters()).device", "next"),
        ("a + b", None),
        ("'cuda:0'", None),
        ("not python", None),
    ],
)
def test_the_name_that_an_expression_begins_with(text, root):
    assert root_name(text) == root


@pytest.mark.parametrize(
    ("at", "text", "there"),
    [
        ("torch.zeros(3)", "args.device", True),
        ("torch.zeros(3)", "device", True),
        ("torch.zeros(3)", "x.device", True),
        ("torch.zeros(3)", "next(x).device", True),
        ("torch.zeros(3)", "dev", False),  # bound further down
        ("torch.zeros(3)", "z.device", False),  # of the inner function
        ("here", "item.device", True),  # of the comprehension
        ("torch.zeros(3)", "item.device", False),
        ("there", "gpu", True),  # of the function around
        ("there", "missing.device", False),
        ("made", "self.table.device", True),
        ("made", "args.device", False),  # of another function
        ("torch.zeros(3)", "no expression", False),
    ],
)
def test_whether_an_expression_can_be_written(tree, at, text, there):
    assert in_scope(tree, node(tree, at), text) is there


def test_a_name_of_the_module_is_there_only_behind_its_line(tree):
    first = tree.tree.body[1]

    assert not in_scope(tree, first, "device")
    assert in_scope(tree, tree.tree.body[-1], "device")


def test_the_names_that_a_function_binds(tree):
    (function,) = [each for each in tree.tree.body if isinstance(each, ast.FunctionDef)]

    assert bound_names(function, None) >= {"batch", "args", "gpu", "x", "y", "size", "dev", "inner"}
    assert "z" not in bound_names(function, None)
    assert "dev" not in bound_names(function, 9)


def test_moves_are_read_from_the_nearest_on(tree):
    text = "x = a.to(one)\ny = 1\nz = b.cuda()\nw = 2\n"
    other = SourceTree("a.py", text)

    assert [ast.unparse(call) for call in movers(other, other.tree.body[3])] == ["b.cuda()", "a.to(one)"]


@pytest.mark.parametrize(
    ("at", "first"),
    [
        ("torch.zeros(3)", "args.device"),  # what the move beside it says
        ("middle", "device"),
    ],
)
def test_the_likeliest_word_comes_first(tree, at, first):
    assert expressions(tree, node(tree, at))[0] == first


def test_every_word_is_in_scope(tree):
    for fragment in ("torch.zeros(3)", "there", "middle", "made"):
        for word in expressions(tree, node(tree, fragment), peers=("x", "z", "batch[0]")):
            assert in_scope(tree, node(tree, fragment), word), (fragment, word)


def test_a_peer_gives_its_device_where_nothing_else_does():
    tree = SourceTree("a.py", "def f(x):\n    return x + made\n")
    made = next(each for each in ast.walk(tree.tree) if isinstance(each, ast.Name) and each.id == "made")

    assert expressions(tree, made, peers=("x",)) == ["x.device"]


@pytest.mark.parametrize("argument", ['"cpu"', "torch.float32", "other.dtype", "x.half", "3"])
def test_what_is_no_accelerator_is_no_word(argument):
    tree = SourceTree("a.py", f"x = y.to({argument})\nz = made\n")

    assert argument not in expressions(tree, tree.tree.body[1])


def test_what_only_the_start_as_a_script_binds_is_in_no_function_s_scope():
    text = dedent("""\
        import torch


        def table(size):
            return torch.zeros(size)


        if __name__ == "__main__":
            device = torch.device("cuda")
            torch.ones(3)
        """)
    tree = SourceTree("train.py", text)
    calls = {ast.unparse(node.func): node for node in ast.walk(tree.tree) if isinstance(node, ast.Call)}

    assert not in_scope(tree, calls["torch.zeros"], "device")
    assert in_scope(tree, calls["torch.ones"], "device")


def test_what_begins_with_a_local_name_of_another_function_is_no_word_here():
    tree = SourceTree(
        "train.py",
        dedent("""\
            import torch

            device = torch.device("cuda")
            reward = torch.zeros(3)


            def learn(rows, args):
                reward = torch.cat(rows)
                return torch.zeros(8, device=reward.device), args.device


            def choose(state):
                return torch.tensor(1)
            """),
    )
    call = next(each for each in ast.walk(tree.tree) if ast.unparse(each) == "torch.tensor(1)")

    assert expressions(tree, call) == ["device"]
