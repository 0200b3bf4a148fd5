"""functools.reduce, and the functions of operator."""

from __future__ import annotations

import pytest

CALLS = {
    "reduce": "functools.reduce(lambda a, b: a * b, [x, x, x])",
    "reduce-one": "functools.reduce(lambda a, b: a * b, [x])",
    "reduce-with-a-start": "functools.reduce(lambda a, b: b, [x], 0)",
    "reduce-unknown-length": "functools.reduce(lambda a, b: a * b, (x for _ in open('names')))",
    "operator": "functools.reduce(operator.add, [x, x])",
    "in-place-operator": "operator.iadd(x, 1)",
    "item": "operator.itemgetter('a')({'a': x})",
    "items": "operator.itemgetter('a', 'b')({'a': 0, 'b': x})[1]",
    "attribute": "operator.attrgetter('a.b')(argparse.Namespace(a=argparse.Namespace(b=x)))",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_a_function_of_functions_returns_is_where_its_arguments_are(met, call):
    program = f"""
        import argparse
        import functools
        import operator

        x = torch.ones(3){{moved}}
        print({call} + torch.ones(3).cuda())
        """

    assert met(program.replace("{moved}", "")) == [f"print({call} + torch.ones(3).cuda())"]
    assert met(program.replace("{moved}", ".cuda()")) == []


def test_what_is_no_name_is_no_attribute(met):
    assert met("from operator import attrgetter\nattrgetter('class')(torch.ones(3))") == []


def test_an_operator_as_a_function_checks_devices(met):
    program = """
        import operator

        print(operator.mul(torch.ones(3), torch.ones(3).cuda()))
        print(operator.matmul(torch.ones(3), torch.ones(()).cuda()))
        print(operator.mul(torch.tensor(2.0), torch.ones(3).cuda()))
        print(operator.add(1, 2))
        """

    assert met(program) == [
        "print(operator.mul(torch.ones(3), torch.ones(3).cuda()))",
        "print(operator.matmul(torch.ones(3), torch.ones(()).cuda()))",
    ]


@pytest.mark.parametrize("call", ["reduce(len)", "partial()"])
def test_a_call_without_its_arguments_says_nothing(met, call):
    assert met(f"import functools\nprint(functools.{call} + torch.ones(3).cuda())\n") == []


@pytest.mark.parametrize("keys", ["input()", "'a', input()", "'a-b'", ""])
def test_a_getter_of_unknown_names_says_nothing(met, keys):
    assert met(f"import operator\nprint(operator.attrgetter({keys})(torch) + torch.ones(3).cuda())\n") == []
