"""The statements and blocks around an insertion point."""

from __future__ import annotations

import ast

import pytest
from small_programs import observe, statement_of

from devfix.analysis.scopes import condition_of
from devfix.fixes.insertion_point import (
    all_live,
    enclosing,
    find_expression,
    headers,
    hoisted,
    inside_module,
    read_expression,
    same_function,
)
from devfix.syntax.tree import SourceTree

NESTED = SourceTree(
    "t.py",
    """\
for epoch in epochs:
    with context:
        for batch in loader:
            step(batch)
    if epoch:
        report()

def helper():
    inner()
""",
)


@pytest.mark.parametrize(
    ("fragment", "kinds", "found"),
    [
        pytest.param("step(batch)", (ast.For,), ["batch", "epoch"], id="nearest-first"),
        pytest.param("step(batch)", (ast.If,), [], id="other-kind"),
        pytest.param("report()", (ast.For,), ["epoch"], id="beside-the-inner-loop"),
        pytest.param("inner()", (ast.For, ast.FunctionDef), [], id="the-function-is-the-limit"),
    ],
)
def test_enclosing_statements_are_listed_inside_the_function(fragment, kinds, found):
    loops = enclosing(NESTED, statement_of(NESTED, fragment), kinds)

    assert [ast.unparse(loop.target) for loop in loops] == found


@pytest.mark.parametrize(
    ("used", "line"),
    [
        pytest.param(None, 1, id="not-used"),
        pytest.param("report()", 3, id="used-in-the-outer-loop"),
        pytest.param("step(batch)", 4, id="used-in-the-inner-loop"),
        pytest.param("inner()", 1, id="used-after-the-loops"),
    ],
)
def test_a_statement_is_hoisted_out_of_the_loops_without_the_use(used, line):
    statement = statement_of(NESTED, "step(batch)")

    assert hoisted(NESTED, statement, statement_of(NESTED, used) if used else None).lineno == line


def test_a_statement_outside_loops_is_not_hoisted():
    statement = statement_of(NESTED, "inner()")

    assert hoisted(NESTED, statement, None) is statement


def test_a_target_is_an_expression_that_is_not_read():
    statement = ast.parse("x = f(y)").body[0]

    assert isinstance(find_expression(statement, "x").ctx, ast.Store)
    assert read_expression(statement, "x") is None
    assert ast.unparse(read_expression(statement, "f(y)")) == "f(y)"
    assert find_expression(statement, "z") is None


def test_the_value_of_a_rebound_name_is_read():
    statement = ast.parse("x = x + 1").body[0]

    assert read_expression(statement, "x") is statement.value.left


@pytest.mark.parametrize(
    ("text", "evaluated"),
    [
        ("for x in a:\n    b()", ["a"]),
        ("while a:\n    b()", ["a"]),
        ("if a:\n    b()", ["a"]),
        ("with a as x, c:\n    b()", ["a", "c"]),
        ("x = a", ["x = a"]),
    ],
    ids=["for", "while", "if", "with", "simple"],
)
def test_a_compound_statement_evaluates_its_header(text, evaluated):
    assert [ast.unparse(node) for node in headers(ast.parse(text).body[0])] == evaluated


def mismatch_point(body):
    return observe(f"import torch\nfrom torch import nn\n\n{body}\n").mismatches[0].point


@pytest.mark.parametrize(
    ("condition", "conditional"),
    [("torch.cuda.is_available()", False), ("use_gpu", False), ("flag", True), ("flag and use_gpu", False)],
    ids=["availability", "gpu-flag", "other-flag", "mixed"],
)
def test_only_a_condition_on_more_than_the_accelerator_counts(condition, conditional):
    body = f"import sys\nflag = use_gpu = sys.argv\nif {condition}:\n    torch.ones(3).cuda() + torch.ones(3)"

    assert (condition_of(mismatch_point(body)) is not None) is conditional


@pytest.mark.parametrize(
    ("text", "live"),
    [("x + len(y)", True), ("x.device", True), ("x + missing", False), ("later", False)],
    ids=["builtin", "attribute", "missing", "bound-later"],
)
def test_an_expression_is_live_if_all_its_names_are_visible(text, live):
    point = mismatch_point("x = torch.ones(3).cuda()\ny = [1]\nx + torch.ones(3)\nlater = 1")

    assert all_live(point, point.call_frame, ast.parse(text)) is live


@pytest.mark.parametrize(
    ("base", "text", "live"),
    [
        ("nn.Module", "self.fast", True),
        ("nn.Module", "self.use_cuda and x", True),
        ("nn.Module", "self.cuda", False),
        ("nn.Module", "not self.other", False),
        ("object", "self.cuda", False),
        ("other.Base", "self.cuda", True),
    ],
)
def test_an_attribute_of_self_is_live_if_its_classes_may_give_it(base, text, live):
    point = mismatch_point(
        f"import other\n\nclass Net({base}):\n    fast = True\n\n    def __init__(self):\n        super().__init__()\n"
        "        self.use_cuda = True\n\n    def forward(self, x):\n        return x + torch.ones(3)\n\n"
        "Net().forward(torch.ones(3).cuda())"
    )

    assert all_live(point, point.call_frame, ast.parse(text)) is live


MODULE = """
class Net({base}):
    def forward(self, x):
        return x + torch.ones(3)

Net().forward(torch.ones(3).cuda())
"""


@pytest.mark.parametrize(("base", "inside"), [("nn.Module", True), ("object", False)])
def test_a_method_is_inside_a_module_if_its_class_is_an_nn_module(base, inside):
    point = mismatch_point(MODULE.format(base=base))

    assert inside_module(point.call_frame) is inside
    assert inside_module(point.call_stack[0]) is False


def test_frames_of_two_calls_run_the_same_function():
    calls = observe(
        "import torch\n\ndef f(x):\n    return x + torch.ones(3)\n\nx = torch.ones(3).cuda()\nf(x)\nf(x)\n"
        "x + torch.ones(3)\n"
    ).mismatches
    frames = [mismatch.point.call_frame for mismatch in calls]
    first, outside = frames[0], frames[-1]

    assert same_function(first, frames[0])
    assert same_function(calls[0].point.call_stack[0], outside)
    assert not same_function(first, outside)
