"""Arguments of calls: the parameters that they are for, and calls that do not fit a signature."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.domain.values import CPU, UNKNOWN, Const, Number, Tensor, TupleValue
from devfix.analysis.transfer.bound_call import bind
from devfix.models.signatures import parse_signature

TENSOR = Tensor(CPU)
VALUES = {"x": TENSOR, "y": Tensor(CPU, maybe_zero_dim=True), "n": Number(), "s": Const("s"), "u": UNKNOWN}


def value_of(node):
    return Const(node.value) if isinstance(node, ast.Constant) else VALUES[node.id]


def bound(call, *signatures, receiver=None):
    node = ast.parse(f"f{call}", mode="eval").body
    args = [value_of(each) for each in node.args if not isinstance(each, ast.Starred)]
    keywords = {each.arg or "**": value_of(each.value) for each in node.keywords}
    return bind([parse_signature(each) for each in signatures], args, keywords, node, receiver)


def told(call):
    return None if call is None else " ".join(f"{each.parameter.name}={each.text}" for each in call.arguments)


@pytest.mark.parametrize(
    ("call", "signature", "expected"),
    [
        ("(x, y)", "(a: On, b: On)", "a=x b=y"),
        ("(x, b=y)", "(a: On, b: On)", "a=x b=y"),
        ("(b=y, a=x)", "(a: On, b: On)", "b=y a=x"),
        ("(x)", "(a: On, b: On = ...)", "a=x"),
        ("(x, y, x)", "(a: On, *rest: On)", "a=x rest=y rest=x"),
        ("(x, p=y, q=n)", "(a: On, **options)", "a=x options=y options=n"),
        ("(x, axis=1, keepdims=n)", "(input: On, dim=..., keepdim=...)", "input=x dim=1 keepdim=n"),
        ("(x, y)", "(a: On)", None),
        ("(x, c=y)", "(a: On)", None),
        ("(x, a=y)", "(a: On)", None),
        ("(x)", "(a: On, b: On)", None),
        ("(x, y)", "(a: On, *, b: On)", None),
        ("(a=x)", "(a: On, /)", None),
        ("()", "()", ""),
    ],
)
def test_arguments_are_matched_as_python_does(call, signature, expected):
    assert told(bound(call, signature)) == expected


@pytest.mark.parametrize(
    ("argument", "word", "fits"),
    [
        ("x", "int", False),
        ("n", "int", True),
        ("u", "float", True),
        ("n", "On", False),
        ("3", "On", False),
        ("n", "Scalar", True),
        ("s", "Scalar", False),
        ("s", "On", False),
        ("u", "On", True),
        ("None", "On", True),
        ("x", "Host", True),
        ("s", "Host", True),
    ],
)
def test_an_argument_fits_a_word(argument, word, fits):
    assert (bound(f"({argument})", f"(a: {word})") is not None) == fits


def test_the_first_signature_that_fits_counts():
    overloads = ("(a: On) -> On", "(a: On, dim: int) -> Integral", "(a: On, other: On) -> Number")

    assert [bound(call, *overloads).signature.result.name for call in ("(x)", "(x, n)", "(x, y)")] == [
        "On",
        "Integral",
        "Number",
    ]


def test_starred_arguments_leave_a_call_incomplete():
    call = bound("(*u, b=y)", "(a: On, b: On)")

    assert told(call) == "b=y"
    assert not call.is_complete
    assert call.is_given("a")
    assert bound("(x, **u)", "(a: On, b: On)").is_given("b")


def test_a_receiver_is_the_first_argument():
    node = ast.parse("z", mode="eval").body
    call = bound("(y)", "(self: On, other: On)", receiver=(TENSOR, node))

    assert told(call) == "self=z other=y"


def test_what_a_call_gives():
    call = bound("(x, None, y, x)", "(a: On, b: On = ..., *rest: Host)")

    assert (call.is_given("a"), call.is_given("b"), call.is_given("rest")) == (True, False, True)
    assert len(call.values("rest")) == 2
    assert call.values("nothing") == []
    assert [each.text for each in call.with_word("Host")] == ["y", "x"]


def test_values_of_a_star_have_no_expression():
    node = ast.parse("f(*items)", mode="eval").body
    call = bind([parse_signature("(*args: On)")], [TENSOR, TupleValue(())], {}, node)

    assert told(call) == "args=… args=…"
